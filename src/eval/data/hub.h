// Data sets of a hub, fetched over its public HTTP interface into a JSONL file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hyper/result.h"
#include "src/eval/data/suite.h"

namespace hyper::eval {

struct HubRequest {
  std::string base;    // address of the hub, without a slash at its end
  HubSource source;    // what to fetch
  std::string file;    // a JSONL file of the data set; empty: its rows, page by page
  std::string token;   // of a gated data set; empty: none
  std::string target;  // file to write
  // Told of each page or piece: rows or bytes so far, and all of them (0: unknown).
  std::function<void(int64_t done, int64_t all)> progress;
  // Waits before a request is tried again; empty: just that long.
  std::function<void(double seconds)> wait;
};

struct HubResult {
  int64_t rows = 0;
  std::string sha256;    // of the file
  bool present = false;  // it was there already, whole and unchanged
};

// Fetches the data set. Rows come from GET BASE/rows?dataset=&config=&split=&offset=&length=, a
// file from GET BASE/datasets/NAME/resolve/main/FILE. What has arrived stands in TARGET.part until
// it is complete: a fetch that was cut off goes on where it was. The checksum is kept in
// TARGET.sha256; a file that still has it is not fetched again, a changed one is an error.
// Refusals for too many requests and failures of the server are tried again, a few times.
// Errors: kUnavailable (offline, refused; what to do instead), kInvalidArgument (a token is needed
// or has no access), kNotFound (no such data set), kDataLoss (what came is no such file; a changed
// file), kResourceExhausted (it cannot be written).
Result<HubResult> FetchDataSet(const HubRequest& request);

}  // namespace hyper::eval

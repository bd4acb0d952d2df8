// Downloads of large files, which go on where they were cut off.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hyper/result.h"
#include "src/base/http/loop.h"

namespace hyper::base {

struct DownloadRequest {
  std::string url;
  std::string path;      // file of the bytes so far; what is missing is added to it
  std::string token;     // sent as a bearer token; empty: none
  int most_resumes = 0;  // attempts in a row, without a byte, to take up a transfer that broke off
  // Told of each piece: bytes of the file so far.
  std::function<void(int64_t bytes)> progress;
  // Waits before a request is tried again; empty: just that long.
  std::function<void(double seconds)> wait;
};

// Fetches the rest of the file by a request for a range; a server that knows no ranges sends all of
// it anew. Redirects are followed; a busy server is asked a few times. A transfer that breaks off
// after bytes of it have come is taken up again. Returns the server's last HTTP status: the file is
// whole after 2xx, also where it was whole before (the server's 416); what it holds is not checked.
// Errors: kUnavailable (no connection, or it broke off; the bytes so far stay),
// kResourceExhausted (the file cannot be written).
Result<int> Download(const DownloadRequest& request);

}  // namespace hyper::base

// The file of clients' keys: a section of TOML for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"
#include "src/server/http/clients.h"

namespace hyper::app {

// Reads
//   [NAME]
//   key = "..."               # or sha256 = "...", the key's hash
//   width = 64                # paths of one request at most
//   tokens-per-minute = 20000
//   all-runs = true           # the operator: sees the runs of all
// of each client; only the key is needed. Errors: kInvalidArgument, beginning with the line. Pure.
Result<std::vector<server::ClientKey>> ParseClientKeys(std::string_view text);

// The keys in a file; at least one. Errors: those of reading it and of ParseClientKeys.
Result<std::vector<server::ClientKey>> ReadClientKeys(const std::string& path);

}  // namespace hyper::app

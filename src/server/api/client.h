// Who sends a request, and what they may use.
#pragma once

#include <cstdint>
#include <string>

namespace hyper::server {

// The default is the operator, without limits.
struct Client {
  std::string name{};             // of the key; empty: the operator
  bool all_runs = true;           // sees the runs of all, and what concerns the whole server
  int width = 0;                  // paths of one request at most; 0: no limit
  int64_t tokens_per_minute = 0;  // 0: no limit
};

// Whether the runs of the client of that name are shown to `client`. Pure.
inline bool MaySee(const Client& client, const std::string& owner) {
  return client.all_runs || client.name == owner;
}

}  // namespace hyper::server

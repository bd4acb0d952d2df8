// What is told of each request once it is answered: counts by path, and a line for the log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "src/report/json.h"
#include "src/server/archive/run_overview.h"

namespace hyper::server {

// Requests by method, path as the API's description writes it, and status. Any thread.
class RequestCounts {
 public:
  using Key = std::tuple<std::string, std::string, int>;

  void Add(Key key);
  std::map<Key, int64_t> counts() const;

 private:
  mutable std::mutex mutex_;
  std::map<Key, int64_t> counts_;  // by mutex_
};

struct AnsweredRequest {
  std::string method;
  std::string path;  // as it was asked, without the query
  int status = 0;
  double seconds = 0;     // from its first byte to the end of the reply
  std::string address{};  // of the client; empty: not known
  std::string client{};   // whose key it had; empty: the operator's, or nobody's
};

// One object: time, then what is known of the request and of the run that answered it. Pure.
//   run  null: none did, or it is not kept
Json RequestLine(const AnsweredRequest& request, int64_t unix_ms, const RunOverview* run);

// 2026-01-31T23:59:59.123Z. Pure.
std::string UtcTime(int64_t unix_ms);

}  // namespace hyper::server

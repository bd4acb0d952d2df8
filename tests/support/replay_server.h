// Test support: a server that answers as a real one did, out of recorded exchanges
// (tests/remote/recorder.py).
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/scripted_server.h"

namespace hyper::test {

class ReplayServer {
 public:
  using Json = nlohmann::json;

  // Exchanges in their order: requests that are equal get their answers one after another, and the
  // last one again when they are used up. `piece` bytes of an event stream are sent at a time.
  explicit ReplayServer(const std::vector<Json>& exchanges, size_t piece = 1000);

  std::string url() const { return server_.url(); }
  // Requests that nobody recorded; they were answered with HTTP 400.
  std::vector<std::string> unknown() const;

  // What a request is known by: its method, path, and the fields that decide the answer's content.
  static std::string KeyOf(const std::string& method, const std::string& path, const Json& body);

 private:
  void Answer(const HttpMessage& request, ServerConnection& connection);
  void Send(const Json& exchange, ServerConnection& connection) const;

  size_t piece_;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Json>> exchanges_;
  std::vector<std::string> unknown_;
  ScriptedServer server_;  // last: its threads use all of the above
};

}  // namespace hyper::test

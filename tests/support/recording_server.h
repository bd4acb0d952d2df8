// A small HTTP server for tests: each request gets the reply that a function gives it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/scripted_server.h"

namespace hyper::test {

struct ServerRequest {
  std::string method;
  std::string target;  // path with query, as sent
  std::string head;    // all header lines
  std::string body;
};

struct ServerReply {
  int status = 200;
  std::string body;
  std::vector<std::string> headers = {};  // "Name: value"
  size_t cut_at = std::string::npos;      // bytes of the body that are sent; then it hangs up
};

// Serves on a free port of this machine until it goes.
class RecordingServer {
 public:
  using Handler = std::function<ServerReply(const ServerRequest& request)>;

  explicit RecordingServer(Handler handler);

  // "http://127.0.0.1:PORT".
  std::string address() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  // All requests so far.
  std::vector<ServerRequest> requests() const;

 private:
  void Answer(const HttpMessage& message, ServerConnection& connection);

  Handler handler_;
  mutable std::mutex mutex_;
  std::vector<ServerRequest> requests_;
  ScriptedServer server_;  // last: its threads use all of the above
};

}  // namespace hyper::test

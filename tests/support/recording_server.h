// A small HTTP server for tests: each request gets the reply that a function gives it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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

// Serves on a free port of this machine, one connection after another, until it goes.
class RecordingServer {
 public:
  using Handler = std::function<ServerReply(const ServerRequest& request)>;

  explicit RecordingServer(Handler handler);
  ~RecordingServer();
  RecordingServer(const RecordingServer&) = delete;
  RecordingServer& operator=(const RecordingServer&) = delete;

  // "http://127.0.0.1:PORT".
  std::string address() const;
  // All requests so far.
  std::vector<ServerRequest> requests() const;

 private:
  void Serve();
  void Answer(int connection);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<ServerRequest> requests_;
  std::thread thread_;
};

}  // namespace hyper::test

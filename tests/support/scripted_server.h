// Test support: an HTTP server on the loopback whose every byte is scripted.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hyper::test {

struct HttpMessage {
  std::string method;
  std::string path;                            // with its query, as sent
  std::string head;                            // all lines above the body, as sent
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// The server's end of one connection.
class ServerConnection {
 public:
  explicit ServerConnection(int socket) : socket_(socket) {}

  // Sends raw bytes. False: the client has gone.
  bool Write(std::string_view bytes) const;
  // A whole answer; `headers` are further lines, each ending in CR LF.
  bool Respond(int status, std::string_view body, std::string_view headers = "") const;
  // A streamed answer: its head, any number of chunks, its end.
  bool BeginStream() const;
  bool Send(std::string_view bytes) const;
  bool EndStream() const;
  // Whether the client has closed its end.
  bool PeerGone() const;
  // Waits until the client hangs up, or the server stops; no further request is read from it.
  void AwaitHangUp();
  // No further request is read from it.
  void CloseAfterwards() { close_ = true; }
  bool closes() const { return close_; }

 private:
  int socket_;
  bool close_ = false;
};

// Calls `handler` for each request, each connection in a thread of its own.
class ScriptedServer {
 public:
  using Handler = std::function<void(const HttpMessage&, ServerConnection&)>;

  // Listens on `port`; 0: a free one.
  explicit ScriptedServer(Handler handler, int port = 0);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  // Dies: closes the port and every connection.
  void Stop();

 private:
  void Listen();
  void Serve(int socket);

  Handler handler_;
  int port_ = 0;
  int listener_ = -1;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::set<int> sockets_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace hyper::test

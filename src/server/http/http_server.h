// The HTTP face of the scheduler: routes, authorisation, server-sent events, metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"
#include "src/server/api/request_json.h"
#include "src/server/http/clients.h"
#include "src/server/http/route.h"
#include "src/server/models/model_host.h"
#include "src/server/scheduler/scheduler.h"

namespace hyper::server {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any free one
  // The keys of clients; none: everyone is the operator.
  std::vector<ClientKey> keys;
  std::string cors_origin;  // of other origins that may call; empty: none
  // Names in the Host of requests, beside those of the loopback; empty: on the loopback only those,
  // elsewhere any.
  std::vector<std::string> allowed_hosts;
  int most_connections = 256;  // served at once, each by a thread; as many more may wait
  int most_per_address = 0;    // of these, of one client's address; 0: all
  size_t most_body_bytes = size_t{4} << 20U;
  double heartbeat_s = 10;  // between comments in a quiet stream
  // A client that takes nothing, or sends nothing, for so long is dropped; so is one whose request
  // has not come whole by then, with a second more for each 16 KiB of it (RequestTimeLeft).
  double slow_client_s = 20;
  // Given a line of JSON for each request once it is answered (RequestLine). Any thread. May be
  // empty.
  std::function<void(const std::string& line)> log;
};

// Thread rule: made, stopped and destroyed by one thread; the handlers run on threads of its own.
class HttpServer {
 public:
  // Binds the address. Errors: kUnavailable (the port is taken, or there is no such host),
  // kResourceExhausted (too few threads for most_connections).
  // `scheduler`, or `host`, must outlive the server.
  static Result<std::unique_ptr<HttpServer>> Listen(Scheduler& scheduler, ServerLimits limits,
                                                    HttpOptions options);
  static Result<std::unique_ptr<HttpServer>> Listen(ModelHost& host, HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  // All that is served, for the test of the description.
  const std::vector<Route>& routes() const;
  // Takes no more requests and waits for the replies under way. Who reads slowly is cut off once
  // slow_client_s are over.
  void Stop();

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  static Result<std::unique_ptr<HttpServer>> Start(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

// Whether an address to listen on is this machine's loopback. Pure.
bool IsLoopback(std::string_view host);

}  // namespace hyper::server

#include "src/server/http/http_server.h"

#include <cpp-httplib/httplib.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "src/server/http/api_description.h"
#include "src/server/http/client_stream.h"
#include "src/server/http/generation.h"
#include "src/server/http/metrics.h"
#include "src/server/http/model_choice.h"
#include "src/server/http/model_routes.h"
#include "src/server/http/page_routes.h"
#include "src/server/http/request_log.h"
#include "src/server/http/routes.h"
#include "src/server/http/run_routes.h"
#include "src/server/http/send.h"
#include "src/server/http/steer_routes.h"
#include "src/server/http/text_routes.h"

namespace hyper::server {
namespace {

using httplib::Request;
using httplib::Response;

// Host and port of a URL's authority without the port: "localhost", "127.0.0.1", "[::1]".
std::string_view HostOf(std::string_view authority) {
  const size_t bracket = authority.find(']');
  const size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  return authority.substr(0, colon);
}

// A name that the operator gave, or one of this machine; any, where neither is asked for.
bool HostAllowed(const std::string& host, const HttpOptions& options) {
  const std::vector<std::string>& names = options.allowed_hosts;
  if (host.empty() || (names.empty() && !IsLoopback(options.host))) {
    return true;
  }
  const std::string_view name = HostOf(host);
  return IsLoopback(name) || std::find(names.begin(), names.end(), name) != names.end();
}

// Pages of other sites can make a browser send requests here; they carry an Origin of their own,
// or, after a name was rebound to this address, a Host that is not ours.
bool FromElsewhere(const Request& request, const HttpOptions& options) {
  const std::string host = request.get_header_value("Host");
  if (!HostAllowed(host, options)) {
    return true;
  }
  const std::string origin = request.get_header_value("Origin");
  if (origin.empty() || (!options.cors_origin.empty() &&
                         (options.cors_origin == "*" || options.cors_origin == origin))) {
    return false;
  }
  const size_t scheme = origin.find("://");
  return scheme == std::string::npos || origin.substr(scheme + 3) != host;
}

std::chrono::milliseconds SlowClient(const HttpOptions& options) {
  return std::chrono::milliseconds(static_cast<int64_t>(options.slow_client_s * 1000));
}

// Load balancers ask these by whatever name they know.
bool IsProbe(const std::string& path) {
  return path == "/health" || path == "/live" || path == "/ready";
}

bool IsPublic(const std::string& path) {
  return path == "/" || path == "/docs" || IsProbe(path) || path.rfind("/page/", 0) == 0;
}

// What is shown to those only who may see the runs of all.
bool IsOperators(const std::string& path) {
  return path == "/metrics" || path.rfind("/v1/studies", 0) == 0;
}

// Anyone may ask: the reason comes without the name of the file before it.
//   models  whether to tell of them, which is for clients
Json HealthJson(const ModelHost& host, bool models) {
  const RunArchive* archive = host.book().archive();
  const std::string reason = archive != nullptr ? archive->failing() : "";
  Json health = {{"status", reason.empty() ? "ok" : "degraded"}};
  if (!reason.empty()) {
    const size_t file = reason.rfind(": ");
    health["reason"] =
        "runs cannot be stored: " + (file != std::string::npos ? reason.substr(file + 2) : reason);
    health["runs_lost"] = archive->lost();
  }
  if (models && host.on_demand()) {
    for (const ModelStatus& model : host.Statuses()) {
      health["models"][model.name] = model.state_name();
    }
  }
  return health;
}

void SendMethodNotAllowed(Response& response, std::string_view path, const std::string& allowed) {
  response.set_header("Allow", allowed);
  SendError(response, {405, "invalid_request_error", "method_not_allowed", "",
                       fmt::format("{} takes {}", path, allowed)});
}

ApiError ErrorOfStatus(int status) {
  const std::string message = status == 404 ? "there is no such endpoint; docs/server.md lists them"
                              : status == 413
                                  ? "the body is larger than this server takes"
                                  : fmt::format("the request cannot be read (HTTP {})", status);
  return {status, "invalid_request_error", "", "", message};
}

}  // namespace

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == "::1";
}

struct HttpServer::Parts {
  //   the_own  null, or `the_host`, which goes with the server
  Parts(ModelHost& the_host, HttpOptions the_options, std::unique_ptr<ModelHost> the_own = nullptr)
      : own(std::move(the_own)),
        host(the_host),
        options(std::move(the_options)),
        clients(options.keys) {}
  ~Parts() {
    if (threads != nullptr) {  // the server never ran
      threads->shutdown();
    }
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void SetUp();
  void Guard();
  void Log(const Request& request, const Response& response);
  void AddApi();
  httplib::Server::HandlerResponse Check(const Request& request, Response& response) const;

  const std::unique_ptr<ModelHost> own;
  ModelHost& host;
  const HttpOptions options;
  const Clients clients;
  // Serve connections, one each; as many connections may wait. All threads are there from the
  // start: a pool that grows on demand lets connections that come together wait behind streams.
  std::unique_ptr<httplib::TaskQueue> threads;
  PatientServer server;
  Routes routes{server};
  RequestCounts counts;
  int port = 0;
  std::thread thread;
};

void HttpServer::Parts::SetUp() {
  server.new_task_queue = [this] { return threads.release(); };
  server.set_payload_max_length(options.most_body_bytes);
  const std::chrono::milliseconds slow = SlowClient(options);
  server.set_read_timeout(slow);
  server.set_write_timeout(slow);
  server.set_keep_alive_timeout(5);
  server.set_tcp_nodelay(true);
  server.LimitAddresses(options.most_per_address);
  // Not httplib's own: they let two servers share a port, each with some of the requests.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  Guard();
  AddApi();
  AddModelRoutes(routes, host);
  AddRunRoutes(routes, host, options.heartbeat_s);
  AddTextRoutes(routes, host);
  AddSteerRoutes(routes, host);
  AddPageRoutes(routes);
}

httplib::Server::HandlerResponse HttpServer::Parts::Check(const Request& request,
                                                          Response& response) const {
  using Handled = httplib::Server::HandlerResponse;
  if (!IsProbe(request.path) && FromElsewhere(request, options)) {
    SendError(response, {403, "invalid_request_error", "origin_not_allowed", "",
                         "requests from other sites, or to a name that is not this server's, are "
                         "refused; --cors-origin allows a site, --allowed-host a name"});
    return Handled::Handled;
  }
  if (!options.cors_origin.empty()) {
    response.set_header("Access-Control-Allow-Origin", options.cors_origin);
    response.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Api-Key");
    response.set_header("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
    if (request.method == "OPTIONS") {
      response.status = 204;
      return Handled::Handled;
    }
  }
  const Client* client = FindClient(clients, request, response);
  if (client == nullptr && !IsPublic(request.path)) {
    response.set_header("WWW-Authenticate", "Bearer");
    SendError(response, {401, "authentication_error", "invalid_api_key", "",
                         "this server asks for its API key as a Bearer token"});
    return Handled::Handled;
  }
  if (client != nullptr && !client->all_runs && IsOperators(request.path)) {
    SendError(response, {403, "permission_error", "operator_only", "",
                         fmt::format("{} tells of all clients' work; it takes the operator's key",
                                     request.path)});
    return Handled::Handled;
  }
  const std::string methods = routes.MethodsOf(request.path);
  if (!methods.empty() && methods.find(request.method) == std::string::npos) {
    SendMethodNotAllowed(response, request.path, methods);
    return Handled::Handled;
  }
  return Handled::Unhandled;
}

void HttpServer::Parts::Guard() {
  server.set_pre_routing_handler(
      [this](const Request& request, Response& response) { return Check(request, response); });
  server.set_error_handler([this](const Request& request, Response& response) {
    // httplib reads no further than to a method that it does not know.
    const bool read = response.status != 400 || !request.path.empty();
    const std::string path =
        read ? "" : request.target.substr(0, request.target.find_first_of("?#"));
    const std::string allowed = read ? "" : routes.MethodsOf(path);
    if (!allowed.empty() && request.version.rfind("HTTP/1.", 0) == 0) {
      SendMethodNotAllowed(response, path, allowed);
    } else if (response.body.empty() && response.status >= 400) {
      SendError(response, ErrorOfStatus(response.status));
    }
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_exception_handler(
      [](const Request& /*request*/, Response& response, const std::exception_ptr& /*failure*/) {
        SendError(response, {500, "server_error", "", "", "this is a bug or memory ran out"});
      });
  server.set_logger(
      [this](const Request& request, const Response& response) { Log(request, response); });
}

void HttpServer::Parts::Log(const Request& request, const Response& response) {
  counts.Add({routes.KnownMethod(request.method), routes.PatternOf(request.path), response.status});
  if (!options.log) {
    return;
  }
  const Client* client = FoundClient(response);
  const std::optional<RunOverview> run = host.book().Find(response.get_header_value("X-Hyper-Run"));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  AnsweredRequest answered{request.method, request.path, response.status, RequestSeconds()};
  answered.address = ClientAddress();
  answered.client = client != nullptr ? client->name : "";
  options.log(DumpJson(
      RequestLine(answered, std::chrono::duration_cast<std::chrono::milliseconds>(now).count(),
                  run ? &*run : nullptr)));
}

void HttpServer::Parts::AddApi() {
  routes.Get("/health", [this](const Request& /*request*/, Response& response) {
    Send(response, 200, HealthJson(host, /*models=*/FoundClient(response) != nullptr));
  });
  routes.Get("/live", [](const Request& /*request*/, Response& response) {
    Send(response, 200, {{"status", "ok"}});
  });
  routes.Get("/ready", [this](const Request& /*request*/, Response& response) {
    const bool draining = host.closing();
    Send(response, draining ? 503 : 200, {{"status", draining ? "draining" : "ok"}});
  });
  routes.Get("/metrics", [this](const Request& /*request*/, Response& response) {
    response.set_content(
        MetricsText(host.metrics(), counts,
                    host.on_demand() ? host.Statuses() : std::vector<ModelStatus>()),
        "text/plain; version=0.0.4");
  });
  routes.Get("/openapi.json", [this](const Request& /*request*/, Response& response) {
    Send(response, 200, ApiDescription(DescribedLimits(host)));
  });
  const auto generate = [this](const char* path, ParseRequest parse, MakeFormat format) {
    routes.Post(path, [this, parse, format](const Request& request, Response& response) {
      const Client& client = ClientOf(response);
      const auto read = [&](const ServerLimits& limits) {
        return parse(request.body, LimitsFor(limits, client));
      };
      const std::optional<ModelLease> model = ModelFor(
          host, request.body,
          [&](const ServerLimits& known) {
            const std::optional<ApiError> error = ErrorOf(read(known));
            return error ? error : host.CheckTokens(client);
          },
          response);
      if (model) {
        Generate(*model, client, read(model->limits()), format, options.heartbeat_s, response);
      }
    });
  };
  generate("/v1/chat/completions", ParseChatRequest, MakeChatFormat);
  generate("/v1/completions", ParseCompletionRequest, MakeCompletionFormat);
  generate("/v1/responses", ParseResponsesRequest, MakeResponsesFormat);
}

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(Scheduler& scheduler, ServerLimits limits,
                                                       HttpOptions options) {
  auto only = std::make_unique<ModelHost>(scheduler, std::move(limits));
  ModelHost& host = *only;
  return Start(std::make_unique<Parts>(host, std::move(options), std::move(only)));
}

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(ModelHost& host, HttpOptions options) {
  return Start(std::make_unique<Parts>(host, std::move(options)));
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(std::unique_ptr<Parts> parts) {
  const auto connections = static_cast<size_t>(parts->options.most_connections);
  try {
    parts->threads = std::make_unique<httplib::ThreadPool>(connections, connections, connections);
  } catch (const std::system_error& refused) {
    return Error{ErrorCode::kResourceExhausted,
                 fmt::format("{} connections need a thread each, and the system allows no more "
                             "({}); lower --connections",
                             connections, refused.code().message())};
  }
  parts->SetUp();
  const std::string& host = parts->options.host;
  parts->port = parts->options.port;
  bool bound = false;
  if (parts->port == 0) {
    parts->port = parts->server.bind_to_any_port(host);
    bound = parts->port > 0;
  } else {
    bound = parts->server.bind_to_port(host, parts->port);
  }
  if (!bound) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("cannot listen on {} port {}; the port is taken, or --host is not an "
                             "address of this machine",
                             host, parts->options.port)};
  }
  Parts* running = parts.get();
  parts->thread = std::thread([running] { running->server.listen_after_bind(); });
  parts->server.wait_until_ready();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpServer::~HttpServer() { Stop(); }

int HttpServer::port() const { return parts_->port; }

const std::vector<Route>& HttpServer::routes() const { return parts_->routes.list(); }

void HttpServer::Stop() {
  parts_->server.End(SlowClient(parts_->options));
  if (parts_->thread.joinable()) {
    parts_->thread.join();
  }
}

}  // namespace hyper::server

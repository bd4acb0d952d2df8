#include "tests/support/replay_server.h"

#include <chrono>
#include <string_view>
#include <thread>

namespace hyper::test {

ReplayServer::ReplayServer(const std::vector<Json>& exchanges, size_t piece)
    : piece_(piece), server_([this](const HttpMessage& request, ServerConnection& connection) {
        Answer(request, connection);
      }) {
  const std::lock_guard lock(mutex_);
  for (const Json& exchange : exchanges) {
    exchanges_[KeyOf(exchange["method"], exchange["path"], exchange["request"])].push_back(
        exchange);
  }
}

std::vector<std::string> ReplayServer::unknown() const {
  const std::lock_guard lock(mutex_);
  return unknown_;
}

std::string ReplayServer::KeyOf(const std::string& method, const std::string& path,
                                const Json& body) {
  Json known = Json::object();
  for (const char* name :
       {"prompt", "messages", "content", "tokens", "stream", "max_tokens", "temperature", "seed",
        "n", "echo", "logprobs", "parse_special", "vllm_xargs"}) {
    if (body.is_object() && body.contains(name)) {
      known[name] = body[name];
    }
  }
  return method + " " + path + " " + known.dump();
}

void ReplayServer::Answer(const HttpMessage& request, ServerConnection& connection) {
  const std::string key = KeyOf(request.method, request.path,
                                Json::parse(request.body, nullptr, /*allow_exceptions=*/false));
  Json exchange;
  {
    const std::lock_guard lock(mutex_);
    const auto found = exchanges_.find(key);
    if (found == exchanges_.end()) {
      unknown_.push_back(key);
    } else {
      exchange = found->second.front();
      if (found->second.size() > 1) {
        found->second.pop_front();
      }
    }
  }
  if (exchange.is_null()) {
    connection.Respond(400, R"({"error":{"code":400,"message":"not recorded"}})");
  } else {
    Send(exchange, connection);
  }
}

void ReplayServer::Send(const Json& exchange, ServerConnection& connection) const {
  const std::string& body = exchange["body"].get_ref<const std::string&>();
  if (exchange["type"].get_ref<const std::string&>().find("event-stream") == std::string::npos) {
    connection.Respond(exchange["status"], body);
    return;
  }
  bool alive = connection.BeginStream();
  for (size_t at = 0; alive && at < body.size(); at += piece_) {
    alive = connection.Send(std::string_view(body).substr(at, piece_));
  }
  // Where the client left, then as now, the server had more to say.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (exchange["cut"] && alive && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    alive = !connection.PeerGone();
  }
  if (alive) {
    connection.EndStream();
  } else {
    connection.CloseAfterwards();
  }
}

}  // namespace hyper::test

#include "src/engine/remote/wire/json_call.h"

#include <fmt/format.h>

#include <utility>

#include "src/engine/remote/wire/chunk.h"

namespace hyper::remote {
namespace {

std::string ErrorWords(const JsonAnswer& answer) {
  if (!answer.end.failure.empty()) {
    return answer.end.failure;
  }
  Chunk chunk;
  std::string words = fmt::format("HTTP {}", answer.end.status);
  if (ChunkParser().Parse(answer.text, chunk) && !chunk.error.message.empty()) {
    words += ": " + chunk.error.message;
  }
  return words;
}

JsonAnswer Call(base::HttpLoop& loop, const base::HttpRequest& request) {
  return ReadJson(loop, base::Fetch(loop, request));
}

}  // namespace

JsonAnswer ReadJson(const base::HttpLoop& loop, base::HttpAnswer raw) {
  JsonAnswer answer;
  answer.end = std::move(raw.end);
  answer.text = std::move(raw.body);
  WireJson parsed = WireJson::parse(answer.text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_object()) {
    answer.body = std::move(parsed);
  }
  answer.error_words = loop.WithoutKey(ErrorWords(answer));
  return answer;
}

JsonAnswer GetJson(base::HttpLoop& loop, const std::string& url, double timeout_s) {
  return Call(loop, {.url = url, .timeout_s = timeout_s});
}

JsonAnswer PostJson(base::HttpLoop& loop, const std::string& url, const WireJson& body,
                    double timeout_s) {
  return Call(loop, {.url = url,
                     .post = true,
                     .body = body.dump(-1, ' ', false, WireJson::error_handler_t::replace),
                     .timeout_s = timeout_s});
}

WireJson MessagesJson(std::span<const ChatMessage> messages) {
  WireJson list = WireJson::array();
  for (const ChatMessage& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  return list;
}

WireJson TemplateArgumentsJson(std::span<const std::pair<std::string, std::string>> arguments) {
  WireJson object = WireJson::object();
  for (const auto& [name, value] : arguments) {
    WireJson parsed = WireJson::parse(value, nullptr, /*allow_exceptions=*/false);
    object[name] = parsed.is_discarded() ? WireJson(value) : parsed;
  }
  return object;
}

}  // namespace hyper::remote

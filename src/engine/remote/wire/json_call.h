// One question to a server and its JSON answer.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "hyper/engine.h"
#include "src/base/http/fetch.h"

namespace hyper::remote {

using WireJson = nlohmann::json;

inline constexpr double kChatSeconds = 120;  // limit of a call that renders or continues a chat

struct JsonAnswer {
  base::TransferEnd end;
  WireJson body = WireJson::object();  // empty where the answer is no JSON object
  std::string text;                    // as it came
  std::string error_words;  // why it is not ok: libcurl's words, or the status with the server's

  bool ok() const { return end.failure.empty() && end.status / 100 == 2; }
};

// Gets `url`, or posts a body to it. Waits at most `timeout_s`; throws nothing.
JsonAnswer GetJson(base::HttpLoop& loop, const std::string& url, double timeout_s);
JsonAnswer PostJson(base::HttpLoop& loop, const std::string& url, const WireJson& body,
                    double timeout_s);

// An answer that came by itself.
JsonAnswer ReadJson(const base::HttpLoop& loop, base::HttpAnswer raw);

// JSON list of messages, as every server takes them. Pure.
WireJson MessagesJson(std::span<const ChatMessage> messages);

// JSON object of template arguments by name; a value that is no JSON is taken as a string. Pure.
WireJson TemplateArgumentsJson(std::span<const std::pair<std::string, std::string>> arguments);

}  // namespace hyper::remote

#include "src/server/api/reply_format.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "src/base/utf8.h"
#include "src/server/api/text_stream.h"

namespace hyper::server {
namespace {

Json BytesJson(const std::string& bytes) {
  Json array = Json::array();
  for (const char c : bytes) {
    array.push_back(static_cast<unsigned char>(c));
  }
  return array;
}

Json TokenJson(const std::string& bytes, float logprob) {
  return {{"token", base::ValidUtf8(bytes)}, {"logprob", logprob}, {"bytes", BytesJson(bytes)}};
}

}  // namespace

Json TokensJson(const std::vector<TokenLogprobs>& logprobs) {
  Json tokens = Json::array();
  for (const TokenLogprobs& entry : logprobs) {
    Json token = TokenJson(entry.bytes, entry.logprob);
    token["top_logprobs"] = Json::array();
    for (const auto& [bytes, logprob] : entry.top) {
      token["top_logprobs"].push_back(TokenJson(bytes, logprob));
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

namespace {

// The common part of chat and completions: choices by index, one object or chunks.
class ChoicesFormat : public ReplyFormat {
 public:
  using ReplyFormat::ReplyFormat;

  std::string Stream(const ReplyEvent& event) override {
    switch (event.kind) {
      case ReplyEvent::Kind::kAccepted: {
        std::string chunks;
        for (int i = 0; i < event.choices; ++i) {
          chunks += First(event.choice + i, event.content);
        }
        return chunks;
      }
      case ReplyEvent::Kind::kText:
        return Chunk(TextChoice(event));
      case ReplyEvent::Kind::kPrompt:
        return "";  // no stream has them
      case ReplyEvent::Kind::kRecord:
        return RecordEvent(event.json);
      case ReplyEvent::Kind::kFinish:
        return Chunk(FinishChoice(event));
      case ReplyEvent::Kind::kDone:
        NoteDone(event);
        return complete() ? Last() : "";
      case ReplyEvent::Kind::kError:
        return ServerSentEvent("", event.error.ToJson());
    }
    return "";
  }

  void Collect(const ReplyEvent& event) override {
    if (event.kind == ReplyEvent::Kind::kAccepted) {
      for (int i = 0; i < event.choices; ++i) {
        choices_[event.choice + i].prompt = event.content;
      }
    } else if (event.kind == ReplyEvent::Kind::kPrompt) {
      for (int i = 0; i < event.choices; ++i) {
        std::vector<TokenLogprobs>& logprobs = choices_[event.choice + i].logprobs;
        logprobs.insert(logprobs.begin(), event.logprobs.begin(), event.logprobs.end());
      }
    } else if (event.kind == ReplyEvent::Kind::kText) {
      std::vector<TokenLogprobs>& logprobs = choices_[event.choice].logprobs;
      logprobs.insert(logprobs.end(), event.logprobs.begin(), event.logprobs.end());
    } else if (event.kind == ReplyEvent::Kind::kFinish) {
      choices_[event.choice].finish = event;
    } else if (event.kind == ReplyEvent::Kind::kDone) {
      NoteDone(event);
    }
  }

  Json Body() const override {
    Json body = Head(object());
    body["choices"] = Json::array();
    for (const auto& [index, choice] : choices_) {
      body["choices"].push_back(WholeChoice(index, choice));
    }
    body["usage"] = UsageJson();
    body["hyper"] = summaries_.size() == 1 ? summaries_.front() : summaries_;
    return body;
  }

 protected:
  struct Choice {
    std::string prompt;
    std::vector<TokenLogprobs> logprobs;
    ReplyEvent finish;
  };

  virtual const char* object() const = 0;
  virtual const char* chunk_object() const = 0;
  virtual std::string First(int index, const std::string& prompt) = 0;
  virtual Json TextChoice(const ReplyEvent& event) = 0;
  virtual Json FinishChoice(const ReplyEvent& event) = 0;
  virtual Json WholeChoice(int index, const Choice& choice) const = 0;

  Json Head(const char* kind) const {
    return {{"id", id_}, {"object", kind}, {"created", created_s_}, {"model", model_}};
  }
  std::string Chunk(Json choice) const {
    Json chunk = Head(chunk_object());
    chunk["choices"] = Json::array({std::move(choice)});
    return ServerSentEvent("", chunk);
  }

 private:
  std::string Last() const {
    std::string last;
    if (include_usage_) {
      Json chunk = Head(chunk_object());
      chunk["choices"] = Json::array();
      chunk["usage"] = UsageJson();
      chunk["hyper"] = summaries_.size() == 1 ? summaries_.front() : summaries_;
      last = ServerSentEvent("", chunk);
    }
    return last + "data: [DONE]\n\n";
  }

  std::map<int, Choice> choices_;
};

class ChatFormat : public ChoicesFormat {
 public:
  using ChoicesFormat::ChoicesFormat;

 protected:
  const char* object() const override { return "chat.completion"; }
  const char* chunk_object() const override { return "chat.completion.chunk"; }

  std::string First(int index, const std::string& /*prompt*/) override {
    return Chunk({{"index", index},
                  {"delta", {{"role", "assistant"}, {"content", ""}}},
                  {"logprobs", nullptr},
                  {"finish_reason", nullptr}});
  }
  Json TextChoice(const ReplyEvent& event) override {
    Json delta = Json::object();
    if (!event.content.empty()) {
      delta["content"] = event.content;
    }
    if (!event.reasoning.empty()) {
      delta["reasoning_content"] = event.reasoning;
    }
    for (const CallPart& part : event.calls) {
      delta["tool_calls"].push_back(CallJson(part));
    }
    return {{"index", event.choice},
            {"delta", std::move(delta)},
            {"logprobs", LogprobsJson(event.logprobs)},
            {"finish_reason", nullptr}};
  }
  Json FinishChoice(const ReplyEvent& event) override {
    return {{"index", event.choice},
            {"delta", Json::object()},
            {"logprobs", nullptr},
            {"finish_reason", event.finish_reason}};
  }
  Json WholeChoice(int index, const Choice& choice) const override {
    Json message = {{"role", "assistant"}, {"content", choice.finish.content}};
    message["reasoning_content"] =
        choice.finish.reasoning.empty() ? Json() : Json(choice.finish.reasoning);
    message["refusal"] = nullptr;
    for (const CallPart& call : choice.finish.calls) {
      Json whole = CallJson(call);
      whole.erase("index");
      message["tool_calls"].push_back(std::move(whole));
    }
    if (message.contains("tool_calls") && choice.finish.content.empty()) {
      message["content"] = nullptr;
    }
    return {{"index", index},
            {"message", std::move(message)},
            {"logprobs", LogprobsJson(choice.logprobs)},
            {"finish_reason", choice.finish.finish_reason}};
  }

 private:
  static Json CallJson(const CallPart& part) {
    Json json = {{"index", part.index}};
    Json function = Json::object();
    if (!part.id.empty()) {
      json.update({{"id", part.id}, {"type", "function"}});
      function["name"] = part.name;
    }
    function["arguments"] = part.arguments;
    json["function"] = std::move(function);
    return json;
  }
  static Json LogprobsJson(const std::vector<TokenLogprobs>& logprobs) {
    if (logprobs.empty()) {
      return nullptr;
    }
    return {{"content", TokensJson(logprobs)}, {"refusal", nullptr}};
  }
};

class CompletionFormat : public ChoicesFormat {
 public:
  using ChoicesFormat::ChoicesFormat;

 protected:
  const char* object() const override { return "text_completion"; }
  const char* chunk_object() const override { return "text_completion"; }

  std::string First(int index, const std::string& prompt) override {
    return echo_ ? Chunk(ChoiceJson(index, base::ValidUtf8(prompt), nullptr, nullptr)) : "";
  }
  Json TextChoice(const ReplyEvent& event) override {
    return ChoiceJson(event.choice, event.content,
                      LogprobsJson(event.logprobs, offsets_[event.choice]), nullptr);
  }
  Json FinishChoice(const ReplyEvent& event) override {
    return ChoiceJson(event.choice, "", nullptr, event.finish_reason);
  }
  Json WholeChoice(int index, const Choice& choice) const override {
    size_t offset = 0;
    return ChoiceJson(index, (echo_ ? base::ValidUtf8(choice.prompt) : "") + choice.finish.content,
                      LogprobsJson(choice.logprobs, offset), choice.finish.finish_reason);
  }

 private:
  static Json ChoiceJson(int index, std::string text, Json logprobs, Json finish_reason) {
    return {{"index", index},
            {"text", std::move(text)},
            {"logprobs", std::move(logprobs)},
            {"finish_reason", std::move(finish_reason)}};
  }
  // `offset`: characters of the text that begin before the first token; moves behind the last one.
  static Json LogprobsJson(const std::vector<TokenLogprobs>& logprobs, size_t& offset) {
    if (logprobs.empty()) {
      return nullptr;
    }
    Json json = {{"tokens", Json::array()},
                 {"token_logprobs", Json::array()},
                 {"top_logprobs", Json::array()},
                 {"text_offset", Json::array()}};
    for (const TokenLogprobs& entry : logprobs) {
      Json top = Json::object();
      for (const auto& [bytes, logprob] : entry.top) {
        top[base::ValidUtf8(bytes)] = logprob;
      }
      const bool known = !std::isnan(entry.logprob);
      json["tokens"].push_back(base::ValidUtf8(entry.bytes));
      json["token_logprobs"].push_back(known ? Json(entry.logprob) : Json());
      json["top_logprobs"].push_back(known ? std::move(top) : Json());
      const bool inside = offset > 0 && !entry.bytes.empty() && base::GoesOn(entry.bytes.front());
      json["text_offset"].push_back(offset - (inside ? 1 : 0));
      offset += base::CountCharacters(entry.bytes);
    }
    return json;
  }

  std::map<int, size_t> offsets_;
};

}  // namespace

ReplyFormat::ReplyFormat(const ApiRequest& request, std::string id, int64_t created_s)
    : model_(request.model),
      id_(std::move(id)),
      created_s_(created_s),
      include_usage_(request.include_usage),
      echo_(request.echo),
      runs_(static_cast<int>(request.runs.size())) {}

void ReplyFormat::NoteDone(const ReplyEvent& event) {
  ++done_;
  usage_.prompt_tokens += event.usage.prompt_tokens;
  usage_.cached_tokens += event.usage.cached_tokens;
  usage_.completion_tokens += event.usage.completion_tokens;
  usage_.reasoning_tokens += event.usage.reasoning_tokens;
  ledgers_.push_back(LedgerJson(event.usage.ledger));
  summaries_.push_back(event.json);
}

Json ReplyFormat::UsageJson() const {
  return {{"prompt_tokens", usage_.prompt_tokens},
          {"completion_tokens", usage_.completion_tokens},
          {"total_tokens", usage_.prompt_tokens + usage_.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage_.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage_.reasoning_tokens}}},
          {"hyper", ledgers_.size() == 1 ? ledgers_.front() : ledgers_}};
}

std::unique_ptr<ReplyFormat> MakeChatFormat(const ApiRequest& request, const std::string& id,
                                            int64_t created_s) {
  return std::make_unique<ChatFormat>(request, "chatcmpl-" + id, created_s);
}

std::unique_ptr<ReplyFormat> MakeCompletionFormat(const ApiRequest& request, const std::string& id,
                                                  int64_t created_s) {
  return std::make_unique<CompletionFormat>(request, "cmpl-" + id, created_s);
}

std::string ServerSentEvent(const std::string& name, const Json& data) {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + DumpJson(data) + "\n\n";
}

std::string RecordEvent(const Json& record) {
  const std::string name = "hyper." + record.value("record", "record");
  Json data = {{"object", name}};
  data.update(record);
  return ServerSentEvent(name, data);
}

}  // namespace hyper::server

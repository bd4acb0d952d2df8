#include "tests/support/scripted_model.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "src/core/logits.h"
#include "src/core/random.h"
#include "src/core/sampling.h"

namespace hyper::test {
namespace {

using Json = nlohmann::json;

constexpr int kVocabulary = 128;
constexpr Token kEnd = 0;

std::string Name(Token token) {
  return token == kEnd ? "" : std::string(1, static_cast<char>(token));
}

Json Bytes(const std::string& text) {
  Json bytes = Json::array();
  for (const char c : text) {
    bytes.push_back(static_cast<unsigned char>(c));
  }
  return bytes;
}

struct Draw {
  Token token = kEnd;
  float logprob = 0;
  std::vector<TokenLogprob> top;
};

// The chat template: as the fake engine's.
std::string Render(const Json& messages) {
  std::string text;
  for (const Json& message : messages) {
    text +=
        message["role"].get<std::string>() + ": " + message["content"].get<std::string>() + "\n";
  }
  return text;
}

// One text that is being made.
class Writer {
 public:
  Writer(const ScriptedModel& model, const Json& body)
      : model_(model), history_(PromptOf(body)), prompt_(history_.size()) {
    sampler_ = {body.value("temperature", 1.0), std::max(body.value("top_k", 0), 0),
                body.value("top_p", 1.0), body.value("min_p", 0.0)};
    const Json& count = body.value("logprobs", Json());
    top_count_ = body.value(count.is_boolean() ? "top_logprobs" : "logprobs", 0);
    key_ = model.key_of_seed(body.value("seed", 0U));
  }

  Draw Next() {
    std::vector<float> row(kVocabulary, 0.0F);
    model_.logits(key_, history_, row);
    RowSummary summary;
    SummarizeRow(row, top_count_, summary);
    SamplerScratch scratch;
    const double u = Uniform(key_, static_cast<uint32_t>(history_.size()), Purpose::kSample);
    Draw draw;
    draw.token = SampleToken(row, sampler_, u, scratch);
    draw.logprob = static_cast<float>(row[static_cast<size_t>(draw.token)] - summary.log_sum_exp);
    draw.top = std::move(summary.top);
    history_.push_back(draw.token);
    return draw;
  }

  // The prompt's own tokens, as if they had been drawn.
  std::vector<Draw> Echo() const {
    std::vector<Draw> draws;
    for (size_t i = 0; i < prompt_; ++i) {
      std::vector<float> row(kVocabulary, 0.0F);
      model_.logits(key_, std::span(history_).first(i), row);
      RowSummary summary;
      SummarizeRow(row, top_count_, summary);
      const auto place = static_cast<size_t>(history_[i]);
      const auto logprob = static_cast<float>(row[place] - summary.log_sum_exp);
      draws.push_back({history_[i], logprob, std::move(summary.top)});
    }
    return draws;
  }

  size_t prompt_tokens() const { return prompt_; }
  bool full() const { return static_cast<int>(history_.size()) >= model_.context; }

 private:
  const ScriptedModel& model_;
  std::vector<Token> history_;
  size_t prompt_;
  SamplerSpec sampler_;
  int top_count_ = 0;
  uint64_t key_ = 0;
};

// Below, lists are moved into the objects around them: most of the tests' time would go into
// copies.
Json ObjectLogprobs(const std::vector<Draw>& draws, bool with_ids) {
  Json content = Json::array();
  for (const Draw& draw : draws) {
    Json top = Json::array();
    for (const TokenLogprob& entry : draw.top) {
      const std::string name = Name(entry.token);
      top.push_back({{"token", name}, {"bytes", Bytes(name)}, {"logprob", entry.logprob}});
      if (with_ids) {
        top.back()["id"] = entry.token;
      }
    }
    const std::string name = Name(draw.token);
    content.push_back({{"token", name},
                       {"bytes", Bytes(name)},
                       {"logprob", draw.logprob},
                       {"top_logprobs", std::move(top)}});
    if (with_ids) {
      content.back()["id"] = draw.token;
    }
  }
  return {{"content", std::move(content)}};
}

Json VllmLogprobs(const std::vector<Draw>& draws) {
  const auto name = [](Token token) { return token == kEnd ? "<end>" : Name(token); };
  Json tokens = Json::array();
  Json values = Json::array();
  Json tops = Json::array();
  for (const Draw& draw : draws) {
    tokens.push_back(name(draw.token));
    values.push_back(draw.logprob);
    Json top = Json::object();
    for (const TokenLogprob& entry : draw.top) {
      top[name(entry.token)] = entry.logprob;
    }
    tops.push_back(std::move(top));
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(values)},
          {"top_logprobs", std::move(tops)}};
}

Json ChunkOf(const ScriptedModel& model, const Json& body, const std::vector<Draw>& draws,
             const std::string& finish) {
  const bool llama = model.dialect == ScriptedModel::Dialect::kLlamaServer;
  std::string text;
  Json ids = Json::array();
  for (const Draw& draw : draws) {
    text += Name(draw.token);
    ids.push_back(draw.token);
  }
  Json choice = {{"index", 0},
                 {"finish_reason", finish.empty() ? Json() : Json(finish)},
                 {"logprobs", nullptr}};
  if (body.contains("messages")) {
    choice[body.value("stream", false) ? "delta" : "message"] = {{"role", "assistant"},
                                                                 {"content", text}};
  } else {
    choice["text"] = text;
  }
  if (!draws.empty() && !draws[0].top.empty()) {
    const bool objects = llama || body.contains("messages");
    choice["logprobs"] = objects ? ObjectLogprobs(draws, llama) : VllmLogprobs(draws);
  }
  if (!llama) {
    choice["token_ids"] = std::move(ids);
  }
  return {{"object", "text_completion"}, {"choices", Json::array({std::move(choice)})}};
}

}  // namespace

std::vector<Token> PromptOf(const Json& body) {
  const Json& prompt = body.at("prompt");
  std::vector<Token> tokens;
  const auto add_text = [&tokens](const std::string& text) {
    for (const char c : text) {
      tokens.push_back(static_cast<Token>(c));
    }
  };
  if (prompt.is_string()) {
    add_text(prompt.get<std::string>());
  }
  if (!prompt.is_array()) {
    return tokens;
  }
  for (const Json& part : prompt) {  // numbers, and texts among them
    if (part.is_string()) {
      add_text(part.get<std::string>());
    } else {
      tokens.push_back(part.get<Token>());
    }
  }
  return tokens;
}

// The completion that a chat asks for: its template applied, or its last message continued.
Json ScriptedModel::CompletionOfChat(const Json& body) const {
  Json messages = body["messages"];
  const Json arguments = body.value("chat_template_kwargs", Json::object());
  std::string text = arguments.value("opener", opener);
  const bool flagged = body.value("continue_final_message", false);
  const bool last = messages.back()["role"] == "assistant";
  if (last && prefill != Prefill::kNone && flagged != (prefill == Prefill::kTrailing)) {
    text = messages.back()["content"].get<std::string>();
    messages.erase(messages.size() - 1);
    const size_t closed = text.find("</think>");
    if (prefill == Prefill::kDropsReasoning && closed != std::string::npos) {
      text.erase(0, closed);
    }
  }
  Json completion = body;
  completion["prompt"] = Render(messages) + text;
  return completion;
}

// Not streamed.
Json ScriptedModel::Complete(const Json& body) {
  Writer writer(*this, body);
  const bool echo = body.value("echo", false) && dialect == Dialect::kVllm;
  std::vector<Draw> draws = echo ? writer.Echo() : std::vector<Draw>();
  std::string finish = "length";
  for (int i = 0; i < body.value("max_tokens", 16) && finish == "length"; ++i) {
    draws.push_back(writer.Next());
    finish = draws.back().token == kEnd ? "stop" : "length";
  }
  Json answer = ChunkOf(*this, body, draws, finish);
  Json& lists = answer["choices"][0]["logprobs"];
  if (echo && lists.is_object()) {
    lists["token_logprobs"][0] = nullptr;  // nothing before it
  }
  for (int i = 1; i < body.value("n", 1); ++i) {
    answer["choices"].push_back(answer["choices"][0]);
  }
  answer["usage"] = {{"prompt_tokens", writer.prompt_tokens()},
                     {"completion_tokens", draws.size()},
                     {"prompt_tokens_details", {{"cached_tokens", writer.prompt_tokens() / 2}}}};
  return answer;
}

void ScriptedModel::Stream(const Json& body, ServerConnection& connection) {
  const int number = streams++;
  last_prompt = static_cast<int>(PromptOf(body).size());
  if (fault && fault(number, body, connection)) {
    return;
  }
  const int now_open = ++open;
  int peak = open_peak;
  while (now_open > peak && !open_peak.compare_exchange_weak(peak, now_open)) {
  }
  // Before the last token is sent: who has received that may open the next stream at once.
  bool counted = true;
  const auto leave = [this, &counted] {
    open -= counted ? 1 : 0;
    counted = false;
  };
  Writer writer(*this, body);
  bool alive = connection.BeginStream();
  std::string finish = "length";
  const int wanted = body.value("max_tokens", 16);
  for (int i = 0; i < wanted && alive && finish == "length" && !writer.full(); ++i) {
    if (delay_ms > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    }
    const Draw draw = writer.Next();
    if (draw.token == kEnd) {
      finish = "stop";
    }
    if (finish == "stop" || i + 1 == wanted) {
      leave();
    }
    Json chunk =
        ChunkOf(*this, body, {draw}, dialect == Dialect::kVllm && finish == "stop" ? "stop" : "");
    if (edit) {
      edit(i, chunk);
    }
    ++tokens;  // before it is sent: who has received it may look at once
    alive = !connection.PeerGone() && connection.Send("data: " + chunk.dump() + "\n\n");
    tokens -= alive ? 0 : 1;
  }
  leave();
  alive = alive && connection.Send("data: " + ChunkOf(*this, body, {}, finish).dump() + "\n\n") &&
          connection.Send("data: [DONE]\n\n") && connection.EndStream();
  aborted += alive ? 0 : 1;
  if (!alive) {
    connection.CloseAfterwards();
  }
}

void ScriptedModel::Handle(const HttpMessage& request, ServerConnection& connection) {
  const bool llama = dialect == Dialect::kLlamaServer;
  const Json body = Json::parse(request.body, nullptr, false);
  if (request.path == "/v1/models") {
    const Json entry = {
        {"id", "scripted"}, {"owned_by", llama ? "llamacpp" : "vllm"}, {"max_model_len", context}};
    connection.Respond(200, Json{{"data", Json::array({entry})}}.dump());
  } else if (request.path == "/hyper/capabilities" && !llama && !routing.is_null()) {
    connection.Respond(200, routing.dump());
  } else if (request.path == "/props" && llama) {
    connection.Respond(
        200,
        Json{{"total_slots", slots}, {"default_generation_settings", {{"n_ctx", context}}}}.dump());
  } else if (request.path == "/v1/chat/completions" && chats && body.contains("messages")) {
    ++posts;
    const Json completion = CompletionOfChat(body);
    if (body.value("stream", false)) {
      Stream(completion, connection);
    } else {
      connection.Respond(200, Complete(completion).dump());
    }
  } else if (request.path == "/v1/completions" && !completions) {
    connection.Respond(404, R"({"detail":"Not Found"})");
  } else if (request.path == "/v1/completions" && body.is_object() && body.contains("prompt")) {
    ++posts;
    if (body.value("stream", false)) {
      Stream(body, connection);
    } else {
      connection.Respond(200, Complete(body).dump());
    }
  } else if (request.path == "/tokenize" && body.contains("content") &&
             !body.contains("messages")) {
    Json list = Json::array();
    for (const char c : body["content"].get<std::string>()) {
      const Json object = {{"id", static_cast<int>(c)}, {"piece", std::string(1, c)}};
      list.push_back(llama ? object : Json(static_cast<int>(c)));
    }
    connection.Respond(200, Json{{"tokens", list}}.dump());
  } else if (request.path == "/apply-template" && llama && renders) {
    connection.Respond(200, Json{{"prompt", Render(body["messages"])}}.dump());
  } else if (request.path == "/tokenize" && body.contains("messages") && !llama && renders) {
    const Json as_prompt = {{"prompt", Render(body["messages"])}};
    connection.Respond(200, Json{{"tokens", PromptOf(as_prompt)}}.dump());
  } else if (request.path == "/detokenize" && !llama) {
    std::string text;
    for (const Json& id : body["tokens"]) {
      text += static_cast<char>(id.get<int>());
    }
    connection.Respond(200, Json{{"prompt", text}}.dump());
  } else {
    connection.Respond(400, R"({"error":{"code":400,"message":"not scripted","type":"invalid"}})");
  }
}

}  // namespace hyper::test

// The shape of /v1/responses.
#include <utility>

#include "src/server/api/reply_format.h"

namespace hyper::server {
namespace {

class ResponsesFormat : public ReplyFormat {
 public:
  using ReplyFormat::ReplyFormat;

  std::string Stream(const ReplyEvent& event) override {
    switch (event.kind) {
      case ReplyEvent::Kind::kAccepted:
        return Begin();
      case ReplyEvent::Kind::kText:
        return Text(event);
      case ReplyEvent::Kind::kPrompt:
        return "";  // of /v1/completions alone
      case ReplyEvent::Kind::kRecord:
        return RecordEvent(event.json);
      case ReplyEvent::Kind::kFinish:
        return EndItems(event);
      case ReplyEvent::Kind::kDone:
        NoteDone(event);
        return Named(finish_.finish_reason == "stop" ? "response.completed" : "response.incomplete",
                     {{"response", Body()}});
      case ReplyEvent::Kind::kError:
        return Named(
            "error",
            {{"code", event.error.code}, {"message", event.error.message}, {"param", nullptr}});
    }
    return "";
  }

  void Collect(const ReplyEvent& event) override {
    if (event.kind == ReplyEvent::Kind::kText) {
      Add(event.logprobs);
    } else if (event.kind == ReplyEvent::Kind::kFinish) {
      finish_ = event;
      has_reasoning_ = !finish_.reasoning.empty();
    } else if (event.kind == ReplyEvent::Kind::kDone) {
      NoteDone(event);
    }
  }

  Json Body() const override {
    Json body = {{"id", id_},
                 {"object", "response"},
                 {"created_at", created_s_},
                 {"status", Status()},
                 {"error", nullptr},
                 {"incomplete_details", nullptr},
                 {"model", model_},
                 {"output", Json::array()},
                 {"parallel_tool_calls", false},
                 {"tool_choice", "none"},
                 {"tools", Json::array()},
                 {"usage", nullptr}};
    if (!Ended()) {
      return body;
    }
    if (finish_.finish_reason != "stop") {
      body["incomplete_details"] = {{"reason", "max_output_tokens"}};
    }
    body["output"].push_back(Message());
    if (has_reasoning_) {
      body["output"].insert(body["output"].begin() + ReasoningIndex(), Reasoning());
    }
    if (complete()) {
      body["usage"] = {{"input_tokens", usage_.prompt_tokens},
                       {"input_tokens_details", {{"cached_tokens", usage_.cached_tokens}}},
                       {"output_tokens", usage_.completion_tokens},
                       {"output_tokens_details", {{"reasoning_tokens", usage_.reasoning_tokens}}},
                       {"total_tokens", usage_.prompt_tokens + usage_.completion_tokens},
                       {"hyper", ledgers_.front()}};
      body["hyper"] = summaries_.front();
    }
    return body;
  }

 private:
  std::string Named(const char* type, const Json& members) {
    Json data = {{"type", type}, {"sequence_number", sequence_++}};
    data.update(members);
    return ServerSentEvent(type, data);
  }

  bool Ended() const { return !finish_.finish_reason.empty(); }
  const char* Status() const {
    return !Ended() ? "in_progress" : finish_.finish_reason == "stop" ? "completed" : "incomplete";
  }

  // The item that began first comes first.
  int ReasoningIndex() const { return message_first_ ? 1 : 0; }
  int MessageIndex() const { return has_reasoning_ && !message_first_ ? 1 : 0; }

  Json MessagePart() const {
    return {{"type", "output_text"},
            {"text", finish_.content},
            {"annotations", Json::array()},
            {"logprobs", TokensJson(logprobs_)}};
  }
  Json ReasoningPart() const { return {{"type", "reasoning_text"}, {"text", finish_.reasoning}}; }
  Json Message() const {
    return {{"type", "message"},
            {"id", "msg_" + id_},
            {"status", Status()},
            {"role", "assistant"},
            {"content", Ended() ? Json::array({MessagePart()}) : Json::array()}};
  }
  Json Reasoning() const {
    return {{"type", "reasoning"},
            {"id", "rs_" + id_},
            {"status", Status()},
            {"summary", Json::array()},
            {"content", Ended() ? Json::array({ReasoningPart()}) : Json::array()}};
  }
  // Where the text of an item stands, and more about it.
  Json Place(bool reasoning, const Json& more) const {
    Json place = {{"item_id", (reasoning ? "rs_" : "msg_") + id_},
                  {"output_index", reasoning ? ReasoningIndex() : MessageIndex()},
                  {"content_index", 0}};
    place.update(more);
    return place;
  }

  std::string Begin() {
    std::string events = Named("response.created", {{"response", Body()}});
    return events + Named("response.in_progress", {{"response", Body()}});
  }
  std::string BeginItem(bool reasoning) {
    std::string events = Named("response.output_item.added",
                               {{"output_index", reasoning ? ReasoningIndex() : MessageIndex()},
                                {"item", reasoning ? Reasoning() : Message()}});
    const Json part = reasoning ? ReasoningPart() : MessagePart();
    return events + Named("response.content_part.added", Place(reasoning, {{"part", part}}));
  }
  std::string NeedReasoning() {
    if (std::exchange(has_reasoning_, true)) {
      return "";
    }
    message_first_ = has_message_;
    return BeginItem(true);
  }
  std::string NeedMessage() { return std::exchange(has_message_, true) ? "" : BeginItem(false); }

  void Add(const std::vector<TokenLogprobs>& logprobs) {
    logprobs_.insert(logprobs_.end(), logprobs.begin(), logprobs.end());
  }

  std::string Text(const ReplyEvent& event) {
    std::string events;
    if (!event.reasoning.empty()) {
      reasoning_ += event.reasoning;
      events += NeedReasoning();
      events += Named("response.reasoning_text.delta", Place(true, {{"delta", event.reasoning}}));
    }
    if (!event.content.empty() || !event.logprobs.empty()) {
      content_ += event.content;
      events += NeedMessage();
      Add(event.logprobs);
      events +=
          Named("response.output_text.delta",
                Place(false, {{"delta", event.content}, {"logprobs", TokensJson(event.logprobs)}}));
    }
    return events;
  }

  // Ends what has begun, with the text that was sent: a stream takes nothing back.
  std::string EndItems(const ReplyEvent& event) {
    std::string events = NeedMessage();
    finish_ = event;
    finish_.content = content_;
    finish_.reasoning = reasoning_;
    events += has_reasoning_ && !message_first_ ? EndReasoning() : "";
    events += EndMessage();
    return events + (has_reasoning_ && message_first_ ? EndReasoning() : "");
  }
  std::string EndReasoning() {
    std::string events = Named("response.reasoning_text.done", Place(true, {{"text", reasoning_}}));
    events += Named("response.content_part.done", Place(true, {{"part", ReasoningPart()}}));
    return events + Named("response.output_item.done",
                          {{"output_index", ReasoningIndex()}, {"item", Reasoning()}});
  }
  std::string EndMessage() {
    std::string events =
        Named("response.output_text.done",
              Place(false, {{"text", content_}, {"logprobs", TokensJson(logprobs_)}}));
    events += Named("response.content_part.done", Place(false, {{"part", MessagePart()}}));
    return events + Named("response.output_item.done",
                          {{"output_index", MessageIndex()}, {"item", Message()}});
  }

  ReplyEvent finish_;
  std::string content_;  // as it was streamed
  std::string reasoning_;
  std::vector<TokenLogprobs> logprobs_;  // of the content
  bool has_message_ = false;             // the items that were begun
  bool has_reasoning_ = false;
  bool message_first_ = false;
  int64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<ReplyFormat> MakeResponsesFormat(const ApiRequest& request, const std::string& id,
                                                 int64_t created_s) {
  return std::make_unique<ResponsesFormat>(request, "resp_" + id, created_s);
}

}  // namespace hyper::server

// The shape of /v1/responses.
#include <utility>

#include "src/server/reply_format.h"

namespace hyper {
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
      case ReplyEvent::Kind::kRecord:
        return RecordEvent(event.json);
      case ReplyEvent::Kind::kFinish:
        finish_ = event;
        return EndItem();
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
    if (event.kind == ReplyEvent::Kind::kFinish) {
      finish_ = event;
    } else if (event.kind == ReplyEvent::Kind::kDone) {
      NoteDone(event);
    }
  }

  Json Body() const override {
    const bool ended = !finish_.finish_reason.empty();
    const bool whole = finish_.finish_reason == "stop";
    Json body = {{"id", id_},
                 {"object", "response"},
                 {"created_at", created_s_},
                 {"status", !ended  ? "in_progress"
                            : whole ? "completed"
                                    : "incomplete"},
                 {"error", nullptr},
                 {"incomplete_details", nullptr},
                 {"model", model_},
                 {"output", Json::array()},
                 {"parallel_tool_calls", false},
                 {"tool_choice", "none"},
                 {"tools", Json::array()},
                 {"usage", nullptr}};
    if (!ended) {
      return body;
    }
    if (!whole) {
      body["incomplete_details"] = {{"reason", "max_output_tokens"}};
    }
    if (!finish_.reasoning.empty()) {
      body["output"].push_back(
          {{"type", "reasoning"},
           {"id", "rs_" + id_},
           {"summary", Json::array({{{"type", "summary_text"}, {"text", finish_.reasoning}}})}});
    }
    body["output"].push_back(Message(whole ? "completed" : "incomplete"));
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
  Json Part() const {
    return {{"type", "output_text"}, {"text", finish_.content}, {"annotations", Json::array()}};
  }
  Json Message(const char* status) const {
    return {{"type", "message"},
            {"id", "msg_" + id_},
            {"status", status},
            {"role", "assistant"},
            {"content", finish_.finish_reason.empty() ? Json::array() : Json::array({Part()})}};
  }
  Json Place() const {
    return {{"item_id", "msg_" + id_}, {"output_index", 0}, {"content_index", 0}};
  }

  std::string Begin() {
    std::string events = Named("response.created", {{"response", Body()}});
    events += Named("response.in_progress", {{"response", Body()}});
    events += Named("response.output_item.added",
                    {{"output_index", 0}, {"item", Message("in_progress")}});
    Json part = Place();
    part["part"] = Part();
    return events + Named("response.content_part.added", part);
  }
  std::string Text(const ReplyEvent& event) {
    std::string events;
    if (!event.reasoning.empty()) {
      events += Named("response.reasoning_text.delta", {{"item_id", "rs_" + id_},
                                                        {"output_index", 0},
                                                        {"content_index", 0},
                                                        {"delta", event.reasoning}});
    }
    if (!event.content.empty()) {
      Json delta = Place();
      delta["delta"] = event.content;
      delta["logprobs"] = Json::array();
      events += Named("response.output_text.delta", delta);
    }
    return events;
  }
  std::string EndItem() {
    Json text = Place();
    text["text"] = finish_.content;
    text["logprobs"] = Json::array();
    Json part = Place();
    part["part"] = Part();
    return Named("response.output_text.done", text) + Named("response.content_part.done", part) +
           Named("response.output_item.done",
                 {{"output_index", 0}, {"item", Message("completed")}});
  }

  ReplyEvent finish_;
  int64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<ReplyFormat> MakeResponsesFormat(const ApiRequest& request, const std::string& id,
                                                 int64_t created_s) {
  return std::make_unique<ResponsesFormat>(request, "resp_" + id, created_s);
}

}  // namespace hyper

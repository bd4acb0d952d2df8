#include "src/server/api/reply_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyper::server {
namespace {

ApiRequest OneRun() {
  ApiRequest request;
  request.runs.resize(1);
  request.model = "m";
  return request;
}

// A character in four tokens of a byte each.
ReplyEvent SmileInBytes() {
  ReplyEvent event;
  event.content = "\xF0\x9F\x98\x8A";
  for (const char byte : event.content) {
    event.logprobs.push_back({std::string(1, byte), -0.5F, {{std::string(1, byte), -0.5F}}});
  }
  return event;
}

TEST(ReplyFormat, GivesTheBytesOfACutCharacter) {
  const std::unique_ptr<ReplyFormat> format = MakeChatFormat(OneRun(), "1", 0);
  ReplyEvent text = SmileInBytes();
  format->Collect(text);
  ReplyEvent finish;
  finish.kind = ReplyEvent::Kind::kFinish;
  finish.content = text.content;
  finish.finish_reason = "stop";
  format->Collect(finish);
  const Json choice = format->Body()["choices"][0];
  std::string joined;
  for (const Json& token : choice["logprobs"]["content"]) {
    for (const Json& byte : token["bytes"]) {
      joined += static_cast<char>(byte.get<int>());
    }
    EXPECT_EQ(token["bytes"], token["top_logprobs"][0]["bytes"]);
    EXPECT_EQ(token["bytes"].size(), 1U);
  }
  EXPECT_EQ(joined, text.content);
  EXPECT_EQ(choice["message"]["content"], text.content);
}

TEST(ReplyFormat, AddsUpTheUsageOfAllRuns) {
  ApiRequest request = OneRun();
  request.runs.resize(2);
  const std::unique_ptr<ReplyFormat> format = MakeCompletionFormat(request, "1", 0);
  ReplyEvent done;
  done.kind = ReplyEvent::Kind::kDone;
  done.usage.prompt_tokens = 7;
  done.usage.cached_tokens = 5;
  done.usage.completion_tokens = 3;
  format->Collect(done);
  EXPECT_FALSE(format->complete());
  format->Collect(done);
  EXPECT_TRUE(format->complete());
  const Json usage = format->Body()["usage"];
  EXPECT_EQ(usage["prompt_tokens"], 14);
  EXPECT_EQ(usage["prompt_tokens_details"]["cached_tokens"], 10);
  EXPECT_EQ(usage["completion_tokens"], 6);
  EXPECT_EQ(usage["total_tokens"], 20);
  EXPECT_EQ(usage["hyper"].size(), 2U);
}

// The data of all events that `format` makes of `events`.
std::vector<Json> Streamed(ReplyFormat& format, const std::vector<ReplyEvent>& events) {
  std::string bytes;
  for (const ReplyEvent& event : events) {
    bytes += format.Stream(event);
  }
  std::vector<Json> data;
  for (size_t at = 0; (at = bytes.find("data: ", at)) != std::string::npos; ++at) {
    data.push_back(Json::parse(bytes.substr(at + 6, bytes.find('\n', at) - at - 6)));
  }
  return data;
}

ReplyEvent EventOf(ReplyEvent::Kind kind, const std::string& reasoning,
                   const std::string& content) {
  ReplyEvent event;
  event.kind = kind;
  event.reasoning = reasoning;
  event.content = content;
  event.finish_reason = kind == ReplyEvent::Kind::kFinish ? "length" : "";
  return event;
}

// The texts of a stream, put together as clients do: each delta goes into the item at its place,
// which must have been added before.
std::vector<std::string> Joined(const std::vector<Json>& events) {
  std::vector<std::string> texts;
  std::vector<Json> items;
  for (const Json& event : events) {
    const std::string type = event["type"];
    if (type == "response.output_item.added") {
      EXPECT_EQ(event["output_index"], items.size());
      items.push_back(event["item"]);
      texts.emplace_back();
    } else if (type.find(".delta") != std::string::npos) {
      const size_t at = event["output_index"];
      EXPECT_EQ(event["item_id"], items.at(at)["id"]);
      texts.at(at) += event["delta"];
    }
  }
  return texts;
}

TEST(ReplyFormat, EventsOfAResponseAreNumberedAndInPlace) {
  using Kind = ReplyEvent::Kind;
  struct Case {
    std::vector<ReplyEvent> events;
    std::vector<std::string> types;
    std::vector<std::string> texts;
  };
  const ReplyEvent accepted = EventOf(Kind::kAccepted, "", "");
  const ReplyEvent done = EventOf(Kind::kDone, "", "");
  const std::vector<Case> cases = {
      {{accepted, EventOf(Kind::kText, "a", ""), EventOf(Kind::kText, "b", "c"),
        EventOf(Kind::kText, "", "d"), EventOf(Kind::kFinish, "ab", "cd"), done},
       {"reasoning", "message"},
       {"ab", "cd"}},
      {{accepted, EventOf(Kind::kText, "", "c"), EventOf(Kind::kText, "a", ""),
        EventOf(Kind::kFinish, "ca", ""), done},  // what was sent as content stays content
       {"message", "reasoning"},
       {"c", "a"}},
      {{accepted, EventOf(Kind::kFinish, "", ""), done}, {"message"}, {""}}};
  for (const Case& one : cases) {
    const std::unique_ptr<ReplyFormat> format = MakeResponsesFormat(OneRun(), "1", 0);
    const std::vector<Json> events = Streamed(*format, one.events);
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i]["sequence_number"], i) << events[i];
    }
    EXPECT_EQ(Joined(events), one.texts);
    EXPECT_EQ(events.back()["type"], "response.incomplete");
    const Json& output = events.back()["response"]["output"];
    ASSERT_EQ(output.size(), one.types.size());
    for (size_t i = 0; i < output.size(); ++i) {
      EXPECT_EQ(output[i]["type"], one.types[i]);
      EXPECT_EQ(output[i]["status"], "incomplete");
      EXPECT_EQ(output[i]["content"][0]["text"], one.texts[i]);
    }
  }
}

TEST(ReplyFormat, AnEventIsOneLine) {
  const std::string event = ServerSentEvent("hyper.notice", {{"text", "two\nlines"}});
  EXPECT_EQ(event, "event: hyper.notice\ndata: {\"text\":\"two\\nlines\"}\n\n");
}

}  // namespace
}  // namespace hyper::server

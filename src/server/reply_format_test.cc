#include "src/server/reply_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyper {
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

TEST(ReplyFormat, AnEventIsOneLine) {
  const std::string event = ServerSentEvent("hyper.notice", {{"text", "two\nlines"}});
  EXPECT_EQ(event, "event: hyper.notice\ndata: {\"text\":\"two\\nlines\"}\n\n");
}

}  // namespace
}  // namespace hyper

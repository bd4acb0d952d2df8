// Log-probabilities of tokens that hold parts of a character: their bytes are those of the text, in
// a stream and in the whole reply (ollama #13497, vLLM #31135).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/server/api/reply_format.h"

namespace hyper::server {
namespace {

// U+1F60A over four tokens, between plain ones.
const std::vector<std::string> kPieces = {"Hi ", "\xF0", "\x9F", "\x98", "\x8A", "!"};
const std::string kText = "Hi \xF0\x9F\x98\x8A!";

ApiRequest ByteRequest() {
  ApiRequest request;
  request.runs.resize(1);
  request.model = "m";
  return request;
}

// The events of a run that writes the pieces: text arrives once its character is whole.
std::vector<ReplyEvent> Events() {
  std::vector<ReplyEvent> events;
  events.emplace_back().kind = ReplyEvent::Kind::kAccepted;
  for (size_t i = 0; i < kPieces.size(); ++i) {
    ReplyEvent event;
    event.content = i == 4 ? "\xF0\x9F\x98\x8A" : i == 0 || i == 5 ? kPieces[i] : "";
    event.logprobs.push_back({kPieces[i], -0.5F, {{kPieces[i], -0.5F}, {"x", -9999.0F}}});
    events.push_back(event);
  }
  ReplyEvent finish;
  finish.kind = ReplyEvent::Kind::kFinish;
  finish.content = kText;
  finish.finish_reason = "stop";
  events.push_back(finish);
  events.emplace_back().kind = ReplyEvent::Kind::kDone;
  return events;
}

// The bytes of all entries, joined; every entry's rivals begin with the token itself.
std::string Joined(const Json& entries) {
  std::string bytes;
  for (const Json& entry : entries) {
    for (const Json& byte : entry["bytes"]) {
      bytes += static_cast<char>(byte.get<int>());
    }
    EXPECT_EQ(entry["top_logprobs"][0]["bytes"], entry["bytes"]);
    EXPECT_LE(entry["logprob"].get<double>(), 0.0);
  }
  return bytes;
}

TEST(LogprobBytes, OfTheWholeReplyJoinToItsText) {
  const auto format = MakeChatFormat(ByteRequest(), "id", 0);
  for (const ReplyEvent& event : Events()) {
    format->Collect(event);
  }
  const Json choice = format->Body()["choices"][0];
  EXPECT_EQ(choice["message"]["content"], kText);
  EXPECT_EQ(choice["logprobs"]["content"].size(), kPieces.size());
  EXPECT_EQ(Joined(choice["logprobs"]["content"]), kText);
  EXPECT_EQ(choice["logprobs"]["content"][1]["bytes"], Json::array({0xF0}));
}

TEST(LogprobBytes, OfAStreamJoinToItsText) {
  const auto format = MakeChatFormat(ByteRequest(), "id", 0);
  std::string bytes;
  std::string content;
  for (const ReplyEvent& event : Events()) {
    const std::string sent = format->Stream(event);
    for (size_t at = sent.find("data: {"); at != std::string::npos;
         at = sent.find("data: {", at + 1)) {
      const Json chunk = Json::parse(sent.substr(at + 6, sent.find('\n', at) - at - 6));
      const Json& choice = chunk["choices"].at(0);
      content += choice["delta"].value("content", "");
      if (choice.contains("logprobs") && choice["logprobs"].is_object()) {
        bytes += Joined(choice["logprobs"]["content"]);
      }
    }
  }
  EXPECT_EQ(bytes, kText);
  EXPECT_EQ(content, kText);
}

TEST(LogprobBytes, OfACompletionGiveTheOffsets) {
  const auto format = MakeCompletionFormat(ByteRequest(), "id", 0);
  for (const ReplyEvent& event : Events()) {
    format->Collect(event);
  }
  const Json choice = format->Body()["choices"][0];
  EXPECT_EQ(choice["text"], kText);
  EXPECT_EQ(choice["logprobs"]["text_offset"], Json::array({0, 3, 3, 3, 3, 4}));
}

}  // namespace
}  // namespace hyper::server

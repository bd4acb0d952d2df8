// Ends of streams: what a server may send behind a text or in place of one, and what is told of it.
#include "src/engine/remote/wire/stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyper::remote {
namespace {

class StreamEnds : public ::testing::Test {
 protected:
  StreamEnds() { stream_.asked_tokens = 100; }

  std::string Text() const {
    std::string text;
    for (const ChunkToken& token : stream_.tokens) {
      text += token.bytes;
    }
    return text;
  }

  ChunkParser parser_;
  std::vector<LaneId> changed_;
  Stream stream_{parser_, 1, changed_, "sk-secret"};
};

TEST_F(StreamEnds, ALongCompletionThatIsNotStreamedComesWhole) {
  const std::string text(300'000, 'x');
  stream_.OnData(200, R"({"choices":[{"text":")" + text + R"("}]})");
  stream_.OnDone({200, "", -1});
  EXPECT_EQ(Text(), text);
  EXPECT_EQ(stream_.end.kind, StreamEnd::Kind::kStop) << "though it tells no finish_reason";
}

std::string Delta(const std::string& field, const std::string& text) {
  return R"(data: {"choices":[{"delta":{")" + field + R"(":")" + text + "\"}}]}\n\n";
}

// As a server that splits reasoning only when it streams writes it.
TEST_F(StreamEnds, ReasoningThatComesApartKeepsItsTags) {
  stream_.OnData(200, Delta("content", "") + Delta("reasoning_content", "so ") +
                          Delta("reasoning_content", "it is") + Delta("content", "42") +
                          Delta("content", "."));
  EXPECT_EQ(Text(), "<think>\nso it is\n</think>\n\n42.");
}

TEST_F(StreamEnds, ReasoningThatThePromptOpenedIsNotOpenedAgain) {
  stream_.in_reasoning = true;
  stream_.OnData(200, Delta("reasoning", "it is") + Delta("content", "42"));
  EXPECT_EQ(Text(), "it is\n</think>\n\n42");
}

TEST_F(StreamEnds, TagsInTheTextStayWhereTheyAre) {
  stream_.in_reasoning = true;
  stream_.OnData(200, Delta("content", "it is</think>") + Delta("content", "42"));
  EXPECT_EQ(Text(), "it is</think>42");
}

TEST_F(StreamEnds, AContentFiltersEndIsNotTheModels) {
  stream_.OnData(200,
                 "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"content_filter\"}]}\n\n");
  EXPECT_EQ(stream_.end.kind, StreamEnd::Kind::kFailed);
  EXPECT_NE(stream_.end.error.find("content filter"), std::string::npos);
  EXPECT_FALSE(stream_.end.retry);
}

TEST_F(StreamEnds, EventsWithoutDataAreNothing) {
  stream_.OnData(200, "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata:\n\n");
  EXPECT_EQ(stream_.end.kind, StreamEnd::Kind::kOpen) << stream_.end.error;
  EXPECT_EQ(Text(), "a");
}

TEST_F(StreamEnds, WhatComesBehindTheEndChangesNothing) {
  stream_.OnData(200, "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\n");
  stream_.OnData(200, "data: bye\n\ndata: {\"error\":{\"message\":\"late\"}}\n\n");
  stream_.OnDone({200, "", -1});
  EXPECT_EQ(stream_.end.kind, StreamEnd::Kind::kStop) << stream_.end.error;
}

TEST_F(StreamEnds, ACutLeavesNoPartOfTheKey) {
  for (size_t before = 385; before <= 400; ++before) {
    Stream refused(parser_, 1, changed_, "sk-secret");
    refused.OnData(400, R"({"error":{"message":")" + std::string(before, 'x') + R"(sk-secret"}})");
    refused.OnDone({400, "", -1});
    EXPECT_EQ(refused.end.error.find("sk"), std::string::npos) << before << refused.end.error;
    Stream broken(parser_, 1, changed_, "sk-secret");
    broken.OnData(200, "data: " + std::string(before, 'x') + "sk-secret\n\n");
    EXPECT_EQ(broken.end.kind, StreamEnd::Kind::kFailed);
    EXPECT_EQ(broken.end.error.find("sk"), std::string::npos) << before << broken.end.error;
  }
}

TEST_F(StreamEnds, ACutLeavesWholeCharacters) {
  std::string words = "x";
  for (int i = 0; i < 300; ++i) {
    words += "\xE4\xBD\xA0";
  }
  stream_.OnData(400, R"({"error":{"message":")" + words + R"("}})");
  stream_.OnDone({400, "", -1});
  EXPECT_TRUE(stream_.end.error.ends_with("\xE4\xBD\xA0"));
}

TEST_F(StreamEnds, TheContextIsReadOutOfARefusal) {
  const auto end = [this](const std::string& error) {
    Stream refused(parser_, 1, changed_);
    refused.OnData(400, R"({"error":)" + error + "}");
    refused.OnDone({400, "", -1});
    return refused.end;
  };
  EXPECT_EQ(
      end(R"({"message":"This model's maximum context length is 4096 tokens."})").context_tokens,
      4096);
  EXPECT_EQ(end(R"({"message":"the model's context length is only 2048 tokens"})").context_tokens,
            2048);
  EXPECT_EQ(end(R"({"message":"beyond the context length"})").context_tokens, 0);
  const StreamEnd llama = end(
      R"({"message":"the request exceeds the available context size","type":"exceed_context_size_error"})");
  EXPECT_TRUE(llama.context_full);
  EXPECT_TRUE(llama.prompt_too_long);
}

}  // namespace
}  // namespace hyper::remote

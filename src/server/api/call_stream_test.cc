#include "src/server/api/call_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hyper::server {
namespace {

// A notation of calls for tests: words, then "!name(arguments)" any number of times.
ReadReply ReadMarks(std::string_view text, bool whole) {
  ReadReply reply;
  reply.content = text.substr(0, text.find('!'));
  for (size_t at = text.find('!'); at != std::string_view::npos; at = text.find('!', at + 1)) {
    const size_t open = text.find('(', at);
    if (open == std::string_view::npos) {
      break;  // its name is not whole yet
    }
    const size_t close = text.find(')', open);
    reply.calls.push_back({std::string(text.substr(at + 1, open - at - 1)),
                           std::string(text.substr(open + 1, close - open - 1))});
  }
  if (whole && reply.calls.empty()) {
    reply.content = text;
  }
  return reply;
}

struct Got {
  std::string content;
  std::vector<CallPart> calls;  // joined
  int parts = 0;
};

void Add(const CallStream::Delta& delta, Got& got) {
  got.content += delta.content;
  for (const CallPart& part : delta.calls) {
    ++got.parts;
    const auto index = static_cast<size_t>(part.index);
    if (index == got.calls.size()) {
      EXPECT_FALSE(part.id.empty());
      got.calls.push_back(part);
    } else {
      EXPECT_EQ(part.id + part.name, "");
      got.calls.at(index).arguments += part.arguments;
    }
  }
}

Got Sent(const std::string& text, CallStream& stream) {
  Got got;
  for (const char byte : text) {
    Add(stream.Push(std::string(1, byte)), got);
  }
  Add(stream.Finish(), got);
  return got;
}

TEST(CallStream, SendsWordsAndCallsAsTheyCome) {
  CallStream stream(ReadMarks, "call_r_0");
  const Got got = Sent("I look. !weather({\"city\": 1})!stop({})", stream);
  EXPECT_EQ(got.content, "I look. ");
  ASSERT_EQ(got.calls.size(), 2U);
  EXPECT_EQ(got.calls[0].id, "call_r_0_0");
  EXPECT_EQ(got.calls[0].name, "weather");
  EXPECT_EQ(got.calls[0].arguments, "{\"city\": 1}");
  EXPECT_EQ(got.calls[1].id, "call_r_0_1");
  EXPECT_EQ(got.calls[1].arguments, "{}");
  EXPECT_GT(got.parts, 5);
  ASSERT_EQ(stream.calls().size(), 2U);
  EXPECT_EQ(stream.calls()[0].arguments, "{\"city\": 1}");
  EXPECT_EQ(stream.calls()[1].name, "stop");
}

TEST(CallStream, TextThatWasNoCallIsSentAtTheEnd) {
  CallStream stream(ReadMarks, "c");
  const Got got = Sent("Stop! Now", stream);
  EXPECT_EQ(got.content, "Stop! Now");
  EXPECT_TRUE(stream.calls().empty());
}

TEST(CallStream, KeepsCharactersWhole) {
  CallStream stream(ReadMarks, "c");
  EXPECT_EQ(stream.Push("a\xc3").content, "a");
  EXPECT_EQ(stream.Push("\xa9").content, "\xc3\xa9");
}

TEST(CallStream, ReadsALongTextNotForEachToken) {
  int reads = 0;
  CallStream stream(
      [&reads](std::string_view text, bool /*whole*/) {
        ++reads;
        return ReadReply{"", std::string(text), {}};
      },
      "c");
  const std::string text(20000, 'x');
  EXPECT_EQ(Sent(text, stream).content, text);
  EXPECT_LT(reads, 1000);
}

}  // namespace
}  // namespace hyper::server

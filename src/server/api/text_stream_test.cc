#include "src/server/api/text_stream.h"

#include <gtest/gtest.h>

#include "src/base/utf8.h"

namespace hyper::server {
namespace {

struct Parts {
  std::string reasoning;
  std::string content;
  bool stopped = false;
  friend bool operator==(const Parts&, const Parts&) = default;
};

void PrintTo(const Parts& parts, std::ostream* out) {
  *out << "[" << parts.reasoning << "][" << parts.content << "] " << parts.stopped;
}

// The deltas joined, when the text comes in pieces of `size` bytes.
Parts Streamed(const std::string& text, size_t size, TextStream::Options options) {
  TextStream stream(std::move(options));
  Parts parts;
  const auto take = [&parts](const TextStream::Delta& delta) {
    EXPECT_EQ(base::ValidUtf8(delta.content), delta.content);
    parts.reasoning += delta.reasoning;
    parts.content += delta.content;
  };
  for (size_t at = 0; at < text.size(); at += size) {
    take(stream.Push(text.substr(at, size)));
  }
  take(stream.Finish());
  EXPECT_EQ(stream.reasoning(), parts.reasoning);
  EXPECT_EQ(stream.content(), parts.content);
  parts.stopped = stream.stopped();
  return parts;
}

void ExpectParts(const std::string& text, const TextStream::Options& options, const Parts& parts) {
  for (size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(Streamed(text, size, options), parts) << text << " in pieces of " << size;
  }
}

TextStream::Options Stops(std::vector<std::string> stop) {
  TextStream::Options options;
  options.stop = std::move(stop);
  return options;
}

TEST(TextStream, CutsAtAStopStringThatSpansTokens) {
  ExpectParts("alpha beta gamma delta", Stops({"beta gamma"}), {"", "alpha ", true});
  ExpectParts("L M N O P Q R", Stops({"O P Q"}), {"", "L M N ", true});
  ExpectParts("ababac", Stops({"abac"}), {"", "ab", true});
}

TEST(TextStream, GivesABegunStopStringOnce) {
  ExpectParts(" Alice!", Stops({"\n", "Alice:"}), {"", " Alice!", false});
  ExpectParts("ends with beta", Stops({"beta gamma"}), {"", "ends with beta", false});
}

TEST(TextStream, StopsAtTheEarliestOfSeveral) {
  ExpectParts("one two three", Stops({"three", "two"}), {"", "one ", true});
}

TEST(TextStream, StopStringsDoNotCutReasoning) {
  ExpectParts("<think>a\n\nb</think>7\n\nmore", Stops({"\n\n"}), {"a\n\nb", "7", true});
  ExpectParts("<think>9.8 is less</think>9.11", Stops({"9.8"}), {"9.8 is less", "9.11", false});
}

TEST(TextStream, NeverSplitsACharacter) {
  const std::string text = "\xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x8C\x8D";
  ExpectParts(text, {}, {"", text, false});
}

TEST(TextStream, LeavesACutCharacterOut) { ExpectParts("ok \xF0\x9F", {}, {"", "ok ", false}); }

TEST(TextStream, ReplacesBytesThatAreNoUtf8) {
  ExpectParts(
      "a\xFF"
      "b\xC0\xAF",
      {},
      {"",
       "a\xEF\xBF\xBD"
       "b\xEF\xBF\xBD\xEF\xBF\xBD",
       false});
}

TEST(TextStream, KnowsOtherTags) {
  ExpectParts("[THINK]x[/THINK]y", {}, {"x", "y", false});
  ExpectParts("<thought>x</thought>y", {}, {"x", "y", false});
}

TEST(TextStream, NestedTagsStayInTheReasoning) {
  ExpectParts("<think>a<think>b</think>c</think>d", {}, {"a<think>b</think>c", "d", false});
}

TEST(TextStream, AnOpeningTagTooManyIsText) {
  ExpectParts("<think><think>a</think>b \\boxed{4}", {}, {"<think>a", "b \\boxed{4}", false});
  ExpectParts("<think>the <think> tag</think>d", {}, {"the <think> tag", "d", false});
  ExpectParts("<think>a <think> b</think>c </think> d</think>e", {},
              {"a <think> b</think>c", "de", false});
  ExpectParts("<think>a<think>b</think>4 x", Stops({" x"}), {"a<think>b", "4", true});
}

std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

// All texts of up to seven pieces that start in a block, against the split of the whole text.
TEST(TextStream, SplitsAsTheWholeTextIsSplit) {
  const std::vector<std::string> pieces = {"<think>", "</think>", "x\n"};
  std::vector<std::string> texts = {""};
  for (size_t begin = 0, round = 0; round < 7; ++round) {
    const size_t end = texts.size();
    for (; begin < end; ++begin) {
      for (const std::string& piece : pieces) {
        texts.push_back(texts[begin] + piece);
      }
    }
  }
  for (const std::string& tail : texts) {
    for (const bool opened : {false, true}) {
      const std::string text = opened ? "r\n" + tail : "<think>r\n" + tail;
      TextStream::Options options;
      options.starts_in_reasoning = opened;
      const ReasoningSplit split = SplitReasoning(text, options.tags, opened);
      const Parts parts = Streamed(text, 3, options);
      EXPECT_EQ(WithoutBlanks(parts.reasoning), WithoutBlanks(JoinSpans(text, split.reasoning)))
          << text << (opened ? " (opened)" : "");
      EXPECT_EQ(WithoutBlanks(parts.content), WithoutBlanks(JoinSpans(text, split.content)))
          << text << (opened ? " (opened)" : "");
    }
  }
}

TEST(TextStream, TheTemplatesTagWrittenAgainIsLeftOut) {
  TextStream::Options options;
  options.starts_in_reasoning = true;
  ExpectParts("<think>r</think>d", options, {"r", "d", false});
  ExpectParts("\n<think>r</think>d", options, {"r", "d", false});
  ExpectParts("r <think> s</think>d", options, {"r <think> s", "d", false});
}

TEST(TextStream, UnclosedReasoningIsAllReasoning) {
  ExpectParts("<think>I get \\boxed{7} maybe", {}, {"I get \\boxed{7} maybe", "", false});
}

TEST(TextStream, TheTemplateMayOpenTheReasoning) {
  TextStream::Options options;
  options.starts_in_reasoning = true;
  ExpectParts("reasoning here\n</think>\n\nThe answer is 42.", options,
              {"reasoning here", "The answer is 42.", false});
}

TEST(TextStream, AStrayClosingTagIsLeftOut) {
  ExpectParts("</think>\n\nHello", {}, {"", "Hello", false});
}

// What a stream has sent as content stays content, so the whole text is parted in the same way.
TEST(TextStream, AClosingTagAloneStaysInTheContent) {
  ExpectParts("thoughts</think>\n42", {}, {"", "thoughts</think>\n42", false});
  ExpectParts("write <think> and </think> so", {}, {"", "write <think> and </think> so", false});
}

TEST(TextStream, ATagInsideALineIsText) {
  ExpectParts("write <think> first", {}, {"", "write <think> first", false});
}

TEST(TextStream, KeepsLeadingSpaceOfPlainContent) {
  ExpectParts("  x < y", {}, {"", "  x < y", false});
}

}  // namespace
}  // namespace hyper::server

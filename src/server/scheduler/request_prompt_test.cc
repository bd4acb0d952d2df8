#include "src/server/scheduler/request_prompt.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace hyper::server {
namespace {

// The start of a reply behind a prompt that ends in `rendered`; tags stand in braces.
std::string Start(const std::string& rendered, bool opened, const AssistantStart& start) {
  Prompt prompt;
  prompt.text = rendered;
  prompt.reasoning_opened = opened;
  std::string text;
  for (const StartPiece& piece : StartPieces(prompt, start)) {
    text += piece.tag ? "{" + piece.text + "}" : piece.text;
  }
  return text;
}

TEST(StartPieces, ContentFollowsThePrompt) {
  EXPECT_EQ(Start("<|assistant|>\n", false, {"", "The answer"}), "The answer");
}

TEST(StartPieces, ReasoningStandsInTags) {
  EXPECT_EQ(Start("a\n", false, {"hm", ""}), "{<think>\n}hm");
  EXPECT_EQ(Start("a\n", false, {"hm", "42"}), "{<think>\n}hm{\n</think>\n\n}42");
}

TEST(StartPieces, ContentClosesWhatTheTemplateHasOpened) {
  EXPECT_EQ(Start("a\n<think>\n", true, {"hm", ""}), "hm");
  EXPECT_EQ(Start("a\n<think>\n", true, {"", "42"}), "{\n</think>\n\n}42");
  EXPECT_EQ(Start("a[THINK]", true, {"hm", "42"}), "hm{\n[/THINK]\n\n}42");
}

}  // namespace
}  // namespace hyper::server

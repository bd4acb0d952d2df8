#include <gtest/gtest.h>

#include <string>

#include "hyper/extract.h"

namespace hyper {
namespace {

TEST(SplitReasoning, TakesTagsOfTheCaller) {
  const std::vector<TagPair> tags = {{"{{", "}}"}, {"{{{", "}}}"}};
  const std::string text = "{{{ a }} b }}} c {{ d }} e";
  const ReasoningSplit split = SplitReasoning(text, tags, false);
  EXPECT_EQ(JoinSpans(text, split.reasoning), "a }} b\nd");
  EXPECT_EQ(JoinSpans(text, split.content), "c\ne");
  EXPECT_FALSE(split.unclosed);
}

TEST(SplitReasoning, WithoutTagsAllIsContent) {
  const std::string text = " <think>a</think>b ";
  const ReasoningSplit split = SplitReasoning(text, {}, false);
  ASSERT_EQ(split.content.size(), 1U);
  EXPECT_TRUE(split.reasoning.empty());
  EXPECT_EQ(split.content[0].begin, 1U);
  EXPECT_EQ(split.content[0].end, text.size() - 1);
}

TEST(SplitReasoning, IgnoresEmptyTags) {
  const std::vector<TagPair> tags = {{"", "</think>"}, {"<think>", ""}};
  const std::string text = "a</think>b";
  EXPECT_EQ(JoinSpans(text, SplitReasoning(text, tags, false).content), "b");
}

TEST(SplitReasoning, KeepsPlacesInTheText) {
  const std::string text = "<think>\n  ab \n</think>\n\ncd\n";
  const ReasoningSplit split = SplitReasoning(text, DefaultThinkTags(), false);
  ASSERT_EQ(split.reasoning.size(), 1U);
  ASSERT_EQ(split.content.size(), 1U);
  EXPECT_EQ(split.reasoning[0].begin, text.find("ab"));
  EXPECT_EQ(split.reasoning[0].end, text.find("ab") + 2);
  EXPECT_EQ(split.content[0].begin, text.find("cd"));
  EXPECT_EQ(split.content[0].end, text.find("cd") + 2);
}

TEST(SplitReasoning, EveryDefaultPairWorks) {
  for (const TagPair& pair : DefaultThinkTags()) {
    for (const bool opened : {false, true}) {
      const std::string text = (opened ? "" : pair.open) + "x" + pair.close + "y";
      const ReasoningSplit split = SplitReasoning(text, DefaultThinkTags(), opened);
      EXPECT_EQ(JoinSpans(text, split.reasoning), "x") << pair.open;
      EXPECT_EQ(JoinSpans(text, split.content), "y") << pair.open;
    }
  }
}

TEST(PromptOpensReasoning, LooksOnlyAtTheEnd) {
  const std::vector<TagPair> tags = DefaultThinkTags();
  EXPECT_TRUE(PromptOpensReasoning("<|im_start|>assistant\n<think>\n", tags));
  EXPECT_TRUE(PromptOpensReasoning("[THINK]", tags));
  // A tag in the user's message opens nothing (T08).
  EXPECT_FALSE(
      PromptOpensReasoning("What does <think> do?<|im_end|>\n<|im_start|>assistant\n", tags));
  // A template that switches thinking off writes an empty block.
  EXPECT_FALSE(PromptOpensReasoning("<|im_start|>assistant\n<think>\n\n</think>\n\n", tags));
  EXPECT_FALSE(PromptOpensReasoning("", tags));
  EXPECT_FALSE(PromptOpensReasoning("x", std::vector<TagPair>{{"", ""}}));
}

}  // namespace
}  // namespace hyper

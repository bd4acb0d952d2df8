#include "src/decode/methods/step_boundary.h"

#include <gtest/gtest.h>

#include "hyper/fake_engine.h"

namespace hyper {
namespace {

// Number of the token with which the step ends, from 1; 0: with none of them.
int EndsWith(const std::string& delimiter, int limit, const std::vector<std::string>& tokens) {
  StepBoundary boundary(delimiter, limit);
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(boundary.remaining(), limit - static_cast<int>(i));
    if (boundary.Push(tokens[i])) {
      return static_cast<int>(i) + 1;
    }
  }
  return 0;
}

TEST(StepBoundary, EndsWithTheTokenThatCompletesTheDelimiter) {
  EXPECT_EQ(EndsWith("\n", 99, {"1", "+", "1", "\n", "2"}), 4);
  EXPECT_EQ(EndsWith("\n\n", 99, {"a", "\n", "b", "\n", "\n", "c"}), 5);
  EXPECT_EQ(EndsWith("\n\n", 99, {"a\n\nb", "c"}), 1);
  EXPECT_EQ(EndsWith("\n\n", 99, {"a", ".\n", "\nb"}), 3);
  EXPECT_EQ(EndsWith("Step ", 99, {"Step", " 1", " Step", " 2"}), 4);
  EXPECT_EQ(EndsWith("\n", 99, {"a", "b"}), 0);
}

TEST(StepBoundary, NothingButWhiteSpaceIsNoStep) {
  EXPECT_EQ(EndsWith("\n", 99, {"\n", " ", "\n", "a", "\n"}), 5);
  EXPECT_EQ(EndsWith("\n\n", 99, {"\n\n", "a", "\n\n"}), 3);
  EXPECT_EQ(EndsWith("\n\n", 99, {"\n\na"}), 0);
}

TEST(StepBoundary, EndsAtItsLimit) {
  EXPECT_EQ(EndsWith("\n", 3, {"a", "b", "c", "\n"}), 3);
  EXPECT_EQ(EndsWith("\n", 3, {"\n", "\n", "\n", "\n"}), 3);
  EXPECT_EQ(EndsWith("\n", 1, {"a"}), 1);
}

TEST(SplitSteps, CoversThePathWithoutGaps) {
  FakeEngine engine({});
  Path path;
  path.id = 4;
  for (const char c : std::string("\nab\nc\nlonger\nx")) {
    path.tokens.push_back(c);
  }
  path.tokens.push_back(FakeEngine::kEnd);
  const std::vector<StepSpan> steps = SplitSteps(engine, path, "\n", 4);
  std::vector<std::pair<int, int>> spans;
  for (const StepSpan& step : steps) {
    EXPECT_EQ(step.path, 4);
    spans.emplace_back(step.begin, step.end);
  }
  // "\nab\n", "c\n", "long", "er\n", "x<end>"
  EXPECT_EQ(spans, (std::vector<std::pair<int, int>>{{0, 4}, {4, 6}, {6, 10}, {10, 13}, {13, 15}}));
  path.tokens.clear();
  EXPECT_TRUE(SplitSteps(engine, path, "\n", 4).empty());
}

}  // namespace
}  // namespace hyper

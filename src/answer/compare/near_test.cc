#include "src/answer/compare/near.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "src/answer/read/reader.h"

namespace hyper::answer {
namespace {

NearRange Of(const std::string& answer, const EqualOptions& options = {}) {
  Budget budget(options.max_steps, options.max_bytes);
  const Reading reading = ReadAnswer(answer, {}, budget);
  EXPECT_NE(reading.tree.root, kNoNode) << answer;
  return NearRangeOf(reading.tree, reading.tree.root, options, budget);
}

bool IsKnown(const NearRange& range) { return std::isfinite(range.low); }

TEST(NearTest, HoldsTheValueAndLittleElse) {
  for (const auto& [answer, value] : {std::pair<const char*, double>{"18", 18},
                                      {"\\frac{3}{8}", 0.375},
                                      {"\\sqrt{2}", std::sqrt(2)},
                                      {"3 + 4i", 3},
                                      {"(7, -2)", 7},
                                      {"\\{1, 5, 2\\}", 5},
                                      {"[0, 9)", 9}}) {
    const NearRange range = Of(answer);
    EXPECT_LE(range.low, value) << answer;
    EXPECT_GE(range.high, value) << answer;
    EXPECT_LT(range.high - range.low, 1e-12) << answer;
  }
}

TEST(NearTest, TellsDifferentAnswersApart) {
  EXPECT_FALSE(Overlap(Of("2"), Of("3")));
  EXPECT_FALSE(Overlap(Of("(1, 2)"), Of("(1, 3)")));
  EXPECT_FALSE(Overlap(Of("x + 1"), Of("x + 2")));
  EXPECT_FALSE(Overlap(Of("\\sqrt{2}"), Of("1.41421356")));
}

TEST(NearTest, KnowsNothingOfWhatMayEqualSeveralThings) {
  for (const char* const answer :
       {"50\\%", "35 \\text{ cm}", "x = 5", "\\text{five}", "1 \\pm 2", "\\log 5", "f(2)", "x < 3",
        "(1, \\infty)", "\\{\\}", "3:4", "[5, 2)", "\\{(1, 2)\\}"}) {
    EXPECT_FALSE(IsKnown(Of(answer))) << answer;
  }
  EqualOptions rounded;
  rounded.rounded = true;
  EXPECT_FALSE(IsKnown(Of("33.3", rounded)));
  EqualOptions renamed;
  renamed.allow_renamed_constants = true;
  EXPECT_FALSE(IsKnown(Of("2k + 1", renamed)));
}

TEST(NearTest, KnowsNothingOnceTheBudgetIsSpent) {
  Budget budget(100'000, 1 << 20);
  const Reading reading = ReadAnswer("1 + 2", {}, budget);
  budget.Exhaust();
  EXPECT_FALSE(IsKnown(NearRangeOf(reading.tree, reading.tree.root, {}, budget)));
}

TEST(NearTest, ValuesBeyondTheReachOfDoubleStayComparable) {
  EXPECT_TRUE(Overlap(Of("10^{400}"), Of("10^{400} + 1")));
  EXPECT_FALSE(Overlap(Of("10^{400}"), Of("1")));
}

}  // namespace
}  // namespace hyper::answer

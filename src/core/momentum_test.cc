#include "src/core/momentum.h"

#include <gtest/gtest.h>

#include <tuple>

namespace hyper {
namespace {

std::tuple<int, int, int, int, int, int, int, int> WholeNumbers(const MomentumRules& rules) {
  return {rules.first_paths, rules.most_paths, rules.warmup, rules.patience,
          rules.window,      rules.burst,      rules.opened, rules.least_finished};
}

TEST(Momentum, TheRulesAreThoseOfTheSchedule) {
  // Computed with the published program's own schedule at these values of beta.
  EXPECT_EQ(WholeNumbers(MomentumRulesOf(0)), std::make_tuple(2, 4, 2, 3, 2, 1, 1, 2));
  EXPECT_EQ(WholeNumbers(MomentumRulesOf(0.25)), std::make_tuple(4, 19, 4, 5, 4, 2, 2, 3));
  EXPECT_EQ(WholeNumbers(MomentumRulesOf(0.5)), std::make_tuple(5, 34, 6, 8, 5, 2, 2, 4));
  EXPECT_EQ(WholeNumbers(MomentumRulesOf(1)), std::make_tuple(8, 64, 10, 12, 8, 3, 4, 5));
  const MomentumRules rules = MomentumRulesOf(0.5);
  EXPECT_DOUBLE_EQ(rules.weight, 0.5);
  EXPECT_DOUBLE_EQ(rules.level, 0.91);
  EXPECT_DOUBLE_EQ(rules.slack, 0.025);
  EXPECT_DOUBLE_EQ(rules.trend, 0.025);
  EXPECT_EQ(WholeNumbers(MomentumRules()), WholeNumbers(rules)) << "the defaults are those of 0.5";
}

class MomentumRound : public ::testing::Test {
 protected:
  MomentumStep Round(double before, double after, int finished) {
    BeginMomentumRound(before, rules_, state_);
    return EndMomentumRound(after, finished, rules_, state_);
  }

  MomentumRules rules_ = {2, 8, 3, 3, 3, 0.5, 0.8, 0.02, 1, 1, 0.05, 2};
  MomentumState state_;
};

TEST_F(MomentumRound, TheMeanTakesEachRoundTwice) {
  Round(0.5, 0.75, 1);
  // 0 -> 0.25 -> 0.5
  EXPECT_DOUBLE_EQ(state_.mean, 0.5);
  EXPECT_EQ(state_.recent, (std::vector<double>{0.5}));
  Round(0.75, 0.75, 1);
  // 0.5 -> 0.625 -> 0.6875
  EXPECT_DOUBLE_EQ(state_.mean, 0.6875);
  EXPECT_EQ(state_.recent, (std::vector<double>{0.5, 0.6875}));
  Round(0.75, 0.75, 1);
  Round(0.75, 0.75, 1);
  EXPECT_EQ(state_.recent.size(), 3U) << "as many rounds as the window has";
  EXPECT_DOUBLE_EQ(state_.recent.front(), 0.6875);
}

TEST_F(MomentumRound, ItEndsAfterTheWarmupAtTheLevelWithEnoughFinished) {
  EXPECT_FALSE(Round(1, 1, 5).stop);  // 0.75
  EXPECT_FALSE(Round(1, 1, 5).stop);  // 0.9375, but it is round 1
  EXPECT_FALSE(Round(1, 1, 5).stop);
  EXPECT_TRUE(Round(1, 1, 2).stop) << "round 3 is the first after the warm-up";
}

TEST_F(MomentumRound, TheWeightIsThatOfTheNewConfidence) {
  rules_.weight = 0.25;
  Round(1, 1, 1);
  EXPECT_DOUBLE_EQ(state_.mean, 0.4375);  // 0 -> 0.25 -> 0.4375
}

TEST_F(MomentumRound, TooFewFinishedPathsDoNotEndTheRun) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(Round(1, 1, 1).stop);
  }
  EXPECT_TRUE(Round(1, 1, 2).stop);
}

TEST_F(MomentumRound, AFallingMeanDoesNotEndTheRun) {
  for (int i = 0; i < 5; ++i) {
    Round(1, 1, 5);
  }
  // The mean falls from nearly 1 to 0.86: still at the level.
  EXPECT_FALSE(Round(0.8, 0.82, 5).stop);
  EXPECT_GT(state_.mean, 0.8);
}

TEST_F(MomentumRound, PathsAreOpenedWhileTheMeanIsLowAndFlat) {
  EXPECT_FALSE(Round(0.5, 0.5, 1).widen) << "round 0";
  EXPECT_FALSE(Round(0.5, 0.5, 1).widen) << "it has risen from 0.375 to 0.469";
  EXPECT_FALSE(Round(0.5, 0.5, 1).widen);
  EXPECT_TRUE(Round(0.5, 0.5, 1).widen) << "by 0.029 over three rounds";
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(Round(1, 1, 1).widen) << "it rises, and then it is at the level";
  }
}

}  // namespace
}  // namespace hyper

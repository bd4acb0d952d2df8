#include "src/core/action_values.h"

#include <gtest/gtest.h>

namespace hyper {
namespace {

constexpr const char* kValueTable =
    "single_token=100,0.01,0,0,0,0,0,0,0.02 branch=50,0,0.02,0,-0.01,0,0,0,0";

PoolStatistics ValueStatistics(double confidence, double consensus, double variance) {
  PoolStatistics statistics;
  statistics.confidence = confidence;
  statistics.consensus = consensus;
  statistics.variance = variance;
  return statistics;
}

TEST(ActionValues, TheMostGainPerTokenWins) {
  const ActionValues values = *ParseActionValues(kValueTable);
  EXPECT_DOUBLE_EQ(values[1].cost, 100);
  EXPECT_DOUBLE_EQ(values[1].slopes[6], 0.02);
  EXPECT_DOUBLE_EQ(values[2].cost, 0);
  // SingleToken: (0.01 + 0.02) / 100 = 3e-4; Branch: (0.02 - 0.005) / 50 = 3e-4, 4e-4 with 0.
  EXPECT_EQ(ChooseByValue(values, ValueStatistics(1, 0, 1), ActionSet::All()), Action::kBranch);
  EXPECT_EQ(ChooseByValue(values, ValueStatistics(1, 1, 1), ActionSet::All()),
            Action::kSingleToken);
  EXPECT_EQ(ChooseByValue(values, ValueStatistics(1, 1, 1),
                          ActionSet::All().Without(Action::kSingleToken)),
            Action::kBranch);
  EXPECT_EQ(ChooseByValue(values, ValueStatistics(0, 1, 0),
                          ActionSet::All().Without(Action::kSingleToken)),
            Action::kNone)
      << "a loss";
  EXPECT_EQ(ChooseByValue(*ParseActionValues(""), ValueStatistics(1, 1, 1), ActionSet::All()),
            Action::kNone);
}

TEST(ActionValues, NoGainIsNone) {
  const ActionValues values = *ParseActionValues("multi_token=10,0,0,0,0,0,0,0,0");
  EXPECT_EQ(ChooseByValue(values, ValueStatistics(1, 1, 1), ActionSet::All()), Action::kNone);
}

TEST(ActionValues, WhatIsNoTableIsRefused) {
  for (const char* text :
       {"none=1,0,0,0,0,0,0,0,0", "branch", "branch=", "branch=1,0,0,0,0,0,0,0",
        "branch=0,0,0,0,0,0,0,0,0", "branch=1,0,0,0,0,0,0,0,x", "grow=1,0,0,0,0,0,0,0,0",
        "branch=1,0,0,0,0,0,0,0,inf", "branch=1,0,0,0,0,0,0,0,0,0"}) {
    const auto values = ParseActionValues(text);
    ASSERT_FALSE(values.has_value()) << text;
    EXPECT_NE(values.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace hyper

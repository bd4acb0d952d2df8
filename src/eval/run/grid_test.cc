#include "src/eval/run/grid.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hyper::eval {
namespace {

std::vector<std::string> Labels(const char* text, GridKind kind) {
  const Result<std::vector<GridAxis>> axes = ParseGrid(text);
  EXPECT_TRUE(axes.has_value()) << text;
  std::vector<std::string> labels;
  for (const OptionValues& point : GridPoints(*axes, kind)) {
    labels.push_back(GridLabel(point));
  }
  return labels;
}

TEST(Grid, FullIsEveryCombination) {
  EXPECT_EQ(Labels("interval=8,16 eta=0.2,0.4,0.8", GridKind::kFull),
            (std::vector<std::string>{"interval=8 eta=0.2", "interval=8 eta=0.4",
                                      "interval=8 eta=0.8", "interval=16 eta=0.2",
                                      "interval=16 eta=0.4", "interval=16 eta=0.8"}));
}

TEST(Grid, OneAtATimeBeginsWithNothingChanged) {
  EXPECT_EQ(Labels("interval=8,16 eta=0.2,0.4", GridKind::kOne),
            (std::vector<std::string>{"", "interval=8", "interval=16", "eta=0.2", "eta=0.4"}));
}

TEST(Grid, APlusIsACommaOfAValue) {
  EXPECT_EQ(Labels(" actions=none+branch,none ", GridKind::kFull),
            (std::vector<std::string>{"actions=none,branch", "actions=none"}));
}

TEST(Grid, WhatIsNoGridIsRefused) {
  for (const char* text : {"", " ", "interval", "interval=", "=8", "interval=8,,16", "a=1 a=2"}) {
    const Result<std::vector<GridAxis>> axes = ParseGrid(text);
    ASSERT_FALSE(axes.has_value()) << text;
    EXPECT_EQ(axes.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace hyper::eval

#include "src/core/threshold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

TEST(Threshold, EqualsTheOracle) {
  const auto goldens = CoreGoldens("thresholds");
  ASSERT_GE(goldens.size(), 32U);
  for (const auto& golden : goldens) {
    SCOPED_TRACE(golden.dump());
    const Result<ThresholdRule> rule = ParseThresholdRule(golden["rule"].get<std::string>());
    ASSERT_TRUE(rule.has_value());
    EXPECT_NEAR(ComputeThreshold(*rule, golden["values"].get<std::vector<double>>()),
                golden["threshold"].get<double>(), 1e-12);
  }
}

// Of 16 warm-up paths DeepConf-low keeps two, DeepConf-high fourteen, and top:10 ten.
TEST(Threshold, KeepsAsManyWarmupPathsAsTheRuleSays) {
  std::vector<double> lowest;
  lowest.reserve(16);
  for (int i = 0; i < 16; ++i) {
    lowest.push_back(5 + (i * 7) % 16 * 0.25);
  }
  const auto kept = [&](const char* text) {
    const double threshold = ComputeThreshold(*ParseThresholdRule(text), lowest);
    int count = 0;
    for (double value : lowest) {
      count += value >= threshold ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(kept("percentile:90"), 2);
  EXPECT_EQ(kept("percentile:10"), 14);
  EXPECT_EQ(kept("top:10"), 10);
  EXPECT_EQ(kept("top:1"), 1);
  EXPECT_EQ(kept("top:99"), 16);
}

TEST(Threshold, UnknownConfidencesAreLeftOut) {
  const ThresholdRule top2 = *ParseThresholdRule("top:2");
  EXPECT_EQ(ComputeThreshold(top2, std::vector<double>{3, kNan, kInfinity, 5, 4}), 4);
  EXPECT_EQ(ComputeThreshold(top2, std::vector<double>{kNan, kInfinity}), -kInfinity);
  EXPECT_EQ(ComputeThreshold(top2, {}), -kInfinity);
  EXPECT_EQ(ComputeThreshold(*ParseThresholdRule("percentile:50"), {}), -kInfinity);
}

TEST(Threshold, RulesAreReadAndWritten) {
  for (const char* text : {"top:10", "top:1", "percentile:90", "percentile:0", "percentile:2.5"}) {
    const Result<ThresholdRule> rule = ParseThresholdRule(text);
    ASSERT_TRUE(rule.has_value()) << text;
    EXPECT_EQ(ThresholdRuleText(*rule), text);
  }
}

TEST(Threshold, BadRulesAreRefusedWithTheValueAndTheRemedy) {
  for (const char* text : {"", "top", "top:", "top:0", "top:-3", "top:1.5", "top:10x", "top: 10",
                           "percentile:", "percentile:101", "percentile:-1", "percentile:nan",
                           "percentile:inf", "Top:10", "mean:3", "top:99999999999"}) {
    const Result<ThresholdRule> rule = ParseThresholdRule(text);
    ASSERT_FALSE(rule.has_value()) << text;
    EXPECT_EQ(rule.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(rule.error().message.find(std::string(text) + "' is not"), std::string::npos);
    EXPECT_NE(rule.error().message.find("top:N"), std::string::npos);
  }
}

TEST(ShouldPrune, OnlyAFullWindowStrictlyBelow) {
  ConfidenceWindow window(2);
  EXPECT_FALSE(ShouldPrune(window, 100));
  window.Push(1.0);
  EXPECT_FALSE(ShouldPrune(window, 100));
  window.Push(2.0);
  EXPECT_TRUE(ShouldPrune(window, 1.5 + 1e-12));
  EXPECT_FALSE(ShouldPrune(window, 1.5));
  EXPECT_FALSE(ShouldPrune(window, 1.0));
  EXPECT_FALSE(ShouldPrune(window, -kInfinity));
  EXPECT_FALSE(ShouldPrune(window, kNan));
}

// It is the window that counts, not the path: a good start does not save a bad end.
TEST(ShouldPrune, LooksAtTheWindowOnly) {
  ConfidenceWindow window(2);
  for (double confidence : {50.0, 50.0, 50.0, 1.0, 1.0}) {
    window.Push(confidence);
  }
  EXPECT_TRUE(ShouldPrune(window, 2));
  window.Push(9.0);
  EXPECT_FALSE(ShouldPrune(window, 2));
}

// The path that set the threshold is not pruned by it when decoded again.
TEST(ShouldPrune, SparesThePathThatSetTheThreshold) {
  std::vector<double> confidences;
  confidences.reserve(500);
  for (int i = 0; i < 500; ++i) {
    confidences.push_back(10 + std::sin(i * 0.7) * 3.1);
  }
  const double threshold = LowestWindow(confidences, 64);
  ConfidenceWindow window(64);
  for (double confidence : confidences) {
    window.Push(confidence);
    EXPECT_FALSE(ShouldPrune(window, threshold));
  }
}

TEST(PlanWarmup, ShrinksInProportion) {
  const ThresholdRule top10;
  const auto check = [&](int max_paths, int paths, int top) {
    const WarmupPlan plan = PlanWarmup(16, max_paths, top10);
    EXPECT_EQ(plan.paths, paths) << max_paths;
    EXPECT_EQ(plan.rule.top, top) << max_paths;
  };
  check(80, 16, 10);
  check(32, 16, 10);
  check(31, 15, 9);
  check(16, 8, 5);
  check(4, 2, 1);
  check(1, 2, 1);
}

TEST(Threshold, AnEarlyStartNeedsWhatTheRuleTakes) {
  using Kind = ThresholdRule::Kind;
  struct Row {
    ThresholdRule rule;
    int paths;
    int usable;
    int needed;
  };
  const ThresholdRule top10 = *ParseThresholdRule("top:10");
  const ThresholdRule high = *ParseThresholdRule("percentile:90");
  ThresholdRule off;
  off.kind = Kind::kOff;
  for (const Row& row : {Row{top10, 16, 16, 10}, Row{top10, 16, 8, 5}, Row{top10, 16, 9, 6},
                         Row{top10, 4, 4, 4}, Row{high, 16, 16, 12}, Row{high, 16, 15, 12},
                         Row{off, 8, 8, 6}, Row{top10, 16, 0, 1}, Row{off, 1, 1, 1}}) {
    EXPECT_EQ(WarmupNeeded({row.paths, row.rule}, row.usable), row.needed)
        << ThresholdRuleText(row.rule) << ' ' << row.paths << ' ' << row.usable;
  }
}

}  // namespace
}  // namespace hyper

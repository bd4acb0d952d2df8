#include "apps/hyper/printers/bench_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hyper::app {
namespace {

TEST(Spread, MedianAndDeviationOfOddAndEvenCounts) {
  const Spread odd = SpreadOf({5, 1, 100});
  EXPECT_EQ(odd.median, 5);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 100);
  EXPECT_EQ(odd.median_deviation, 4);  // of 0, 4, 95
  const Spread even = SpreadOf({1, 2, 4, 9});
  EXPECT_EQ(even.median, 3);
  EXPECT_EQ(even.median_deviation, 1.5);  // of 2, 1, 1, 6
  EXPECT_EQ(SpreadOf({7}).median_deviation, 0);
}

TEST(Bench, SharesAreOfAllRunsTogether) {
  BenchReport report;
  report.runs = {{100, 1.0, 0.5, 0.25, 0.125, 4}, {300, 3.0, 2.5, 0.25, 0.125, 4}};
  const TimeShares shares = SharesOf(report);
  EXPECT_DOUBLE_EQ(shares.engine, 0.75);
  EXPECT_DOUBLE_EQ(shares.sampler, 0.125);
  EXPECT_DOUBLE_EQ(shares.statistics, 0.0625);
  EXPECT_DOUBLE_EQ(shares.rest, 0.0625);
  EXPECT_EQ(SpeedsOf(report), (std::vector<double>{100, 100}));
  const auto json = nlohmann::json::parse(BenchToJson(report));
  EXPECT_EQ(json["tokens_per_s"]["median"], 100);
  EXPECT_EQ(json["runs"][1]["tokens"], 300);
  EXPECT_NE(BenchToText(report).find("engine 75.0 %"), std::string::npos);
}

TEST(Bench, DecodingLeavesThePromptOut) {
  BenchReport report;
  report.runs = {{100, 1.0, 0.5, 0.25, 0.125, 4, 50, 0.5, 20},
                 {300, 3.0, 2.5, 0.25, 0.125, 4, 50, 1.5, 30}};
  EXPECT_EQ(DecodingSpeedsOf(report), (std::vector<double>{160, 180}));
  const auto json = nlohmann::json::parse(BenchToJson(report));
  EXPECT_EQ(json["decoding_tokens_per_s"]["median"], 170);
  EXPECT_EQ(json["runs"][0]["prompt_s"], 0.5);
  EXPECT_NE(BenchToText(report).find("prompt   50 tokens in 1.000 s"), std::string::npos);
}

TEST(Bench, ClockThatStoodStillDividesByNothing) {
  BenchReport report;
  report.runs = {{100, 0, 0, 0, 0, 4}};
  EXPECT_EQ(SpeedsOf(report), std::vector<double>{0});
  EXPECT_EQ(DecodingSpeedsOf(report), std::vector<double>{0});
  EXPECT_EQ(SharesOf(report).rest, 1);
}

}  // namespace
}  // namespace hyper::app

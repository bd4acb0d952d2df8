#include "src/engine/llama/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace hyper::llama {
namespace {

DecodeLimits Limits(int rows, int64_t cells, int routes) { return {rows, cells, routes, true}; }

std::vector<DecodeWish> PlainLanes(int count) {
  std::vector<DecodeWish> wishes;
  for (int i = 1; i <= count; ++i) {
    wishes.push_back({static_cast<LaneId>(i), 1, false, 0});
  }
  return wishes;
}

int Rows(const DecodePlan& plan) {
  int rows = 0;
  for (const DecodeShare& share : plan.shares) {
    rows += share.rows;
  }
  return rows;
}

TEST(ScheduleTest, NobodyWishesAnything) {
  const DecodePlan plan = PlanDecode({}, Limits(63, 100, 10));
  EXPECT_TRUE(plan.shares.empty());
  EXPECT_TRUE(plan.stalled.empty());
}

TEST(ScheduleTest, WidePoolsAreCutIntoEqualParts) {
  EXPECT_EQ(Rows(PlanDecode(PlainLanes(63), Limits(63, 1000, 10))), 63);
  EXPECT_EQ(Rows(PlanDecode(PlainLanes(64), Limits(63, 1000, 10))), 32);
  EXPECT_EQ(Rows(PlanDecode(PlainLanes(100), Limits(63, 1000, 10))), 50);
  DecodeLimits fast = Limits(63, 1000, 10);
  fast.equal_parts = false;
  EXPECT_EQ(Rows(PlanDecode(PlainLanes(64), fast)), 63);
}

TEST(ScheduleTest, LanesAdvanceEvenly) {
  std::vector<DecodeWish> wishes = PlainLanes(100);
  wishes[7].rows = 40;  // refined lanes of different widths among them
  wishes[50].rows = 63;
  wishes[99].rows = 2;
  std::map<LaneId, int> served;
  for (int forward = 0; forward < 400; ++forward) {
    const DecodePlan plan = PlanDecode(wishes, Limits(63, 1000, 70));
    ASSERT_GE(Rows(plan), 1);
    ASSERT_LE(Rows(plan), 63);
    for (const DecodeShare& share : plan.shares) {
      EXPECT_EQ(share.rows, wishes[share.lane - 1].rows) << "routes stay together";
      wishes[share.lane - 1].turns = share.turns;
      ++served[share.lane];
    }
  }
  int least = served[1];
  int most = served[1];
  for (const DecodeWish& wish : wishes) {
    least = std::min(least, served[wish.lane]);
    most = std::max(most, served[wish.lane]);
  }
  EXPECT_LE(most - least, 2);
}

TEST(ScheduleTest, MissingCellsStallTheMostAdvanced) {
  std::vector<DecodeWish> wishes = PlainLanes(3);
  wishes[0].turns = 9;
  const DecodePlan plan = PlanDecode(wishes, Limits(63, 2, 10));
  ASSERT_EQ(plan.shares.size(), 2U);
  EXPECT_EQ(plan.shares[0].lane, 2U);
  EXPECT_EQ(plan.shares[1].lane, 3U);
  EXPECT_EQ(plan.stalled, std::vector<LaneId>{1});
}

TEST(ScheduleTest, RoutesThatCannotStayTogetherRunInWaves) {
  // Too many rows, too few cells, too few sequence ids: 1 own row and 5 borrowed.
  EXPECT_EQ(Rows(PlanDecode(std::vector<DecodeWish>{{1, 100, false, 0}}, Limits(63, 500, 99))), 63);
  EXPECT_EQ(Rows(PlanDecode(std::vector<DecodeWish>{{1, 8, false, 0}}, Limits(63, 3, 99))), 3);
  EXPECT_EQ(Rows(PlanDecode(std::vector<DecodeWish>{{1, 8, false, 0}}, Limits(63, 99, 5))), 6);
  // Between waves every row borrows, and the lane goes before all others.
  const DecodePlan plan =
      PlanDecode(std::vector<DecodeWish>{{1, 1, false, 0}, {2, 8, true, 9}}, Limits(63, 99, 5));
  ASSERT_EQ(plan.shares.size(), 1U);
  EXPECT_EQ(plan.shares[0].lane, 2U);
  EXPECT_EQ(plan.shares[0].rows, 5);
}

TEST(ScheduleTest, ALaneThatDoesNotFitWaitsForItsOwnForward) {
  const std::vector<DecodeWish> wishes = {{1, 40, false, 1}, {2, 40, false, 2}, {3, 5, false, 3}};
  const DecodePlan plan = PlanDecode(wishes, Limits(63, 1000, 99));
  ASSERT_EQ(plan.shares.size(), 2U);
  EXPECT_EQ(plan.shares[0].lane, 1U);
  EXPECT_EQ(plan.shares[1].lane, 3U);
  EXPECT_TRUE(plan.stalled.empty());
}

}  // namespace
}  // namespace hyper::llama

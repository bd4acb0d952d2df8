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

// Rows that each owner gets in `forwards` forwards of `rows` rows, where all its lanes always wish.
std::map<uint32_t, int> RowsByOwner(std::vector<DecodeWish> wishes, int rows, int forwards,
                                    OwnerShares& shares) {
  DecodeLimits limits = Limits(rows, 1 << 20, 10);
  limits.equal_parts = false;
  std::map<uint32_t, int> got;
  for (int forward = 0; forward < forwards; ++forward) {
    shares.Prepare(wishes);
    const DecodePlan plan = PlanDecode(wishes, limits);
    shares.Note(wishes, plan);
    for (const DecodeShare& share : plan.shares) {
      DecodeWish& wish = wishes[share.lane - 1];
      wish.turns = share.turns;
      got[wish.owner] += share.rows;
    }
  }
  return got;
}

// A pool of 512 lanes, owner 1, and single lanes of other owners after it.
std::vector<DecodeWish> PoolAnd(int singles) {
  std::vector<DecodeWish> wishes = PlainLanes(512 + singles);
  for (size_t i = 0; i < wishes.size(); ++i) {
    wishes[i].owner = i < 512 ? 1 : static_cast<uint32_t>(i);
  }
  return wishes;
}

TEST(ScheduleTest, ASingleLaneBesideAWidePoolIsInEveryForward) {
  OwnerShares shares;
  RowsByOwner(PoolAnd(0), 63, 50, shares);  // the pool was there before
  const std::map<uint32_t, int> got = RowsByOwner(PoolAnd(3), 63, 20, shares);
  for (const uint32_t owner : {512U, 513U, 514U}) {
    EXPECT_EQ(got.at(owner), 20);
  }
  EXPECT_EQ(got.at(1), 20 * 60) << "the pool has the rest";
}

TEST(ScheduleTest, OwnersBeyondTheRowsOfAForwardGetEqualShares) {
  OwnerShares shares;
  const std::map<uint32_t, int> got = RowsByOwner(PoolAnd(125), 63, 200, shares);
  ASSERT_EQ(got.size(), 126U);
  for (const auto& [owner, rows] : got) {
    EXPECT_NEAR(rows, 100, 1) << owner;  // 200 * 63 / 126
  }
}

TEST(ScheduleTest, RowsThatNobodyElseWishedForAreNotHeldAgainstAPool) {
  OwnerShares shares;
  RowsByOwner(PoolAnd(1), 63, 100, shares);  // the pool got 62 times as much
  const std::map<uint32_t, int> got = RowsByOwner(PoolAnd(125), 63, 20, shares);
  EXPECT_NEAR(got.at(1), 10, 2);
}

TEST(ScheduleTest, TwoWidePoolsGetTheSameHoweverLateOneComes) {
  OwnerShares shares;
  std::vector<DecodeWish> wishes = PlainLanes(300);
  RowsByOwner(wishes, 63, 100, shares);
  for (size_t i = 0; i < wishes.size(); ++i) {
    wishes[i].owner = i < 200 ? 0 : 7;
  }
  const std::map<uint32_t, int> got = RowsByOwner(wishes, 63, 100, shares);
  EXPECT_NEAR(got.at(0), 3150, 32);
  EXPECT_NEAR(got.at(7), 3150, 32);
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

// Who may start beside whom; the numbers are worked out by hand.
#include "src/decode/admission.h"

#include <gtest/gtest.h>

namespace hyper {
namespace {

Capabilities EngineOf(int lanes, int64_t cells) {
  Capabilities can;
  can.max_lanes = lanes;
  can.max_rows = lanes;
  can.cells_total = cells;
  return can;
}

TEST(Admission, ExpectsAQuarterOfWhatAPoolMayStillTake) {
  EXPECT_EQ(ExpectedCells(0, 400), 100);
  EXPECT_EQ(ExpectedCells(200, 400), 250);
  EXPECT_EQ(ExpectedCells(400, 400), 400);
  EXPECT_EQ(ExpectedCells(500, 400), 500);  // routes of a token
}

TEST(Admission, ReservedSessionsCountAtTheirEndsAndPoolsDoNotHinderThem) {
  Occupancy now;
  now.Add({4, 600}, Admission::kReserved, 50, false);
  now.Add({10, 900}, Admission::kByUse, 300, false);
  EXPECT_TRUE(FitsReserved(now, {2, 400}, EngineOf(16, 1000)));
  EXPECT_FALSE(FitsReserved(now, {2, 401}, EngineOf(16, 1000)));
  EXPECT_FALSE(FitsReserved(now, {3, 400}, EngineOf(16, 1000)));
  EXPECT_TRUE(FitsReserved(now, {2, 4000}, EngineOf(16, 0)));  // the engine does not count cells
}

TEST(Admission, ThoseByUseCountAtWhatTheyWillSoonHold) {
  const Reservation kept{2, 100};
  Occupancy now;
  now.Add({10, 800}, Admission::kByUse, 400, false);  // 500 soon
  // 500 + 100 kept + (80 + 80) = 760.
  EXPECT_TRUE(FitsByUse(now, {4, 400}, 80, kept, EngineOf(16, 760)));
  EXPECT_FALSE(FitsByUse(now, {4, 400}, 80, kept, EngineOf(16, 759)));
  EXPECT_FALSE(FitsByUse(now, {5, 400}, 80, kept, EngineOf(16, 760)));  // two lanes are kept
  // A reserved session within the kept part takes nothing more; beyond it what it holds.
  now.Add({1, 300}, Admission::kReserved, 90, false);
  EXPECT_TRUE(FitsByUse(now, {4, 400}, 80, kept, EngineOf(16, 760)));
  now.Add({1, 300}, Admission::kReserved, 20, false);
  EXPECT_FALSE(FitsByUse(now, {4, 400}, 80, kept, EngineOf(16, 769)));
  EXPECT_TRUE(FitsByUse(now, {4, 400}, 80, kept, EngineOf(16, 770)));
}

TEST(Admission, ParkedPoolsKeepTheirLanesOnly) {
  Occupancy now;
  now.Add({10, 800}, Admission::kByUse, 400, true);
  EXPECT_TRUE(FitsByUse(now, {6, 400}, 0, {}, EngineOf(16, 100)));
  EXPECT_FALSE(FitsByUse(now, {7, 400}, 0, {}, EngineOf(16, 100)));
}

TEST(Admission, TheKeptPartIsForReservedSessionsTogether) {
  Occupancy now;
  now.Add({10, 800}, Admission::kByUse, 400, false);
  now.Add({1, 60}, Admission::kReserved, 10, false);
  const Reservation kept{2, 100};
  EXPECT_TRUE(KeepsWithin(kept, now, {1, 40}, EngineOf(16, 1000)));
  EXPECT_FALSE(KeepsWithin(kept, now, {1, 41}, EngineOf(16, 1000)));
  EXPECT_FALSE(KeepsWithin(kept, now, {2, 40}, EngineOf(16, 1000)));
  EXPECT_TRUE(KeepsWithin(kept, now, {1, 41}, EngineOf(16, 0)));
}

}  // namespace
}  // namespace hyper

#include "src/base/clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "tests/support/scripted_clock.h"

namespace hyper::base {
namespace {

// Both ends of a pipe.
struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  void Write() const { EXPECT_EQ(write(ends[1], "x", 1), 1); }
  std::array<int, 2> ends{};
};

TEST(SteadyClock, WaitsAtLeastAsLongAsItIsAsked) {
  Clock& clock = SteadyClock();
  const double before = clock.Now();
  EXPECT_TRUE(clock.Wait(-1, 0.0021));
  EXPECT_GE(clock.Now() - before, 0.0021);
}

TEST(SteadyClock, ReturnsAtOnceWhereSomethingCanBeRead) {
  const Pipe pipe;
  pipe.Write();
  EXPECT_TRUE(SteadyClock().Wait(pipe.ends[0], 1e6));
  EXPECT_TRUE(SteadyClock().Wait(pipe.ends[0], -1));
}

TEST(ScriptedClock, LeapsWhereOnlyTimeIsWaitedFor) {
  test::ScriptedClock clock;
  EXPECT_EQ(clock.Now(), 0);
  EXPECT_TRUE(clock.Wait(-1, 3600));
  EXPECT_EQ(clock.Now(), 3600);
  EXPECT_TRUE(clock.Wait(-1, -5));
  EXPECT_EQ(clock.Now(), 3600);
}

TEST(ScriptedClock, StandsStillWhereSomethingCanBeReadAndElseLeaps) {
  test::ScriptedClock clock;
  const Pipe pipe;
  EXPECT_TRUE(clock.Wait(pipe.ends[0], 3600));
  EXPECT_EQ(clock.Now(), 3600);
  pipe.Write();
  EXPECT_TRUE(clock.Wait(pipe.ends[0], 3600));
  EXPECT_EQ(clock.Now(), 3600);
  clock.Advance(1);
  EXPECT_EQ(clock.Now(), 3601);
}

}  // namespace
}  // namespace hyper::base

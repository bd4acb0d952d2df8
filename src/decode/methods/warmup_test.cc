// A pool that starts before the last warm-up path has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr PathId kLate = 1;  // a warm-up path that is longer than all others
constexpr size_t kLateLength = 150;

ScriptedNext OneLate(uint64_t key, std::string_view written, int /*routes*/) {
  const bool late = key == ScriptedPathKey(kLate);
  const size_t length = late ? kLateLength : 10 + key % 9;
  const float sureness = 3.0F + 0.1F * static_cast<float>((key >> 8U) % 10);
  const size_t at = written.size();
  if (at < length) {
    return {static_cast<char>('a' + (at * at + (key >> 20U) % 3) % 23), sureness};
  }
  return {at == length ? '=' : at == length + 1 ? (late ? '3' : '7') : '$', sureness};
}

MethodOptions LateOptions(bool barrier) {
  MethodOptions options = *Preset("short");
  options.width = 8;
  options.warmup = 4;
  options.threshold.top = 3;
  options.interval = 4;
  options.window = 4;
  options.warmup_barrier = barrier;
  options.consensus = 0;  // of deepconf, which would need no pool
  return options;
}

// Steps until a fifth path is there; returns the length of the late one then.
int StepToPool(Driver& driver, Session& session) {
  while (session.pool().paths().size() <= 4 && !driver.idle()) {
    EXPECT_TRUE(driver.Step(0).ok());
  }
  return session.pool().path(kLate).length();
}

TEST(Warmup, ThePoolStartsWhenTheThresholdIsKnown) {
  for (const char* method : {"hyper", "deepconf-top10"}) {
    FakeEngine engine(ScriptedOptions(OneLate));
    MethodOptions options = LateOptions(false);
    auto session = ScriptedSession(engine, method, options);
    Driver driver(engine);
    driver.Add(session.get());
    const int late = StepToPool(driver, *session);
    int longest = 0;
    double lowest = 1e9;
    for (const PathId id : {0, 2, 3}) {
      const Path& path = session->pool().path(id);
      EXPECT_EQ(path.status, PathStatus::kFinished);
      longest = std::max(longest, path.length());
      lowest = std::min(lowest, path.lowest_window);
    }
    EXPECT_EQ(late, (longest + 3) / 4 * 4) << "the first round's end after three of four ended";
    EXPECT_EQ(session->pool().threshold(), lowest);
    ASSERT_TRUE(driver.RunAll().ok());
    const Path& path = session->pool().path(kLate);
    if (path.status == PathStatus::kFinished) {
      EXPECT_EQ(path.length(), static_cast<int>(kLateLength) + 3);
      EXPECT_EQ(path.answer, "3");
      EXPECT_TRUE(path.top_history.empty()) << "of the warm-up's maxima, which are settled";
    } else {
      EXPECT_EQ(path.status, PathStatus::kPruned);
    }
  }
}

TEST(Warmup, TheBarrierWaitsForAll) {
  for (const char* method : {"hyper", "deepconf-top10"}) {
    FakeEngine engine(ScriptedOptions(OneLate));
    auto session = ScriptedSession(engine, method, LateOptions(true));
    Driver driver(engine);
    driver.Add(session.get());
    EXPECT_EQ(StepToPool(driver, *session), static_cast<int>(kLateLength) + 3);
  }
}

TEST(Warmup, TheControllerDoesNotSeeLatePaths) {
  FakeEngine engine(ScriptedOptions(OneLate));
  MethodOptions options = LateOptions(false);
  options.threshold.kind = ThresholdRule::Kind::kOff;
  auto session = ScriptedSession(engine, "hyper", options);
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(session->pool().path(kLate).status, PathStatus::kFinished);
  EXPECT_TRUE(session->method().Votes(session->pool(), session->pool().path(kLate)));
  int decisions = 0;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* refine = std::get_if<RefineRecord>(&record)) {
      EXPECT_NE(refine->path, kLate);
    }
    if (const auto* path = std::get_if<PathRecord>(&record)) {
      EXPECT_NE(path->parent, kLate);
    }
    const auto* decision = std::get_if<DecisionRecord>(&record);
    if (decision == nullptr) {
      continue;
    }
    EXPECT_EQ(decision->position, 1 + 4 * decision->step);
    EXPECT_EQ(decision->readings.size(), static_cast<size_t>(decision->paths_before));
    EXPECT_LE(decision->paths_before, 8);
    for (const DecisionRecord::Reading& reading : decision->readings) {
      EXPECT_NE(reading.path, kLate);
    }
    decisions += decision->step == 0 ? 1 : 100;
    EXPECT_EQ(decision->step == 0 ? decision->paths_before : 8, 8);
  }
  EXPECT_GT(decisions, 100) << "there are decisions after the first";
}

// Equal seeds, equal runs: whatever else the engine decodes meanwhile.
TEST(Warmup, OtherSessionsDoNotMoveTheStart) {
  FakeEngine alone_engine(ScriptedOptions(OneLate));
  auto alone = ScriptedSession(alone_engine, "hyper", LateOptions(false));
  Driver alone_driver(alone_engine);
  alone_driver.Add(alone.get());
  ASSERT_TRUE(alone_driver.RunAll().ok());

  FakeEngine engine(ScriptedOptions(OneLate));
  Driver driver(engine);
  auto other = ScriptedSession(engine, "sc", LateOptions(true), 1 << 20, {}, {5, 5});
  auto session = ScriptedSession(engine, "hyper", LateOptions(false));
  driver.Add(other.get());
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  ASSERT_EQ(session->pool().paths().size(), alone->pool().paths().size());
  for (size_t i = 0; i < alone->pool().paths().size(); ++i) {
    EXPECT_EQ(session->pool().paths()[i].tokens, alone->pool().paths()[i].tokens);
    EXPECT_EQ(session->pool().paths()[i].status, alone->pool().paths()[i].status);
  }
}

// A path that the engine gave up cannot come to its end: the others need not wait for it.
TEST(Warmup, LostPathsAreNotWaitedFor) {
  FakeOptions faulty = ScriptedOptions(OneLate);
  faulty.lane_fault = [](const FakeStep& step) -> std::optional<Error> {
    const bool lost = step.path_key == ScriptedPathKey(0) && step.history.size() > 3;
    return lost ? std::optional<Error>(Error{ErrorCode::kUnavailable, "gone"}) : std::nullopt;
  };
  MethodOptions options = LateOptions(false);
  const auto start = [&] {
    FakeEngine engine(faulty);
    auto session = ScriptedSession(engine, "hyper", options);
    Driver driver(engine);
    driver.Add(session.get());
    return StepToPool(driver, *session);
  };
  // Three of four are needed, of three that are left 2.25: all of them.
  EXPECT_EQ(start(), static_cast<int>(kLateLength) + 3);
  options.threshold.top = 2;
  EXPECT_LT(start(), 32);
}

}  // namespace
}  // namespace hyper

// Paths that repeat themselves: how they end, what they cost and whether they vote.
#include <gtest/gtest.h>

#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr int kMaxTokens = 2000;

// Paths with an even key answer 7 after a few words, the others write "ab" for ever.
ScriptedNext HalfLoop(uint64_t key, std::string_view written, int /*routes*/) {
  constexpr std::string_view kSound = "some words=7$";
  constexpr std::string_view kStart = "=5 ";
  if (key % 2 == 0) {
    return {kSound[std::min(written.size(), kSound.size() - 1)], 4.0F};
  }
  return {written.size() < kStart.size() ? kStart[written.size()] : "ab"[written.size() % 2], 9.0F};
}

MethodOptions GuardOptions(bool guard) {
  MethodOptions options = *Preset("short");
  options.width = 8;
  options.interval = 8;
  options.max_tokens = kMaxTokens;
  options.loop_guard = guard;
  return options;
}

std::unique_ptr<Session> Answer(Engine& engine, const MethodOptions& options) {
  auto session = ScriptedSession(engine, "sc", options);
  Driver driver(engine);
  driver.Add(session.get());
  EXPECT_TRUE(driver.RunAll().ok());
  return session;
}

TEST(LoopGuard, IsOnInPresetShortAndOffInPaper) {
  EXPECT_TRUE(Preset("short")->loop_guard);
  EXPECT_FALSE(Preset("paper")->loop_guard);
}

TEST(LoopGuard, EndsALoopAndChargesIt) {
  FakeEngine engine(ScriptedOptions(HalfLoop));
  const auto session = Answer(engine, GuardOptions(true));
  int loops = 0;
  int64_t tokens = 0;
  for (const Path& path : session->pool().paths()) {
    tokens += path.length();
    if (path.key % 2 == 0) {
      EXPECT_EQ(path.status, PathStatus::kFinished);
      continue;
    }
    ++loops;
    EXPECT_EQ(path.status, PathStatus::kDegenerate);
    // 3 bytes of start and 400 of the loop; the next look is at a multiple of 64 tokens.
    EXPECT_EQ(path.length(), 448);
    EXPECT_EQ(path.reason,
              "repeats itself: the last 445 bytes are one text of 2 bytes again and again");
    EXPECT_EQ(path.answer.substr(0, 3), "5 b");
    EXPECT_TRUE(path.tentative);
  }
  EXPECT_GE(loops, 2);
  EXPECT_LE(loops, 6);
  EXPECT_EQ(session->pool().ledger().generated, tokens);
  EXPECT_EQ(session->Result().voting_paths, 8) << "an answer out of a loop is a tentative one";
}

TEST(LoopGuard, TentativeAnswersOfLoopsVoteAsThoseOfCutPathsDo) {
  MethodOptions options = GuardOptions(true);
  options.vote.tentative = false;
  FakeEngine engine(ScriptedOptions(HalfLoop));
  const auto session = Answer(engine, options);
  for (const Path& path : session->pool().paths()) {
    EXPECT_EQ(session->method().Votes(session->pool(), path), path.key % 2 == 0);
  }
  EXPECT_EQ(session->Result().answer, "7");
}

TEST(LoopGuard, OffLetsALoopRunToItsLimit) {
  FakeEngine engine(ScriptedOptions(HalfLoop));
  const auto session = Answer(engine, GuardOptions(false));
  for (const Path& path : session->pool().paths()) {
    EXPECT_EQ(path.length(), path.key % 2 == 0 ? 13 : kMaxTokens);
    EXPECT_NE(path.status, PathStatus::kDegenerate);
  }
}

TEST(LoopGuard, LoopsOfTheWarmupSetNoThreshold) {
  MethodOptions options = GuardOptions(true);
  options.window = 4;
  FakeEngine engine(ScriptedOptions(HalfLoop));
  auto session = ScriptedSession(engine, "hyper", options);
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  double sound = 0;
  for (const Path& path : session->pool().paths()) {
    if (path.warmup && path.status == PathStatus::kFinished) {
      sound = path.lowest_window;
    }
  }
  ASSERT_GT(sound, 0);
  EXPECT_EQ(session->pool().threshold(), sound) << "loops are surer: they would prune the others";
}

}  // namespace
}  // namespace hyper

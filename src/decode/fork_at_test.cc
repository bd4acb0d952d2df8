// Paths that are continued in another way, at any token, while they run and after their end.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/core/confidence.h"
#include "src/decode/session_pool.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

// Writes letters in turn, by what stands there: "abcdef..."; behind a capital, the same in capitals
// up to the end token after "D".
ScriptedNext Alphabet(uint64_t, std::string_view written, int) {
  if (written.empty()) {
    return {'a', 9.0F};
  }
  const char last = written.back();
  return last == 'D' ? ScriptedNext{'$', 9.0F}
                     : ScriptedNext{static_cast<char>(last + 1), 9.0F - 0.1F * (last % 7)};
}

class ForkAt : public ::testing::Test {
 protected:
  ForkAt() : engine_(ScriptedOptions(Alphabet)) {
    Pool::Config config;
    config.prompt.tokens = {'q', ':'};
    config.options = *Preset("short");
    config.options.sampler = SamplerSpec{0.0, 0, 1.0, 0.0};
    config.options.window = 3;
    config.options.max_tokens = 30;
    config.reservation = {64, 1 << 20};
    pool_ = std::make_unique<SessionPool>(engine_, std::move(config));
  }

  void Decode(PathId path, int tokens) {
    EXPECT_TRUE(pool_->Grant(path, tokens).ok());
    while (!pool_->settled()) {
      for (const Event& event : *engine_.Poll(0)) {
        pool_->Apply(event);
      }
    }
  }
  std::string Text(PathId path) const { return pool_->path(path).text; }

  FakeEngine engine_;
  std::unique_ptr<SessionPool> pool_;
};

TEST_F(ForkAt, ContinuesFromAnEarlierTokenWithTheTextGiven) {
  const PathId parent = *pool_->Open(0, false);
  Decode(parent, 6);
  ASSERT_EQ(Text(parent), "abcdef");
  const PathId child = *pool_->ForkAt(parent, {2, {'A', 'B'}, {}, {}}, 9, 1);
  const Path& forked = pool_->path(child);
  EXPECT_EQ(forked.parent, parent);
  EXPECT_EQ(forked.fork_position, 2);
  EXPECT_EQ(Text(child), "abAB");
  Decode(child, 9);
  EXPECT_EQ(Text(child), "abABCD");
  EXPECT_EQ(forked.status, PathStatus::kFinished);
  EXPECT_EQ(Text(parent), "abcdef");
  Decode(parent, 1);
  EXPECT_EQ(Text(parent), "abcdefg");
}

TEST_F(ForkAt, APathThatHasEndedCanBeContinued) {
  const PathId parent = *pool_->Open(0, false);
  EXPECT_TRUE(pool_->Extend(parent, std::vector<Token>{'A'}).ok());
  Decode(parent, 9);
  ASSERT_EQ(pool_->path(parent).status, PathStatus::kFinished);
  ASSERT_EQ(Text(parent), "ABCD");
  EXPECT_EQ(pool_->cells(), 0);
  const PathId child = *pool_->ForkAt(parent, {3, {'x'}, {}, {}}, 9, 1);
  EXPECT_EQ(Text(child), "ABCx");
  EXPECT_EQ(pool_->cells(), 2 + 4);  // the prompt and all its tokens: the parent holds none
  Decode(child, 2);
  EXPECT_EQ(Text(child), "ABCxyz");
  // Its end token is no place to go on from.
  EXPECT_FALSE(pool_->ForkAt(parent, {5, {}, {}, {}}, 9, 2).has_value());
  EXPECT_TRUE(pool_->ForkAt(parent, {4, {}, {}, {}}, 9, 2).has_value());
}

TEST_F(ForkAt, SharedTokensCountOnce) {
  const PathId parent = *pool_->Open(0, false);
  Decode(parent, 6);
  const PathId child = *pool_->ForkAt(parent, {4, {'A'}, {}, {}}, 9, 1);
  EXPECT_EQ(pool_->cells(), 2 + 6 + 1);
  pool_->Finish(parent, PathStatus::kPruned, "test");
  EXPECT_EQ(pool_->cells(), 2 + 4 + 1);
  pool_->Finish(child, PathStatus::kPruned, "test");
  EXPECT_EQ(pool_->cells(), 0);
}

// As if the fork had been made at that token at the time.
TEST_F(ForkAt, HasTheStatisticsOfItsOwnTokens) {
  const PathId parent = *pool_->Open(0, false);
  Decode(parent, 4);
  const PathId early = *pool_->Fork(parent, 1, 1);
  Decode(parent, 5);
  const PathId late = *pool_->ForkAt(parent, {4, {}, {}, {}}, 1, 1);
  const Path& a = pool_->path(early);
  const Path& b = pool_->path(late);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.confidences, b.confidences);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.window_mean, b.window_mean);
  EXPECT_EQ(a.lowest_window, b.lowest_window);
  EXPECT_EQ(a.mean_confidence, b.mean_confidence);
}

TEST_F(ForkAt, ASeedAndTheNumberMakeTheKey) {
  const PathId parent = *pool_->Open(0, false);
  Decode(parent, 3);
  const auto key = [&](std::optional<uint64_t> seed, int child) {
    return pool_->path(*pool_->ForkAt(parent, {1, {}, {}, seed}, 9, child)).key;
  };
  EXPECT_EQ(key(5, 1), key(5, 1));
  EXPECT_NE(key(5, 1), key(6, 1));
  EXPECT_NE(key(5, 1), key(5, 2));
  EXPECT_NE(key({}, 1), key({}, 2));
}

TEST_F(ForkAt, PlacesThatAreNoneAreRefused) {
  const PathId parent = *pool_->Open(0, false);
  Decode(parent, 3);
  EXPECT_FALSE(pool_->ForkAt(parent, {4, {}, {}, {}}, 9, 1).has_value());
  EXPECT_FALSE(pool_->ForkAt(parent, {-1, {}, {}, {}}, 9, 1).has_value());
  const PathId judge = *pool_->OpenJudge(std::vector<Token>{'j'}, 0);
  EXPECT_FALSE(pool_->ForkAt(judge, {0, {}, {}, {}}, 9, 1).has_value());
  EXPECT_TRUE(pool_->ForkAt(parent, {0, {}, {}, {}}, 9, 1).has_value());
}

// Where sampling is at a temperature of its own, a rival may come.
TEST_F(ForkAt, ATemperatureOfItsOwn) {
  const PathId parent = *pool_->Open(0, false);
  Decode(parent, 3);
  const PathId cold = *pool_->ForkAt(parent, {3, {}, {}, 1}, 9, 1);
  const PathId hot = *pool_->ForkAt(parent, {3, {}, 50.0, 1}, 9, 1);
  Decode(cold, 8);
  Decode(hot, 8);
  EXPECT_EQ(Text(cold), "abcdefghijk");
  EXPECT_NE(Text(hot), Text(cold));
}

TEST_F(ForkAt, ScoresTellTheirTopLists) {
  Pool::Config config = pool_->config();
  config.score_tops = true;
  SessionPool pool(engine_, std::move(config));
  const PathId path = *pool.Open(0, false);
  const std::vector<std::vector<Token>> continuations = {{'a', 'x'}};
  ASSERT_TRUE(pool.Score(path, continuations).has_value());
  const std::span<const Event> events = *engine_.Poll(0);
  ASSERT_EQ(events.size(), 1U);
  ASSERT_EQ(events[0].score_tops.size(), 1U);
  ASSERT_EQ(events[0].score_tops[0].size(), 2U);
  EXPECT_EQ(events[0].score_tops[0][0].front().token, 'a');
  EXPECT_EQ(events[0].score_tops[0][0].front().logprob, events[0].scores[0][0]);
  EXPECT_EQ(events[0].score_tops[0][1].front().token, 'b');
  EXPECT_LT(events[0].scores[0][1], events[0].score_tops[0][1].front().logprob);
}

TEST(Widen, ASessionReservesLanesThatAreFree) {
  FakeOptions options = ScriptedOptions(Alphabet);
  options.capabilities.max_lanes = 10;
  FakeEngine engine(options);
  Driver driver(engine, {2, 0});
  MethodOptions wanted = *Preset("short");
  wanted.width = 3;
  wanted.max_tokens = 50;
  const std::unique_ptr<Session> session = ScriptedSession(engine, "sc", wanted, 1000);
  EXPECT_EQ(driver.FreeLanes(), 8);
  driver.Add(session.get(), Admission::kByUse);
  ASSERT_TRUE(driver.Step(0).ok());
  const Reservation before = session->pool().reservation();
  EXPECT_EQ(driver.FreeLanes(), 8 - before.lanes);
  session->Widen(2);
  EXPECT_EQ(session->pool().reservation().lanes, before.lanes + 2);
  EXPECT_EQ(session->pool().reservation().cells, before.cells + 100);
  EXPECT_EQ(driver.FreeLanes(), 8 - before.lanes - 2);
  driver.Remove(session.get());
}

TEST(Session, LimitsCanBeChanged) {
  FakeEngine engine(ScriptedOptions(Alphabet));
  Driver driver(engine);
  MethodOptions wanted = *Preset("short");
  wanted.width = 2;
  wanted.max_tokens = 25;
  SessionLimits limits;
  limits.budget_tokens = 10;
  const std::unique_ptr<Session> session = ScriptedSession(engine, "sc", wanted, 1 << 20, limits);
  driver.Add(session.get());
  ASSERT_TRUE(driver.Step(0).ok());
  EXPECT_EQ(session->limits().budget_tokens, 10);
  limits.budget_tokens = 16;
  session->SetLimits(limits);
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(session->pool().ledger().effective(), 16);
}

}  // namespace
}  // namespace hyper

// Sessions that share an engine by use: who starts, who is parked where cells run out, and that no
// path is another one for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

MethodOptions ScOptions(int width, int tokens) {
  MethodOptions options = *Preset("short");
  options.width = width;
  options.max_tokens = tokens;
  return options;
}

// Letters for `length` tokens and a few by path, then an answer by path.
Script WritesAbout(size_t length) {
  return [length](uint64_t key, std::string_view written, int) {
    const size_t own = length + key % 5;
    if (written.size() < own) {
      return ScriptedNext{static_cast<char>('a' + (written.size() + key) % 7), 3.0F};
    }
    const char next = written.size() == own       ? '='
                      : written.size() == own + 1 ? static_cast<char>('0' + key % 3)
                                                  : '$';
    return ScriptedNext{next, 3.0F};
  };
}

FakeOptions EngineOf(Script script, int lanes, int64_t cells) {
  FakeOptions options = ScriptedOptions(std::move(script));
  options.capabilities.max_lanes = lanes;
  options.capabilities.max_rows = lanes;
  options.capabilities.cells_total = cells;
  return options;
}

FakeOptions EngineOfSize(size_t length, int lanes, int64_t cells) {
  return EngineOf(WritesAbout(length), lanes, cells);
}

int Count(const std::vector<Record>& records, ShortageStep step) {
  return static_cast<int>(std::count_if(records.begin(), records.end(), [&](const Record& record) {
    const auto* shortage = std::get_if<ShortageRecord>(&record);
    return shortage != nullptr && shortage->step == step;
  }));
}

bool HasToken(const Session& session) {
  const std::vector<Path>& paths = session.pool().paths();
  return !paths.empty() && paths.front().length() > 0;
}

void ExpectSamePaths(const Session& a, const Session& b) {
  ASSERT_EQ(a.pool().paths().size(), b.pool().paths().size());
  for (size_t i = 0; i < a.pool().paths().size(); ++i) {
    EXPECT_EQ(a.pool().paths()[i].tokens, b.pool().paths()[i].tokens);
    EXPECT_EQ(a.pool().paths()[i].logprobs, b.pool().paths()[i].logprobs);
    EXPECT_EQ(a.pool().paths()[i].reason, b.pool().paths()[i].reason);
  }
  EXPECT_EQ(a.Result().answer, b.Result().answer);
  EXPECT_EQ(a.Result().ledger.effective(), b.Result().ledger.effective());
}

std::unique_ptr<Session> Alone(const char* method, const MethodOptions& options, int64_t cells,
                               SessionSeed seed) {
  FakeEngine engine(EngineOfSize(60, 64, 0));
  auto session = ScriptedSession(engine, method, options, cells, {}, seed);
  Driver driver(engine);
  driver.Add(session.get());
  EXPECT_TRUE(driver.RunAll().ok());
  return session;
}

TEST(Parking, PoolsThatGrowBeyondTheCellsSayWhatTheySayAlone) {
  for (const char* method : {"sc", "hyper"}) {
    MethodOptions options = ScOptions(8, 100);
    options.warmup = 4;
    options.interval = 4;
    options.window = 4;
    constexpr int64_t kCells = 1000;
    FakeEngine engine(EngineOfSize(60, 64, kCells));
    Driver driver(engine);
    std::vector<std::unique_ptr<Session>> sessions;
    for (uint64_t i = 0; i < 3; ++i) {
      sessions.push_back(ScriptedSession(engine, method, options, kCells, {}, {i, 0}));
      driver.Add(sessions.back().get(), Admission::kByUse);
    }
    int most = 0;
    while (!driver.idle()) {
      ASSERT_TRUE(driver.Step(0).ok());
      most = std::max(most, driver.running_count());
    }
    EXPECT_GE(most, 2) << method;
    EXPECT_EQ(engine.open_lanes(), 0);
    int parked = 0;
    int64_t recomputed = 0;
    for (uint64_t i = 0; i < 3; ++i) {
      Session& session = *sessions[i];
      ExpectSamePaths(*Alone(method, options, kCells, {i, 0}), session);
      const std::vector<Record> records = session.TakeRecords();
      parked += Count(records, ShortageStep::kParked);
      EXPECT_EQ(Count(records, ShortageStep::kParked), Count(records, ShortageStep::kResumed));
      EXPECT_EQ(session.Result().ledger.stalls, 0);
      recomputed += session.Result().ledger.recomputed;
    }
    EXPECT_GE(parked, 1) << method;
    EXPECT_EQ(driver.parkings(), parked);
    EXPECT_GT(recomputed, 0);
    EXPECT_EQ(engine.cost().recomputed_tokens, recomputed);
  }
}

TEST(Parking, TheYoungestGivesWayAndTheOldestNever) {
  FakeEngine engine(EngineOfSize(60, 64, 600));
  Driver driver(engine);
  std::vector<std::unique_ptr<Session>> sessions;
  for (uint64_t i = 0; i < 2; ++i) {
    sessions.push_back(ScriptedSession(engine, "sc", ScOptions(8, 100), 600, {}, {i, 0}));
    driver.Add(sessions.back().get(), Admission::kByUse);
  }
  bool parked = false;
  double engine_s = 0;
  while (!driver.idle()) {
    ASSERT_TRUE(driver.Step(0).ok());
    EXPECT_FALSE(sessions[0]->parked());
    if (parked && !sessions[0]->finished()) {
      EXPECT_TRUE(sessions[1]->parked()) << "it goes on at the other's end";
    }
    parked |= sessions[1]->parked() && !sessions[0]->finished();
    const double charged_s = sessions[1]->Result().ledger.engine_s;
    if (sessions[1]->parked() && engine_s > 0) {
      EXPECT_EQ(charged_s, engine_s) << "forwards of the other are not charged to it";
    }
    engine_s = sessions[1]->parked() ? charged_s : 0;
  }
  EXPECT_TRUE(parked);
  EXPECT_EQ(driver.parkings(), 1);
}

// Notes whom lanes are opened for.
class NotesOwners : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<LaneId> Open(std::span<const Token> prompt, const LaneSpec& spec) override {
    owners.push_back(spec.owner);
    return FakeEngine::Open(prompt, spec);
  }

  std::vector<uint32_t> owners;
};

TEST(Parking, EachSessionOwnsItsLanes) {
  NotesOwners engine(EngineOfSize(60, 64, 0));
  Driver driver(engine);
  std::vector<std::unique_ptr<Session>> sessions;
  for (uint64_t i = 0; i < 2; ++i) {
    sessions.push_back(ScriptedSession(engine, "sc", ScOptions(2, 100), 600, {}, {i, 0}));
    driver.Add(sessions.back().get(), Admission::kByUse);
  }
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(engine.owners, (std::vector<uint32_t>{1, 1, 2, 2}));
  EXPECT_EQ(driver.starts(), 2);
}

TEST(Parking, AReservedSessionStartsBesideAWidePoolAtOnceAndIsNeverParked) {
  constexpr int64_t kCells = 3200;  // the pool's 48 paths of 60 tokens, and few more
  FakeEngine engine(EngineOfSize(60, 100, kCells));
  Driver driver(engine, {4, 100});
  auto wide = ScriptedSession(engine, "sc", ScOptions(48, 60), kCells - 100, {}, {1, 0});
  driver.Add(wide.get(), Admission::kByUse);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(driver.Step(0).ok());
  }
  ASSERT_EQ(wide->pool().running().size(), 48U);
  // More than the kept cells, as nobody waits: the pool makes room.
  auto plain = ScriptedSession(engine, "sc", ScOptions(12, 100), 1300, {}, {2, 0});
  driver.Add(plain.get());
  ASSERT_TRUE(driver.Step(0).ok());
  EXPECT_TRUE(HasToken(*plain));
  bool parked = false;
  int idle = 0;  // steps in which a path of it got no token
  while (!plain->finished()) {
    const int64_t before = plain->pool().cells();
    const size_t running = plain->pool().running().size();
    ASSERT_TRUE(driver.Step(0).ok());
    EXPECT_FALSE(plain->parked());
    parked |= wide->parked();
    const bool ended = plain->pool().running().size() < running;
    idle += !ended && plain->pool().cells() < before + static_cast<int64_t>(running) ? 1 : 0;
  }
  EXPECT_TRUE(parked);
  EXPECT_LE(idle, 2) << "the pool that goes on beside it is parked at once";
  EXPECT_EQ(plain->Result().ledger.stalls, 0);
  EXPECT_EQ(plain->pool().paths().size(), 12U);
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_FALSE(wide->parked());
  for (const Path& path : wide->pool().paths()) {
    EXPECT_EQ(path.length(), 60) << path.reason;
  }
}

// Four paths; the first is to be scored after its first token.
class WaitsForScores : public Method {
 public:
  Status Start(Pool& pool) override {
    Status status = OpenPaths(pool, 0, 4, /*warmup=*/false);
    return status ? pool.GrantAll(100) : status;
  }
  void OnToken(Pool& pool, PathId path) override {
    if (!std::exchange(asked_, true)) {
      const std::vector<std::vector<Token>> continuations = {{'a'}};
      EXPECT_TRUE(pool.Score(path, continuations).has_value());
    }
  }
  Status OnSettled(Pool& pool) override { return pool.GrantAll(100); }
  bool Done(const Pool& pool) const override { return pool.running().empty(); }

 private:
  bool asked_ = false;
};

class NeverScores : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<std::span<const Event>> Poll(double timeout_s) override {
    const Result<std::span<const Event>> all = FakeEngine::Poll(timeout_s);
    events_.clear();
    for (const Event& event : *all) {
      if (event.kind != EventKind::kScored) {
        events_.push_back(event);
      }
    }
    return std::span<const Event>(events_);
  }

 private:
  std::vector<Event> events_;
};

// While a score is due, a pool cannot be parked. It gives up paths instead; the other never does.
TEST(Parking, AReservedSessionLosesNoPathToAPoolThatCannotBeParked) {
  constexpr int64_t kCells = 250;
  NeverScores engine(EngineOfSize(60, 64, kCells));
  Driver driver(engine);
  auto pool = ScriptedSession(engine, ScriptedPlan("sc", ScOptions(4, 100)), kCells, {}, {1, 0},
                              std::make_unique<WaitsForScores>());
  auto plain = ScriptedSession(engine, "sc", ScOptions(2, 100), 200, {}, {2, 0});
  driver.Add(pool.get(), Admission::kByUse);
  driver.Add(plain.get());
  for (int step = 0; step < 1000 && !plain->finished(); ++step) {
    ASSERT_TRUE(driver.Step(0).ok());
  }
  ASSERT_TRUE(plain->finished());
  EXPECT_EQ(driver.parkings(), 0);
  EXPECT_EQ(plain->Result().ledger.stalls, 0);
  EXPECT_GT(pool->Result().ledger.stalls, 0);
  for (const Path& path : plain->pool().paths()) {
    EXPECT_EQ(path.status, PathStatus::kFinished) << path.reason;
  }
  pool->Stop("the test is over");
  EXPECT_TRUE(driver.RunAll().ok());
}

TEST(Parking, WhoWaitsIsOvertakenWithinTheKeptPartOnly) {
  FakeEngine measure(EngineOfSize(60, 1000, 0));
  const auto lanes = [&measure](int width) {
    return ScriptedSession(measure, "sc", ScOptions(width, 100))->pool().reservation().lanes;
  };
  const int one = lanes(1);
  const int wide = lanes(16);
  FakeEngine engine(EngineOfSize(60, wide + 3 * one, 0));
  Driver driver(engine, {2 * one, 0});
  auto first = ScriptedSession(engine, "sc", ScOptions(16, 100), 0, {}, {1, 0});
  auto waits = ScriptedSession(engine, "sc", ScOptions(8, 100), 0, {}, {2, 0});
  driver.Add(first.get(), Admission::kByUse);
  driver.Add(waits.get(), Admission::kByUse);
  std::vector<std::unique_ptr<Session>> plain;
  for (uint64_t i = 0; i < 3; ++i) {
    plain.push_back(ScriptedSession(engine, "sc", ScOptions(1, 100), 0, {}, {3 + i, 0}));
    driver.Add(plain.back().get());
  }
  EXPECT_EQ(driver.LanesDue(), wide + 2 * one);
  ASSERT_TRUE(driver.Step(0).ok());
  EXPECT_TRUE(HasToken(*first));
  EXPECT_TRUE(HasToken(*plain[0]));
  EXPECT_TRUE(HasToken(*plain[1]));
  EXPECT_FALSE(plain[2]->started()) << "there are lanes, but a pool waits for them";
  EXPECT_FALSE(waits->started());
  EXPECT_EQ(driver.LanesDue(), wide + 2 * one);
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE(waits->finished());
}

// Two pools by use that need more cells than there are, stepped until the younger one is parked.
struct Pair {
  Pair(FakeEngine& engine, Driver& driver, int64_t cells)
      : old(ScriptedSession(engine, "sc", ScOptions(8, 100), cells, {}, {1, 0})),
        young(ScriptedSession(engine, "sc", ScOptions(8, 100), cells, {}, {2, 0})) {
    driver.Add(old.get(), Admission::kByUse);
    driver.Add(young.get(), Admission::kByUse);
    for (int step = 0; step < 1000 && !young->parked(); ++step) {
      EXPECT_TRUE(driver.Step(0).ok());
    }
    EXPECT_TRUE(young->parked());
  }

  std::unique_ptr<Session> old;
  std::unique_ptr<Session> young;
};

TEST(Parking, NobodyStartsBeforeAParkedSessionGoesOn) {
  FakeEngine engine(EngineOfSize(60, 64, 600));
  Driver driver(engine);
  const Pair pair(engine, driver, 600);
  auto late = ScriptedSession(engine, "sc", ScOptions(1, 10), 20, {}, {3, 0});
  driver.Add(late.get(), Admission::kByUse);
  while (pair.young->parked()) {
    EXPECT_FALSE(late->started());
    ASSERT_TRUE(driver.Step(0).ok());
  }
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE(late->finished());
}

TEST(Parking, ASessionAloneIsNeverParked) {
  FakeEngine engine(EngineOfSize(60, 64, 200));
  Driver driver(engine);
  // As a cache of prompts does: cells that no session has.
  const std::vector<Token> prompt(100, 'a');
  const Result<LaneId> cached = engine.Open(prompt, LaneSpec{});
  ASSERT_TRUE(cached.has_value());
  ASSERT_TRUE(engine.Grant(*cached, 1).ok());
  auto alone = ScriptedSession(engine, "sc", ScOptions(8, 100), 200, {}, {1, 0});
  driver.Add(alone.get(), Admission::kByUse);
  for (int step = 0; step < 1000 && !driver.idle(); ++step) {
    ASSERT_TRUE(driver.Step(0).ok());
  }
  EXPECT_TRUE(alone->finished());
  EXPECT_EQ(driver.parkings(), 0);
  EXPECT_GT(alone->Result().ledger.stalls, 0) << "it gives up paths";
}

// What is kept for others does not hold up the last session: its cells and the kept ones together
// are more than there are.
TEST(Parking, TheLastSessionGoesOnIntoTheKeptPart) {
  FakeEngine engine(EngineOfSize(60, 64, 600));
  Driver driver(engine, {0, 250});
  const Pair pair(engine, driver, 600);
  for (int step = 0; step < 1000 && !driver.idle(); ++step) {
    ASSERT_TRUE(driver.Step(0).ok());
  }
  EXPECT_TRUE(pair.young->finished());
  EXPECT_EQ(engine.open_lanes(), 0);
}

// Half of the paths end early: their cells would do for the parked session for a while, until it
// had to be parked again.
TEST(Parking, AParkedSessionWaitsForTheEndOfAnother) {
  FakeEngine engine(EngineOf(
      [](uint64_t key, std::string_view written, int) {
        return ScriptedNext{written.size() < (key % 2 == 0 ? 20U : 45U) ? 'a' : '$', 3.0F};
      },
      64, 260));
  Driver driver(engine);
  const Pair pair(engine, driver, 200);
  while (!pair.old->finished()) {
    EXPECT_TRUE(pair.young->parked());
    ASSERT_TRUE(driver.Step(0).ok());
  }
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE(pair.young->finished());
}

TEST(Parking, AParkedSessionCanBeStoppedChangedAndTimedOut) {
  for (const bool stop : {true, false}) {
    FakeEngine engine(EngineOfSize(60, 64, 600));
    Driver driver(engine);
    const Pair pair(engine, driver, 600);
    const auto& [old, young] = pair;
    // A fork and a grant wait for the resumption, too.
    Pool& pool = young->pool();
    const Result<PathId> child = pool.Fork(0, 1 << 30, 1);
    ASSERT_TRUE(child.has_value());
    ASSERT_TRUE(pool.Grant(*child, 7).ok());
    const int length = pool.path(*child).length();
    ASSERT_TRUE(driver.Step(0).ok());
    EXPECT_TRUE(young->parked());
    EXPECT_EQ(pool.path(*child).length(), length);
    if (stop) {
      young->Stop("as asked");
      ASSERT_TRUE(driver.RunAll().ok());
      EXPECT_TRUE(young->Result().partial);
    } else {
      ASSERT_TRUE(driver.RunAll().ok());
      EXPECT_GE(pool.path(*child).length(), length + 7);
    }
    EXPECT_TRUE(old->finished());
    EXPECT_EQ(engine.open_lanes(), 0);
  }
}

}  // namespace
}  // namespace hyper

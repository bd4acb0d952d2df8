// Driver, pool and session on a scripted engine: limits, faults, cells, and independence of the
// sessions that share an engine.
#include "hyper/driver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/decode/session_pool.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

MethodOptions DriverOptions(int width = 8) {
  MethodOptions options = *Preset("short");
  options.width = width;
  options.warmup = 4;
  options.interval = 4;
  options.window = 4;
  options.max_tokens = 40;
  return options;
}

// Lengths, answers and sureness vary by path.
ScriptedNext Varied(uint64_t key, std::string_view written, int /*routes*/) {
  const size_t length = 6 + key % 17;
  const float sureness = 2.0F + 0.1F * static_cast<float>((key >> 8) % 40) -
                         0.05F * static_cast<float>(written.size());
  const size_t at = written.size();
  if (at < length) {
    return {static_cast<char>('a' + (at + (key >> 20) % 3) % 7), sureness};
  }
  if (at == length) {
    return {'=', sureness};
  }
  return {at == length + 1 ? static_cast<char>('0' + (key >> 16) % 3) : '$', sureness};
}

// What two runs must agree on.
void ExpectSameRun(const Session& a, const Session& b) {
  ASSERT_EQ(a.pool().paths().size(), b.pool().paths().size());
  for (size_t i = 0; i < a.pool().paths().size(); ++i) {
    const Path& x = a.pool().paths()[i];
    const Path& y = b.pool().paths()[i];
    EXPECT_EQ(x.key, y.key);
    EXPECT_EQ(x.tokens, y.tokens);
    EXPECT_EQ(x.confidences, y.confidences);
    EXPECT_EQ(x.status, y.status);
    EXPECT_EQ(x.reason, y.reason);
  }
  EXPECT_EQ(a.Result().answer, b.Result().answer);
  EXPECT_EQ(a.Result().ledger.effective(), b.Result().ledger.effective());
  EXPECT_EQ(a.Result().ledger.cells_peak, b.Result().ledger.cells_peak);
}

TEST(Driver, SessionsSideBySideDecideAsAlone) {
  FakeEngine alone_engine(ScriptedOptions(Varied));
  auto alone = ScriptedSession(alone_engine, "hyper", DriverOptions());
  Driver alone_driver(alone_engine);
  alone_driver.Add(alone.get());
  ASSERT_TRUE(alone_driver.RunAll().ok());

  FakeOptions tight = ScriptedOptions(Varied);
  tight.capabilities.max_rows = 40;  // holds two of the four reservations of 14 lanes
  FakeEngine engine(tight);
  Driver driver(engine);
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(ScriptedSession(engine, i == 2 ? "sc" : "hyper", DriverOptions()));
    driver.Add(sessions.back().get());
  }
  int most = 0;
  while (!driver.idle()) {
    ASSERT_TRUE(driver.Step(0).ok());
    most = std::max(most, driver.running_count());
  }
  EXPECT_EQ(most, 2);
  for (const int i : {0, 1, 3}) {
    ExpectSameRun(*alone, *sessions[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(engine.open_lanes(), 0);
}

TEST(Driver, SessionsSideBySideKeepWithinTheLanesThatMayBeOpen) {
  FakeOptions tight = ScriptedOptions(Varied);
  tight.capabilities.max_lanes = 20;  // one of the reservations of 20; the rows hold two
  tight.capabilities.max_rows = 40;
  FakeEngine engine(tight);
  Driver driver(engine);
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 3; ++i) {
    sessions.push_back(ScriptedSession(engine, "sc", DriverOptions(12)));
    driver.Add(sessions.back().get());
  }
  while (!driver.idle()) {
    ASSERT_TRUE(driver.Step(0).ok());
    EXPECT_LE(driver.running_count(), 1);
  }
  for (const auto& session : sessions) {
    EXPECT_TRUE(session->status().ok());
    EXPECT_EQ(session->pool().paths().size(), 12U);
  }
}

// Routes are rows of a forward: they take no lanes, and the peaks are those of paths.
TEST(Driver, RoutesAreUsedBeyondTheLanesAndCountInNoPeak) {
  FakeOptions options = ScriptedOptions([](uint64_t key, std::string_view written, int) {
    return ScriptedNext{written.size() < 10 + key % 17 ? 'a' : '$', 1.0F};
  });
  options.capabilities.max_lanes = 8;
  options.capabilities.max_rows = 64;
  FakeEngine engine(options);
  MethodOptions method = DriverOptions();
  EXPECT_TRUE(SetOption(method, "threshold", "off").ok());
  EXPECT_TRUE(SetOption(method, "actions", "single_token").ok());
  method.lane_factor = 1;
  auto session = ScriptedSession(engine, "hyper", method);
  Driver driver(engine);
  driver.Add(session.get());
  int64_t most_cells = 0;
  while (!driver.idle()) {
    ASSERT_TRUE(driver.Step(0).ok());
    most_cells = std::max(most_cells, engine.cost().cells_used);
  }
  int most = 0;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      most = std::max(most, decision->lanes_after);
    }
  }
  EXPECT_GT(most, 8);
  EXPECT_EQ(session->Result().ledger.lanes_peak, 8);
  EXPECT_GE(session->Result().ledger.cells_peak, most_cells);
  EXPECT_LT(session->Result().ledger.cells_peak, engine.cost().cells_peak);
}

TEST(Driver, CellsOfThePoolAreThoseOfTheEngine) {
  FakeEngine engine(ScriptedOptions(Varied));
  auto session = ScriptedSession(engine, "hyper", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  while (!driver.idle()) {
    ASSERT_TRUE(driver.Step(0).ok());
    EXPECT_EQ(session->pool().cells(), engine.cost().cells_used);
  }
}

// Forks of forks, whose ancestors end before or after them, in any order.
TEST(Driver, CellsOfForksAreCountedWhoeverEndsFirst) {
  for (int order = 0; order < 24; ++order) {
    SCOPED_TRACE(order);
    FakeEngine engine(ScriptedOptions([](uint64_t, std::string_view, int) {
      return ScriptedNext{'a', 5.0F};
    }));
    Pool::Config config;
    config.prompt.tokens = {'q'};
    config.options = DriverOptions();
    config.reservation = {64, 1 << 20};
    SessionPool pool(engine, std::move(config));
    const auto decode = [&](PathId path, int count) {
      ASSERT_TRUE(pool.Grant(path, count).ok());
      while (!pool.settled()) {
        for (const Event& event : *engine.Poll(0)) {
          pool.Apply(event);
        }
        EXPECT_EQ(pool.cells(), engine.cost().cells_used);
      }
    };
    ASSERT_TRUE(pool.Open(0, false));
    decode(0, 3);
    ASSERT_TRUE(pool.Fork(0, 1, 1));
    decode(1, 2);
    ASSERT_TRUE(pool.Fork(1, 1, 1));  // writes nothing of its own
    ASSERT_TRUE(pool.Fork(0, 1, 2));
    decode(0, 4);
    decode(3, 1);
    std::vector<PathId> left = {0, 1, 2, 3};
    for (int digit = order, base = 4; base > 0; digit /= base, --base) {
      const auto at = left.begin() + digit % base;
      pool.Finish(*at, PathStatus::kPruned, "test");
      left.erase(at);
      EXPECT_EQ(pool.cells(), engine.cost().cells_used);
    }
    EXPECT_EQ(pool.cells(), 0);
  }
}

TEST(Driver, LedgerIsWhatTheRecordsAndTheEngineSay) {
  FakeEngine engine(ScriptedOptions(Varied));
  auto session = ScriptedSession(engine, "hyper", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  int64_t own_tokens = 0;
  int opened = 0;
  int finished = 0;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* path = std::get_if<PathRecord>(&record)) {
      ++opened;
      own_tokens -= path->position;
    } else if (const auto* finish = std::get_if<FinishRecord>(&record)) {
      ++finished;
      own_tokens += finish->tokens;
    }
  }
  const Ledger ledger = session->Result().ledger;
  EXPECT_EQ(ledger.generated, own_tokens);
  EXPECT_EQ(ledger.generated, engine.cost().decode_rows);
  EXPECT_EQ(ledger.extra_routes, engine.cost().route_rows);
  EXPECT_EQ(ledger.lanes_opened, opened);
  EXPECT_EQ(opened, finished);
}

TEST(Driver, ShortOfCellsThePoolShrinksAndTheAnswerStillComes) {
  FakeEngine engine(ScriptedOptions(Varied));
  auto session = ScriptedSession(engine, "sc", DriverOptions(), /*cells=*/60);
  Driver driver(engine);
  driver.Add(session.get());
  while (!driver.idle()) {
    ASSERT_TRUE(driver.Step(0).ok());
    EXPECT_LE(engine.cost().cells_used, 60);
  }
  int pruned = 0;
  for (const Path& path : session->pool().paths()) {
    if (path.status == PathStatus::kPruned) {
      ++pruned;
      EXPECT_NE(path.reason.find("KV cells"), std::string::npos);
    }
  }
  EXPECT_GE(pruned, 1);
  EXPECT_TRUE(session->Result().answer.has_value());
  EXPECT_FALSE(session->Result().partial);
}

TEST(Driver, StalledLanesAreRelievedByPruningTheLeastConfident) {
  FakeOptions options = ScriptedOptions(Varied);
  options.capabilities.cells_total = 70;  // less than the reservation believes
  CrowdedEngine engine(options);
  auto session = ScriptedSession(engine, "sc", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_GE(session->Result().ledger.stalls, 1);
  EXPECT_TRUE(session->Result().answer.has_value());
  EXPECT_EQ(engine.open_lanes(), 0);
}

TEST(Driver, BudgetEndsTheRunWithTheVoteSoFar) {
  FakeEngine engine(ScriptedOptions(Varied));
  auto session = ScriptedSession(engine, "sc", DriverOptions(), 1 << 20, {.budget_tokens = 100});
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  const SessionResult result = session->Result();
  EXPECT_TRUE(result.partial);
  EXPECT_NE(result.partial_reason.find("budget of 100"), std::string::npos);
  EXPECT_NE(result.partial_reason.find("still running"), std::string::npos);
  EXPECT_GE(result.ledger.effective(), 100);
  EXPECT_LT(result.ledger.effective(), 100 + 8);  // one forward of at most eight lanes over
  EXPECT_EQ(engine.open_lanes(), 0);
}

TEST(Driver, ABudgetThatIsMetExactlyLeavesTheRunWhole) {
  for (const char* name : {"cot", "sc", "hyper", "deepconf"}) {
    FakeEngine free_engine(ScriptedOptions(Varied));
    auto unbounded = ScriptedSession(free_engine, name, DriverOptions());
    Driver free_driver(free_engine);
    free_driver.Add(unbounded.get());
    ASSERT_TRUE(free_driver.RunAll().ok());
    const int64_t needed = unbounded->Result().ledger.effective();
    for (const int64_t short_of : {0, 1}) {
      FakeEngine engine(ScriptedOptions(Varied));
      auto session = ScriptedSession(engine, name, DriverOptions(), 1 << 20,
                                     {.budget_tokens = needed - short_of});
      Driver driver(engine);
      driver.Add(session.get());
      ASSERT_TRUE(driver.RunAll().ok());
      EXPECT_EQ(session->Result().ledger.effective(), needed - short_of) << name;
      EXPECT_EQ(session->Result().partial, short_of > 0) << name;
    }
  }
}

TEST(Driver, StopAtAnyStepLosesNothing) {
  for (int stop = 0; stop < 45; ++stop) {
    FakeEngine engine(ScriptedOptions(Varied));
    auto session = ScriptedSession(engine, "hyper", DriverOptions());
    Driver driver(engine);
    driver.Add(session.get());
    for (int step = 0; step < stop && !driver.idle(); ++step) {
      ASSERT_TRUE(driver.Step(0).ok());
    }
    session->Stop("interrupted");
    ASSERT_TRUE(driver.RunAll().ok());
    EXPECT_TRUE(session->finished());
    EXPECT_EQ(engine.open_lanes(), 0);
    EXPECT_EQ(session->Result().ledger.generated, engine.cost().decode_rows);
  }
}

TEST(Driver, EngineFailureFailsTheSessionsAndKeepsTheirVote) {
  FakeOptions options = ScriptedOptions(Varied);
  options.poll_fault = [](int64_t poll) -> std::optional<Error> {
    if (poll == 12) {
      return Error{ErrorCode::kInternal, "decode returned -3"};
    }
    return std::nullopt;
  };
  FakeEngine engine(options);
  auto session = ScriptedSession(engine, "sc", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  EXPECT_FALSE(driver.RunAll().ok());
  EXPECT_TRUE(session->finished());
  EXPECT_EQ(session->status().error().message, "decode returned -3");
  EXPECT_TRUE(session->Result().partial);
  EXPECT_EQ(engine.open_lanes(), 0);
}

// What a path has written is no answer of the model once its lane has failed.
TEST(Driver, APathThatFailsAfterItsAnswerDoesNotVote) {
  for (const bool all : {false, true}) {
    const uint64_t victim = ScriptedPathKey(2);
    FakeOptions options = ScriptedOptions([](uint64_t, std::string_view written, int) {
      constexpr std::string_view kText = "ab=7nnn$";
      return ScriptedNext{kText[std::min(written.size(), kText.size() - 1)], 1.0F};
    });
    options.lane_fault = [all, victim](const FakeStep& step) -> std::optional<Error> {
      if ((all || step.path_key == victim) && step.history.back() == 'n') {
        return Error{ErrorCode::kUnavailable, "the server closed the stream"};
      }
      return std::nullopt;
    };
    FakeEngine engine(options);
    auto session = ScriptedSession(engine, "sc", DriverOptions());
    Driver driver(engine);
    driver.Add(session.get());
    (void)driver.RunAll();
    EXPECT_EQ(session->pool().paths()[2].status, PathStatus::kFailed);
    EXPECT_EQ(session->Result().voting_paths, all ? 0 : 7);
    EXPECT_EQ(session->status().ok(), !all);
  }
}

TEST(Driver, AFailedLaneLeavesTheOthersAlone) {
  const uint64_t victim = ScriptedPathKey(2);
  FakeOptions options = ScriptedOptions(Varied);
  options.lane_fault = [victim](const FakeStep& step) -> std::optional<Error> {
    if (step.path_key == victim && step.history.size() == 4) {
      return Error{ErrorCode::kUnavailable, "the server closed the stream"};
    }
    return std::nullopt;
  };
  FakeEngine engine(options);
  auto session = ScriptedSession(engine, "sc", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(session->pool().paths()[2].status, PathStatus::kFailed);
  EXPECT_EQ(session->pool().paths()[2].reason, "the server closed the stream");
  const SessionResult result = session->Result();
  EXPECT_EQ(result.voting_paths, 7);
  EXPECT_TRUE(session->status().ok()) << "seven paths gave an answer";
  EXPECT_EQ(result.failed_paths, 1);
  EXPECT_TRUE(result.partial);
  EXPECT_EQ(result.partial_reason, "1 of 8 paths failed: the server closed the stream");
  bool told = false;
  for (const Record& record : session->TakeRecords()) {
    const auto* notice = std::get_if<NoticeRecord>(&record);
    told = told || (notice != nullptr && notice->text == result.partial_reason);
  }
  EXPECT_TRUE(told);
}

// What a server refuses is no answer of the model: the session fails with the server's words.
TEST(Driver, ASessionWhoseLanesFailWithoutAnAnswerFails) {
  for (const char* method : {"sc", "hyper", "deepconf", "cot"}) {
    FakeOptions options = ScriptedOptions(Varied);
    options.lane_fault = [](const FakeStep& step) -> std::optional<Error> {
      return step.history.size() < 3 ? std::nullopt
                                     : std::optional<Error>({ErrorCode::kUnavailable, "HTTP 401"});
    };
    FakeEngine engine(options);
    auto session = ScriptedSession(engine, method, DriverOptions());
    Driver driver(engine);
    driver.Add(session.get());
    ASSERT_TRUE(driver.RunAll().ok()) << "the engine itself is well";
    EXPECT_TRUE(session->finished());
    ASSERT_FALSE(session->status().ok()) << method;
    EXPECT_EQ(session->status().error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(session->status().error().message, "HTTP 401");
    const SessionResult result = session->Result();
    EXPECT_FALSE(result.answer.has_value());
    EXPECT_TRUE(result.partial);
    EXPECT_EQ(result.partial_reason, "HTTP 401");
    EXPECT_EQ(result.failed_paths, static_cast<int>(session->pool().paths().size()));
  }
}

// A scripted engine whose token events are changed before anyone sees them.
struct AlteredEngine : FakeEngine {
  AlteredEngine(FakeOptions options, std::function<void(Event&)> change)
      : FakeEngine(std::move(options)), alter(std::move(change)) {}
  Result<std::span<const Event>> Poll(double timeout_s) override {
    const Result<std::span<const Event>> all = FakeEngine::Poll(timeout_s);
    events.assign(all->begin(), all->end());
    for (Event& event : events) {
      if (event.kind == EventKind::kToken) {
        ++tokens;
        alter(event);
      }
    }
    return std::span<const Event>(events);
  }
  std::function<void(Event&)> alter;
  std::vector<Event> events;
  int tokens = 0;
};

// A token whose rivals are NaN has no confidence; the result says how many there are.
TEST(Driver, TokensWithoutAConfidenceAreCounted) {
  // Every third token of an engine comes without its list, as from a server that left it out.
  int without = 0;
  AlteredEngine engine(ScriptedOptions(Varied), [&, tokens = 0](Event& event) mutable {
    if (++tokens % 3 == 0) {
      event.top = {};
      ++without;
    }
  });
  auto session = ScriptedSession(engine, "sc", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  ASSERT_GT(without, 0);
  EXPECT_EQ(NoticesOf(*session),
            std::vector<std::string>{std::to_string(without) + " of " +
                                     std::to_string(engine.tokens) + " tokens have no confidence"});
}

// Without any confidence a vote by confidence has no answer, though the paths have: the engine's
// failure, which must not be scored as the model's. A majority needs none.
TEST(Driver, AVoteWithoutAnyConfidenceIsAFailureOfTheEngine) {
  for (const char* method : {"deepconf", "sc"}) {
    AlteredEngine engine(ScriptedOptions(Varied), [](Event& event) { event.top = {}; });
    auto session = ScriptedSession(engine, method, DriverOptions());
    Driver driver(engine);
    driver.Add(session.get());
    ASSERT_TRUE(driver.RunAll().ok());
    const bool majority = std::string_view(method) == "sc";
    EXPECT_EQ(session->status().ok(), majority) << method;
    EXPECT_EQ(session->Result().answer.has_value(), majority) << method;
  }
}

// A negative sum of router scores rewards the reuse that it should discourage; the result says so.
TEST(Driver, PenaltiesThatRewardAreTold) {
  for (const int rewards : {0, 1}) {
    AlteredEngine engine(ScriptedOptions(Varied), [rewards](Event& event) {
      event.penalty_sums = 2;
      event.penalty_rewards = rewards;
    });
    auto session = ScriptedSession(engine, "sc", DriverOptions());
    Driver driver(engine);
    driver.Add(session.get());
    ASSERT_TRUE(driver.RunAll().ok());
    std::vector<std::string> told;
    if (rewards > 0) {
      told.push_back(fmt::format(
          "{} of {} penalties on reusing an expert were rewards: the router's scores were negative",
          engine.tokens, 2 * engine.tokens));
    }
    EXPECT_EQ(NoticesOf(*session), told);
  }
}

// A limit that ends a session whose only finished paths failed does not hide the failure.
TEST(Driver, ALimitDoesNotHideAFailure) {
  const uint64_t survivor = ScriptedPathKey(2);
  FakeOptions options =
      ScriptedOptions([](uint64_t, std::string_view, int) { return ScriptedNext{'x'}; });
  options.lane_fault = [survivor](const FakeStep& step) -> std::optional<Error> {
    return step.path_key == survivor || step.history.size() < 3
               ? std::nullopt
               : std::optional<Error>({ErrorCode::kUnavailable, "HTTP 401"});
  };
  FakeEngine engine(options);
  auto session = ScriptedSession(engine, "sc", DriverOptions(), 1 << 20, {.budget_tokens = 30});
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_FALSE(session->status().ok());
  EXPECT_EQ(session->Result().failed_paths, 7);
}

TEST(Driver, RowsWithoutFiniteLogitsEndThePathOnly) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    const uint64_t victim = ScriptedPathKey(1);
    FakeOptions options = ScriptedOptions(Varied);
    options.logits = [inner = options.logits, victim, bad](const FakeStep& step,
                                                           std::span<float> logits) {
      inner(step, logits);
      if (step.path_key == victim && step.history.size() == 5) {
        std::fill(logits.begin(), logits.end(), bad);
      }
    };
    FakeEngine engine(options);
    auto session = ScriptedSession(engine, "hyper", DriverOptions());
    Driver driver(engine);
    driver.Add(session.get());
    ASSERT_TRUE(driver.RunAll().ok());
    EXPECT_EQ(session->pool().paths()[1].status, PathStatus::kDegenerate);
    EXPECT_EQ(session->pool().paths()[1].length(), 4);
    EXPECT_TRUE(std::isfinite(session->pool().threshold().value_or(0.0)));
    EXPECT_TRUE(session->Result().answer.has_value());
  }
}

TEST(Driver, FewerLanesThanAskedIsANoticeAndARun) {
  FakeOptions options = ScriptedOptions(Varied);
  options.capabilities.max_lanes = 5;
  CrowdedEngine engine(options);
  auto session = ScriptedSession(engine, "sc", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_EQ(session->pool().paths().size(), 5U);
  bool noticed = false;
  for (const Record& record : session->TakeRecords()) {
    const auto* notice = std::get_if<NoticeRecord>(&record);
    noticed |= notice != nullptr && notice->text.find("opened 5 of 8") != std::string::npos;
  }
  EXPECT_TRUE(noticed);
}

TEST(Driver, DenseModelsRunControllerOnly) {
  FakeOptions options = ScriptedOptions([](uint64_t, std::string_view written, int) {
    return ScriptedNext{written.size() < 30 ? 'a' : '$', 1.0F};
  });
  options.capabilities.routing = false;
  FakeEngine engine(options);
  auto session = ScriptedSession(engine, "hyper", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  int decisions = 0;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      ++decisions;
      EXPECT_FALSE(decision->allowed.Has(Action::kSingleToken));
      EXPECT_NE(decision->action, Action::kSingleToken);
    }
  }
  EXPECT_GT(decisions, 0);
}

TEST(Session, NoAnswerAnywhereIsSaidPlainly) {
  FakeEngine engine(ScriptedOptions([](uint64_t, std::string_view written, int) {
    return ScriptedNext{written.size() < 5 ? 'a' : '$', 3.0F};
  }));
  auto session = ScriptedSession(engine, "sc", DriverOptions());
  Driver driver(engine);
  driver.Add(session.get());
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_FALSE(session->Result().answer.has_value());
  EXPECT_EQ(session->Result().voting_paths, 0);
  for (const auto& [rule, vote] : session->Result().votes) {
    EXPECT_FALSE(vote.answer.has_value()) << rule;
  }
}

}  // namespace
}  // namespace hyper

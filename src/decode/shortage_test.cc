// A pool that runs out of KV cells in the middle of a run, by its reservation or by the engine:
// expansion stops first, then the least confident paths go, each step is recorded, and the answer
// still comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr int64_t kPlenty = 1 << 20;

MethodOptions ShortOptions(const std::string& actions) {
  MethodOptions options = *Preset("short");
  options.width = 8;
  options.warmup = 2;
  EXPECT_TRUE(SetOption(options, "threshold", "off").ok());
  options.interval = 4;
  options.window = 4;
  options.max_tokens = 40;
  EXPECT_TRUE(SetOption(options, "actions", actions).ok());
  options.late_expansion = true;  // the warm-up is short, so that all of the pool is late
  return options;
}

// Paths 0 and 1 (the warm-up) write two characters, the odd ones of the pool four and the rest
// `length`, then "=7". The later a path was opened, the less sure it is; the warm-up is surest, so
// that the pool always looks for expansion.
Script Falling(size_t length) {
  return [length](uint64_t key, std::string_view written, int) {
    const int index = PathIndexOf(key);
    const size_t own = index >= 0 && index < 2 ? 2 : index % 2 == 1 ? 4 : length;
    const float sureness = index < 0   ? 2.5F
                           : index < 2 ? 6.0F
                                       : 3.0F - 0.05F * static_cast<float>(index);
    if (written.size() < own) {
      return ScriptedNext{static_cast<char>('a' + written.size() % 7), sureness};
    }
    const bool has_answer = !written.empty() && written.back() == '7';
    const char next = has_answer ? '$' : written.back() == '=' ? '7' : '=';
    return ScriptedNext{next, sureness};
  };
}

struct Outcome {
  std::unique_ptr<Session> session;
  std::vector<Record> records;
  std::vector<ShortageRecord> shortages;
  int64_t most_cells = 0;
};

Outcome RunWith(FakeEngine& engine, const std::string& method, const MethodOptions& options,
                int64_t reserved) {
  Outcome outcome;
  outcome.session = ScriptedSession(engine, method, options, reserved);
  Driver driver(engine);
  driver.Add(outcome.session.get());
  for (int step = 0; step < 1000 && !driver.idle(); ++step) {
    EXPECT_TRUE(driver.Step(0).ok());
    outcome.most_cells = std::max(outcome.most_cells, engine.cost().cells_used);
  }
  EXPECT_TRUE(outcome.session->finished());
  EXPECT_EQ(engine.open_lanes(), 0);
  EXPECT_EQ(engine.cost().cells_used, 0);
  outcome.records = outcome.session->TakeRecords();
  for (const Record& record : outcome.records) {
    if (const auto* shortage = std::get_if<ShortageRecord>(&record)) {
      outcome.shortages.push_back(*shortage);
    }
  }
  return outcome;
}

CrowdedEngine EngineWith(Script script, int64_t cells) {
  FakeOptions options = ScriptedOptions(std::move(script));
  options.capabilities.cells_total = cells;
  return CrowdedEngine(options);
}

// Every path that was ended by a lack of cells has its own shortage record, and the other way
// round.
void ExpectEachPruneRecorded(const Outcome& outcome) {
  std::multiset<PathId> recorded;
  for (const ShortageRecord& shortage : outcome.shortages) {
    if (shortage.step == ShortageStep::kPathPruned || shortage.step == ShortageStep::kPathEnded) {
      recorded.insert(shortage.path);
    }
  }
  std::multiset<PathId> gone;
  for (const Path& path : outcome.session->pool().paths()) {
    if (path.reason.find("KV cells") != std::string::npos) {
      gone.insert(path.id);
    }
  }
  EXPECT_EQ(recorded, gone);
}

TEST(Shortage, NothingIsRecordedWhileCellsLast) {
  CrowdedEngine engine = EngineWith(Falling(20), 0);
  const Outcome outcome =
      RunWith(engine, "hyper", ShortOptions("none,single_token,multi_token,branch"), kPlenty);
  EXPECT_TRUE(outcome.shortages.empty());
  EXPECT_EQ(outcome.session->Result().answer, "7");
}

TEST(Shortage, OfTheReservationExpansionStopsBeforeAnyPathGoes) {
  CrowdedEngine engine = EngineWith(Falling(20), 0);
  const Outcome outcome = RunWith(engine, "hyper", ShortOptions("branch"), 50);
  EXPECT_LE(outcome.most_cells, 50);
  ASSERT_GE(outcome.shortages.size(), 2U);
  EXPECT_EQ(outcome.shortages.front().step, ShortageStep::kExpansionStopped);
  EXPECT_EQ(outcome.shortages[1].step, ShortageStep::kPathPruned);
  ExpectEachPruneRecorded(outcome);
  EXPECT_EQ(outcome.session->Result().answer, "7");
  EXPECT_FALSE(outcome.session->Result().partial);
}

TEST(Shortage, ThePathThatGoesIsTheLeastConfidentOfThoseThatRun) {
  CrowdedEngine engine = EngineWith(Falling(20), 0);
  const Outcome outcome = RunWith(engine, "sc", ShortOptions("none"), 60);
  std::map<PathId, bool> running;
  std::map<PathId, double> confidence;
  for (const Path& path : outcome.session->pool().paths()) {
    confidence[path.id] = path.window_mean;
  }
  int pruned = 0;
  for (const Record& record : outcome.records) {
    if (const auto* path = std::get_if<PathRecord>(&record)) {
      running[path->path] = true;
    } else if (const auto* finish = std::get_if<FinishRecord>(&record)) {
      running[finish->path] = false;
    } else if (const auto* shortage = std::get_if<ShortageRecord>(&record);
               shortage != nullptr && shortage->step == ShortageStep::kPathPruned) {
      ++pruned;
      for (const auto& [id, still] : running) {
        EXPECT_TRUE(!still || confidence[id] >= confidence[shortage->path]) << id;
      }
    }
  }
  EXPECT_GE(pruned, 2);
}

TEST(Shortage, OfTheEngineRefinementEndsFirst) {
  CrowdedEngine engine = EngineWith(Falling(24), 62);  // the session believes in plenty
  const Outcome outcome = RunWith(engine, "hyper", ShortOptions("single_token"), kPlenty);
  EXPECT_LE(outcome.most_cells, 62);
  ASSERT_GE(outcome.shortages.size(), 1U);
  const ShortageRecord& first = outcome.shortages.front();
  EXPECT_EQ(first.step, ShortageStep::kExpansionStopped);
  EXPECT_GT(first.routes, 0);
  EXPECT_EQ(first.path, kNoPath);
  ExpectEachPruneRecorded(outcome);
  // From then on no token is refined and every expansion is a recorded no-op.
  bool stopped = false;
  int refused = 0;
  for (const Record& record : outcome.records) {
    stopped = stopped || std::holds_alternative<ShortageRecord>(record);
    if (const auto* refine = std::get_if<RefineRecord>(&record); refine != nullptr && stopped) {
      EXPECT_EQ(refine->routes, 1);
    } else if (const auto* decision = std::get_if<DecisionRecord>(&record);
               decision != nullptr && stopped && decision->expansion > 1 &&
               decision->action != Action::kNone) {
      ++refused;
      EXPECT_NE(decision->note.find("expansion has stopped"), std::string::npos) << decision->note;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(outcome.session->Result().answer, "7");
  EXPECT_FALSE(outcome.session->Result().partial);
}

TEST(Shortage, OfTheEngineContinuationsAreMergedBeforePathsAreLost) {
  CrowdedEngine engine = EngineWith(Falling(24), 58);
  const Outcome outcome = RunWith(engine, "hyper", ShortOptions("multi_token"), kPlenty);
  ASSERT_GE(outcome.shortages.size(), 1U);
  EXPECT_EQ(outcome.shortages.front().step, ShortageStep::kExpansionStopped);
  // The continuations that were open at that moment were judged at once.
  const auto stop = std::find_if(
      outcome.records.begin(), outcome.records.end(),
      [](const Record& record) { return std::holds_alternative<ShortageRecord>(record); });
  const auto next = std::find_if(stop, outcome.records.end(), [](const Record& record) {
    return std::holds_alternative<FinishRecord>(record);
  });
  ASSERT_NE(next, outcome.records.end());
  EXPECT_EQ(std::get<FinishRecord>(*next).status, PathStatus::kMerged);
  ExpectEachPruneRecorded(outcome);
  EXPECT_EQ(outcome.session->Result().answer, "7");
}

TEST(Shortage, OfTheReservationEndsWhenCellsAreThereAgain) {
  // The short paths end soon after the first shortage and leave cells behind.
  CrowdedEngine engine = EngineWith(Falling(30), 0);
  const Outcome outcome = RunWith(engine, "hyper", ShortOptions("none,branch"), 47);
  const auto at = [&](ShortageStep step) {
    return std::find_if(outcome.shortages.begin(), outcome.shortages.end(),
                        [step](const ShortageRecord& record) { return record.step == step; });
  };
  const auto resumed = at(ShortageStep::kExpansionResumed);
  ASSERT_NE(resumed, outcome.shortages.end());
  EXPECT_LT(at(ShortageStep::kExpansionStopped), resumed);
  EXPECT_GE(resumed->cells, 2 * 4 * resumed->running);
}

TEST(Shortage, AnyNumberOfCellsEndsInAnAnswerOrInNone) {
  for (const std::string method : {"sc", "hyper", "roe"}) {
    for (int64_t cells = 4; cells < 90; cells += 3) {
      SCOPED_TRACE(method + " with " + std::to_string(cells));
      MethodOptions options = ShortOptions("none,single_token,multi_token,branch");
      options.routes = 4;
      CrowdedEngine engine = EngineWith(Falling(20), cells);
      const Outcome outcome = RunWith(engine, method, options, kPlenty);
      EXPECT_LE(outcome.most_cells, cells);
      EXPECT_FALSE(outcome.session->Result().partial);
      ExpectEachPruneRecorded(outcome);
      if (cells >= 40) {
        EXPECT_EQ(outcome.session->Result().answer, "7");
      }
    }
  }
}

TEST(Shortage, SaysWhatHappenedInWords) {
  ShortageRecord record{ShortageStep::kPathPruned, 12, 5, 0, 3, 8};
  EXPECT_EQ(ShortageText(record),
            "KV cells ran short: path 8, the least confident, is pruned (at token 12, 5 paths "
            "running)");
  record.step = ShortageStep::kExpansionStopped;
  record.routes = 6;
  EXPECT_EQ(ShortageText(record),
            "KV cells ran short: expansion stops, 6 extra routes end (at token 12, 5 paths "
            "running)");
  EXPECT_STREQ(ShortageStepName(ShortageStep::kExpansionResumed), "expansion_resumed");
  EXPECT_STREQ(ShortageStepName(ShortageStep::kPathEnded), "path_ended");
  EXPECT_STREQ(ShortageStepName(ShortageStep::kParked), "parked");
  EXPECT_STREQ(ShortageStepName(ShortageStep::kResumed), "resumed");
}

}  // namespace
}  // namespace hyper

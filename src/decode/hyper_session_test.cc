// The HyPER session on a scripted engine: each action is made to occur, and its every effect is
// seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/core/random.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

MethodOptions HyperOptions() {
  MethodOptions options = *Preset("short");
  options.width = 8;
  options.warmup = 4;
  EXPECT_TRUE(SetOption(options, "threshold", "off").ok());
  options.interval = 4;
  options.window = 4;
  options.max_tokens = 40;
  return options;
}

template <class T>
std::vector<T> RecordsOf(Session& session) {
  std::vector<T> found;
  for (const Record& record : session.TakeRecords()) {
    if (const T* typed = std::get_if<T>(&record)) {
      found.push_back(*typed);
    }
  }
  return found;
}

// Runs the only session of a driver to its end and checks that nothing is left behind.
void RunToEnd(FakeEngine& engine, Session& session) {
  Driver driver(engine);
  driver.Add(&session);
  ASSERT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE(session.finished());
  EXPECT_EQ(engine.open_lanes(), 0);
  EXPECT_EQ(engine.cost().cells_used, 0);
}

// A text of `length` characters that ends in "=answer" and the end token.
ScriptedNext Write(std::string_view written, size_t length, char answer, float sureness = 5.0F) {
  const size_t at = written.size();
  if (at < length) {
    return {static_cast<char>('a' + at % 7), sureness};
  }
  if (at == length) {
    return {'=', sureness};
  }
  return {at == length + 1 ? answer : '$', sureness};
}

TEST(HyperSession, WarmupPathsAreThoseOfSelfConsistency) {
  const Script script = [](uint64_t key, std::string_view written, int) {
    return Write(written, 5 + static_cast<size_t>(key % 9), static_cast<char>('0' + key % 3));
  };
  FakeEngine first(ScriptedOptions(script));
  FakeEngine second(ScriptedOptions(script));
  auto hyper = ScriptedSession(first, "hyper", HyperOptions());
  auto sc = ScriptedSession(second, "sc", HyperOptions());
  RunToEnd(first, *hyper);
  RunToEnd(second, *sc);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(hyper->pool().paths()[i].warmup);
    EXPECT_EQ(hyper->pool().paths()[i].text, sc->pool().paths()[i].text);
    EXPECT_EQ(hyper->pool().paths()[i].confidences, sc->pool().paths()[i].confidences);
  }
}

TEST(HyperSession, TheListsOfTheWarmupAreDroppedOnceItsMaximaAreTaken) {
  FakeEngine engine(ScriptedOptions(
      [](uint64_t, std::string_view written, int) { return Write(written, 12, '7'); }));
  auto session = ScriptedSession(engine, "hyper", HyperOptions());
  RunToEnd(engine, *session);
  EXPECT_GT(RecordsOf<WarmupRecord>(*session).at(0).maxima.confidence.value, 0);
  for (const Path& path : session->pool().paths()) {
    EXPECT_TRUE(path.top_history.empty());
    EXPECT_EQ(path.confidences.size(), path.tokens.size());
  }
}

TEST(HyperSession, DecidesAtOneAndEveryIntervalAfter) {
  FakeEngine engine(ScriptedOptions(
      [](uint64_t, std::string_view written, int) { return Write(written, 12, '7'); }));
  MethodOptions options = HyperOptions();
  EXPECT_TRUE(SetOption(options, "actions", "none").ok());
  auto session = ScriptedSession(engine, "hyper", options);
  RunToEnd(engine, *session);
  const auto decisions = RecordsOf<DecisionRecord>(*session);
  ASSERT_EQ(decisions.size(), 4U);  // 15 tokens: at 1, 5, 9 and 13
  for (size_t i = 0; i < decisions.size(); ++i) {
    EXPECT_EQ(decisions[i].position, 1 + 4 * static_cast<int>(i));
    EXPECT_EQ(decisions[i].action, Action::kNone);
    EXPECT_EQ(decisions[i].paths_before, 8);
    EXPECT_EQ(decisions[i].raw.consensus, 1.0);
    EXPECT_EQ(decisions[i].raw.diversity, 0.0);
  }
  const SessionResult result = session->Result();
  EXPECT_EQ(result.answer, "7");
  EXPECT_EQ(result.voting_paths, 12);
  EXPECT_EQ(result.ledger.generated, 12 * 15);
  EXPECT_EQ(result.ledger.effective(), 12 * 15);
  EXPECT_EQ(result.ledger.lanes_opened, 12);
  EXPECT_EQ(result.ledger.lanes_peak, 8);
  EXPECT_EQ(result.ledger.positions, 30);  // 15 of warm-up, 15 of the pool
  EXPECT_DOUBLE_EQ(result.ledger.mean_lanes(), 6.0);
  EXPECT_EQ(result.ledger.prefilled, 1);
}

TEST(HyperSession, APoolInWavesDoublesAndFillsNoMoreThanItsWave) {
  // All of a wave but its first path are pruned at their fifth token, so Branch fills it again.
  FakeEngine engine(ScriptedOptions([](uint64_t key, std::string_view written, int) {
    const int index = PathIndexOf(key);
    const bool weak = index > 4 && index != 8 && index != 16 && written.size() >= 4;
    return Write(written, 14, '7', weak ? 0.2F : 6.0F);
  }));
  MethodOptions options = HyperOptions();
  options.width = 16;
  options.launch = LaunchOrder::kWaves;
  EXPECT_TRUE(SetOption(options, "threshold", "top:4").ok());
  EXPECT_TRUE(SetOption(options, "force-decision", "1").ok());
  EXPECT_TRUE(SetOption(options, "force-action", "branch").ok());
  auto session = ScriptedSession(engine, "hyper", options);
  RunToEnd(engine, *session);
  std::vector<int> first;  // paths before and after the first decision of each wave
  for (const DecisionRecord& decision : RecordsOf<DecisionRecord>(*session)) {
    if (decision.position == 1) {
      first.push_back(decision.paths_before);
      EXPECT_EQ(decision.expansion, 1);
    }
    if (decision.step == 1) {
      EXPECT_EQ(decision.paths_before, 1);
      EXPECT_EQ(decision.expansion, 4);  // S_max is the wave, not the pool
      EXPECT_EQ(decision.paths_after, 4);
    }
  }
  EXPECT_EQ(first, std::vector<int>({4, 8, 4}));  // 4 of warm-up before them
  const SessionResult result = session->Result();
  EXPECT_EQ(result.ledger.lanes_opened, 4 + 16 + 3);
  EXPECT_EQ(result.ledger.positions, 4 * 17);
}

TEST(HyperSession, ADecidedVoteOpensNoMoreWaves) {
  FakeEngine engine(ScriptedOptions(
      [](uint64_t, std::string_view written, int) { return Write(written, 12, '7'); }));
  MethodOptions options = HyperOptions();
  options.width = 16;
  options.launch = LaunchOrder::kWaves;
  for (const auto& [name, text] :
       {std::pair("stop", "0.99"), std::pair("actions", "none"), std::pair("vote", "majority")}) {
    EXPECT_TRUE(SetOption(options, name, text).ok());
  }
  auto session = ScriptedSession(engine, "hyper", options);
  RunToEnd(engine, *session);
  // Four paths that agree are 0.97, eight are enough: the waves of 8 and 4 are not opened.
  EXPECT_EQ(session->Result().answer, "7");
  EXPECT_EQ(session->Result().ledger.lanes_opened, 8);
}

TEST(HyperSession, PrunesAtTheTokenWhereTheFullWindowFalls) {
  // Warm-up is sure; of the pool, path 4 grows unsure at its 6th token.
  FakeEngine engine(ScriptedOptions([](uint64_t key, std::string_view written, int) {
    const bool weak = PathIndexOf(key) == 4 && written.size() >= 5;
    return Write(written, 12, '7', weak ? 0.5F : 6.0F);
  }));
  MethodOptions options = HyperOptions();
  EXPECT_TRUE(SetOption(options, "threshold", "top:2").ok());
  EXPECT_TRUE(SetOption(options, "actions", "none").ok());
  auto session = ScriptedSession(engine, "hyper", options);
  RunToEnd(engine, *session);
  const Path& weak = session->pool().paths()[4];
  EXPECT_EQ(weak.status, PathStatus::kPruned);
  EXPECT_EQ(weak.length(), 6);
  EXPECT_LT(weak.lowest_window, *session->pool().threshold());
  for (size_t i = 5; i < 12; ++i) {
    EXPECT_EQ(session->pool().paths()[i].status, PathStatus::kFinished);
  }
  EXPECT_EQ(session->Result().ledger.generated, 11 * 15 + 6);
}

TEST(HyperSession, BranchFillsTheWidthAndChildrenInherit) {
  // All pool paths but 4 and 5 are pruned early; the survivors agree in everything, so diversity
  // and consensus ask for an expansion.
  FakeEngine engine(ScriptedOptions([](uint64_t key, std::string_view written, int) {
    const int index = PathIndexOf(key);
    const bool weak = index >= 6 && written.size() >= 4;
    return Write(written, 14, '7', weak ? 0.2F : 6.0F);
  }));
  MethodOptions options = HyperOptions();
  EXPECT_TRUE(SetOption(options, "threshold", "top:4").ok());
  EXPECT_TRUE(SetOption(options, "actions", "none,branch").ok());
  auto session = ScriptedSession(engine, "hyper", options);
  // Make Branch win: with one action allowed besides None, normalised confidence and entropy
  // decide.
  RunToEnd(engine, *session);
  const auto decisions = RecordsOf<DecisionRecord>(*session);
  const auto branch = std::find_if(decisions.begin(), decisions.end(), [](const auto& decision) {
    return decision.action == Action::kBranch && decision.expansion > 1;
  });
  if (branch == decisions.end()) {
    for (const auto& decision : decisions) {
      ADD_FAILURE() << decision.position << " none " << decision.scores[0] << " branch "
                    << decision.scores[3] << " paths " << decision.paths_before;
    }
    return;
  }
  EXPECT_EQ(branch->paths_before, 2);
  EXPECT_EQ(branch->expansion, 4);
  EXPECT_EQ(branch->paths_after, 8);
  int forks = 0;
  for (const Path& path : session->pool().paths()) {
    if (path.parent == kNoPath) {
      continue;
    }
    ++forks;
    const Path& parent = session->pool().path(path.parent);
    EXPECT_EQ(path.fork_position, branch->position);
    EXPECT_TRUE(std::equal(path.tokens.begin(), path.tokens.begin() + path.fork_position,
                           parent.tokens.begin()));
    EXPECT_TRUE(std::equal(path.confidences.begin(), path.confidences.begin() + path.fork_position,
                           parent.confidences.begin()));
    EXPECT_EQ(path.length(), 17);  // L counts the shared prefix
  }
  EXPECT_EQ(forks, 6);
  // Abs tokens do not count it twice.
  const int64_t own = 4 * 17 + 2 * 17 + 6 * 5 + 6 * (17 - branch->position);
  EXPECT_EQ(session->Result().ledger.generated, own);
}

// A pool of 2 survivors of 8: paths of index >= 6 are pruned at their 5th token.
Script TwoSurvivors(size_t length) {
  return [length](uint64_t key, std::string_view written, int) {
    const bool weak = PathIndexOf(key) >= 6 && written.size() >= 4;
    return Write(written, length, '7', weak ? 0.2F : 6.0F);
  };
}

TEST(HyperSession, MultiTokenKeepsTheSurestContinuationOfEachRoot) {
  // Children grow surer than their roots by their number: the third child of each root wins. The
  // key of child c of root p at decision d is ChildPathKey(p, d, c).
  const auto child_of = [](uint64_t key) {
    for (const int root : {4, 5}) {
      for (uint32_t step = 0; step < 6; ++step) {
        for (uint32_t child = 1; child < 4; ++child) {
          if (key == ChildPathKey(ScriptedPathKey(static_cast<uint64_t>(root)), step, child)) {
            return static_cast<int>(child);
          }
        }
      }
    }
    return 0;
  };
  const Script base = TwoSurvivors(20);
  FakeEngine engine(ScriptedOptions([&](uint64_t key, std::string_view written, int routes) {
    ScriptedNext next = base(key, written, routes);
    const int child = child_of(key);
    if (child == 2) {
      next.sureness += 3.0F;
    }
    return next;
  }));
  MethodOptions options = HyperOptions();
  EXPECT_TRUE(SetOption(options, "threshold", "top:4").ok());
  EXPECT_TRUE(SetOption(options, "actions", "none,multi_token").ok());
  auto session = ScriptedSession(engine, "hyper", options);
  RunToEnd(engine, *session);
  const auto decisions = RecordsOf<DecisionRecord>(*session);
  const auto multi = std::find_if(decisions.begin(), decisions.end(), [](const auto& decision) {
    return decision.action == Action::kMultiToken && decision.expansion > 1;
  });
  ASSERT_NE(multi, decisions.end());
  EXPECT_EQ(multi->expansion, 4);
  EXPECT_EQ(multi->paths_before, 2);
  EXPECT_EQ(multi->paths_after, 2);
  EXPECT_EQ(multi->lanes_after, 8);
  int merged = 0;
  for (const Path& path : session->pool().paths()) {
    if (path.status == PathStatus::kMerged) {
      ++merged;
      EXPECT_TRUE(path.answer.empty());
      EXPECT_EQ(child_of(session->pool().path(path.kept).key), 2);
      EXPECT_FALSE(session->method().Votes(session->pool(), path));
    }
  }
  EXPECT_GE(merged, 6);  // both roots and two children each, at the first such decision
  // The survivors end as the second children.
  int finished_children = 0;
  for (const Path& path : session->pool().paths()) {
    finished_children += path.status == PathStatus::kFinished && path.parent != kNoPath ? 1 : 0;
  }
  EXPECT_EQ(finished_children, 2);
}

TEST(HyperSession, MultiTokenChildThatEndsKeepsItsAnswer) {
  // The first child of root 4 writes its answer at once and is surest; the root's line is closed.
  const uint64_t root = ScriptedPathKey(4);
  FakeEngine engine(ScriptedOptions([&](uint64_t key, std::string_view written, int routes) {
    for (uint32_t step = 0; step < 8; ++step) {
      if (key == ChildPathKey(root, step, 1)) {
        const size_t equals = written.find('=');
        if (equals == std::string_view::npos) {
          return ScriptedNext{'=', 12.0F};
        }
        return ScriptedNext{written.size() == equals + 1 ? '9' : '$', 12.0F};
      }
    }
    return TwoSurvivors(30)(key, written, routes);
  }));
  MethodOptions options = HyperOptions();
  EXPECT_TRUE(SetOption(options, "threshold", "top:4").ok());
  EXPECT_TRUE(SetOption(options, "actions", "none,multi_token").ok());
  auto session = ScriptedSession(engine, "hyper", options);
  RunToEnd(engine, *session);
  int nines = 0;
  for (const Path& path : session->pool().paths()) {
    if (path.answer == "9") {
      ++nines;
      EXPECT_EQ(path.status, PathStatus::kFinished);
      EXPECT_TRUE(session->method().Votes(session->pool(), path));
    }
  }
  EXPECT_GE(nines, 1);
  EXPECT_EQ(session->pool().paths()[4].status, PathStatus::kMerged);
  EXPECT_EQ(session->pool().path(session->pool().paths()[4].kept).answer, "9");
}

TEST(HyperSession, SingleTokenRefinesUntilTheNextDecisionAndChargesK) {
  // All but two paths of the pool end early, and the two are less sure than the warm-up was.
  FakeEngine engine(ScriptedOptions([](uint64_t key, std::string_view written, int) {
    const int index = PathIndexOf(key);
    return Write(written, index >= 6 ? 2 : 16, '7', index >= 4 ? 4.0F : 6.0F);
  }));
  MethodOptions options = HyperOptions();
  EXPECT_TRUE(SetOption(options, "actions", "single_token").ok());
  auto session = ScriptedSession(engine, "hyper", options);
  RunToEnd(engine, *session);
  std::vector<RefineRecord> refinements;
  std::vector<DecisionRecord> decisions;
  for (const Record& record : session->TakeRecords()) {
    if (const auto* refine = std::get_if<RefineRecord>(&record)) {
      refinements.push_back(*refine);
    } else if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      decisions.push_back(*decision);
    }
  }
  // Decisions at 1 (8 of 8 paths: r_t = 1, a no-op), at 5 (the short paths have just ended) and on.
  ASSERT_EQ(decisions.size(), 5U);
  EXPECT_EQ(decisions[0].expansion, 1);
  EXPECT_FALSE(decisions[0].note.empty());
  for (size_t i = 1; i < decisions.size(); ++i) {
    EXPECT_EQ(decisions[i].action, Action::kSingleToken);
    EXPECT_EQ(decisions[i].expansion, 4);
    EXPECT_EQ(decisions[i].lanes_after, 8);
    EXPECT_EQ(decisions[i].paths_after, 2);
  }
  ASSERT_EQ(refinements.size(), 2U);  // K stays 4, so it is set once per path
  EXPECT_EQ(refinements[0].position, 5);
  EXPECT_EQ(refinements[0].routes, 4);
  for (const PathId id : {4, 5}) {
    const std::vector<uint8_t>& counts = session->pool().path(id).route_counts;
    ASSERT_EQ(counts.size(), 19U);
    for (size_t token = 0; token < counts.size(); ++token) {
      EXPECT_EQ(counts[token], token < 5 ? 1 : 4) << token;
    }
  }
  EXPECT_EQ(session->Result().ledger.refined, 2 * 14);
  EXPECT_EQ(session->Result().ledger.extra_routes, 2 * 14 * 3);
  const Ledger ledger = session->Result().ledger;
  int64_t refined = 0;
  int64_t extra = 0;
  for (const Path& path : session->pool().paths()) {
    for (size_t i = static_cast<size_t>(path.fork_position); i < path.route_counts.size(); ++i) {
      refined += path.route_counts[i] > 1 ? 1 : 0;
      extra += path.route_counts[i] - 1;
    }
  }
  EXPECT_EQ(ledger.refined, refined);
  EXPECT_EQ(ledger.extra_routes, extra);
  EXPECT_EQ(ledger.effective(), ledger.generated + extra);
}

}  // namespace
}  // namespace hyper

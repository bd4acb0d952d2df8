// The effect of each action on the pool, by a controller whose actions the test names. Survivors do
// not divide the width, and the continuations write different texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/core/random.h"
#include "src/decode/methods/hyper.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr SessionSeed kSeed{7, 3};
constexpr int kWarmup = 2;
constexpr Action kNone = Action::kNone;
constexpr Action kSingle = Action::kSingleToken;
constexpr Action kMulti = Action::kMultiToken;
constexpr Action kBranch = Action::kBranch;

// Takes the given actions, one after the other, then None.
class Told : public HyperMethod {
 public:
  Told(const MethodOptions& options, std::vector<Action> actions)
      : HyperMethod(options), actions_(std::move(actions)) {}

 protected:
  Action Choose(const Pool& /*pool*/, const DecisionRecord& decision) const override {
    const auto step = static_cast<size_t>(decision.step);
    return step < actions_.size() ? actions_[step] : Action::kNone;
  }

 private:
  std::vector<Action> actions_;
};

// Who writes: a path opened on the prompt by its number, or child `child` of path `root`'s
// expansion at decision `step`.
struct Writer {
  int root = -1;
  int step = -1;
  int child = 0;
  bool operator==(const Writer&) const = default;
};

Writer WriterOf(uint64_t key) {
  static const std::map<uint64_t, Writer> kWriters = [] {
    std::map<uint64_t, Writer> writers;
    for (int root = 0; root < 12; ++root) {
      const uint64_t of_root =
          PathKey({kSeed.run_seed, kSeed.question}, static_cast<uint64_t>(root));
      writers[of_root] = {root, -1, 0};
      for (int step = 0; step < 8; ++step) {
        for (int child = 1; child < 8; ++child) {
          writers[ChildPathKey(of_root, static_cast<uint32_t>(step),
                               static_cast<uint32_t>(child))] = {root, step, child};
        }
      }
    }
    return writers;
  }();
  const auto at = kWriters.find(key);
  return at == kWriters.end() ? Writer{} : at->second;
}

MethodOptions ToldOptions() {
  MethodOptions options = *Preset("short");
  options.width = 8;
  options.warmup = kWarmup;
  options.threshold.kind = ThresholdRule::Kind::kOff;
  options.interval = 4;
  options.window = 4;
  options.max_tokens = 60;
  return options;
}

// What a path writes at its next token; `at` counts its tokens so far.
using Writing = std::function<ScriptedNext(const Writer& writer, size_t at, std::string_view text)>;

// Characters up to `length`, then "=7" and the end.
ScriptedNext Until(size_t length, size_t at, char letter = 'a', float sureness = 5.0F) {
  if (at < length) {
    return {static_cast<char>(letter + at % 5), sureness};
  }
  return {at == length ? '=' : at == length + 1 ? '7' : '$', sureness};
}

struct Decoded {
  std::unique_ptr<FakeEngine> engine;
  std::unique_ptr<Session> session;
  std::vector<Record> records;

  const Path& path(PathId id) const { return session->pool().path(id); }
  const std::vector<Path>& paths() const { return session->pool().paths(); }
  template <class T>
  std::vector<T> Of() const {
    std::vector<T> found;
    for (const Record& record : records) {
      if (const T* typed = std::get_if<T>(&record)) {
        found.push_back(*typed);
      }
    }
    return found;
  }
  // The path of a writer; kNoPath: there was none.
  PathId IdOf(const Writer& writer) const {
    for (const Path& each : paths()) {
      if (WriterOf(each.key) == writer) {
        return each.id;
      }
    }
    return kNoPath;
  }
};

Decoded Decode(const MethodOptions& options, std::vector<Action> actions, const Writing& writing,
               int64_t cells = 1 << 20) {
  Decoded run;
  run.engine = std::make_unique<FakeEngine>(
      ScriptedOptions([writing](uint64_t key, std::string_view text, int) {
        return writing(WriterOf(key), text.size(), text);
      }));
  run.session = ScriptedSession(*run.engine, ScriptedPlan("hyper", options), cells, {}, kSeed,
                                std::make_unique<Told>(options, std::move(actions)));
  Driver driver(*run.engine);
  driver.Add(run.session.get());
  EXPECT_TRUE(driver.RunAll().ok());
  EXPECT_TRUE(run.session->status().ok());
  EXPECT_EQ(run.engine->open_lanes(), 0);
  run.records = run.session->TakeRecords();
  return run;
}

// `survivors` of the 8 paths of the pool outlive their third token; warm-up and survivors write
// `length` characters.
Writing Survivors(int survivors, size_t length) {
  return [=](const Writer& writer, size_t at, std::string_view) {
    const bool early = writer.step < 0 && writer.root >= kWarmup + survivors;
    return Until(early ? 1 : length, at, static_cast<char>('a' + writer.root + 3 * writer.child),
                 5.0F - 0.1F * static_cast<float>(writer.root));
  };
}

TEST(Expansion, BranchNeverPassesTheWidth) {
  for (const int survivors : {3, 5, 6, 7}) {
    SCOPED_TRACE(survivors);
    const Decoded run = Decode(ToldOptions(), {kNone, kBranch}, Survivors(survivors, 30));
    const DecisionRecord branch = run.Of<DecisionRecord>().at(1);
    EXPECT_EQ(branch.paths_before, survivors);
    EXPECT_EQ(branch.expansion, (8 + survivors - 1) / survivors);
    EXPECT_EQ(branch.paths_after, 8);
    EXPECT_EQ(branch.lanes_after, 8);
    EXPECT_TRUE(branch.acted);
    EXPECT_EQ(run.session->Result().ledger.lanes_peak, 8);
    // The surest roots get theirs first; the last one gets what is left.
    std::map<PathId, int> forks;
    for (const Path& path : run.paths()) {
      forks[path.parent] += path.parent != kNoPath ? 1 : 0;
    }
    EXPECT_EQ(forks[kWarmup], branch.expansion - 1);
    EXPECT_LE(forks[kWarmup + survivors - 1], branch.expansion - 1);
  }
}

TEST(Expansion, AForkGoesOnWithItsParentsWindow) {
  // Threshold 4 or so: the child falls at its first token, and one low token of four is enough.
  MethodOptions options = ToldOptions();
  options.threshold = {ThresholdRule::Kind::kTop, 1, 0};
  const Decoded run =
      Decode(options, {kNone, kBranch}, [](const Writer& writer, size_t at, std::string_view) {
        const bool early = writer.step < 0 && writer.root >= kWarmup + 3;
        return Until(early ? 1 : 30, at, 'a', writer.step >= 0 ? 0.5F : 6.0F);
      });
  ASSERT_EQ(run.Of<DecisionRecord>().at(1).paths_after, 8);
  int children = 0;
  for (const Path& path : run.paths()) {
    if (path.parent != kNoPath) {
      ++children;
      EXPECT_EQ(path.status, PathStatus::kPruned);
      EXPECT_EQ(path.length(), path.fork_position + 1);
    }
  }
  EXPECT_EQ(children, 5);
}

TEST(Expansion, SingleTokenRefinesEveryPathByKRoutes) {
  for (const int survivors : {2, 3, 5, 7}) {
    SCOPED_TRACE(survivors);
    MethodOptions options = ToldOptions();
    options.lane_factor = 1;  // routes are rows, not lanes
    const Decoded run = Decode(options, {kNone, kSingle, kSingle}, Survivors(survivors, 30));
    const int routes = (8 + survivors - 1) / survivors;
    const DecisionRecord single = run.Of<DecisionRecord>().at(1);
    EXPECT_EQ(single.expansion, routes);
    EXPECT_EQ(single.paths_after, survivors);
    EXPECT_EQ(single.lanes_after, survivors * routes);
    EXPECT_TRUE(single.note.empty()) << single.note;
    for (PathId id = kWarmup; id < kWarmup + survivors; ++id) {
      const std::vector<uint8_t>& counts = run.path(id).route_counts;
      for (size_t token = 0; token < counts.size(); ++token) {
        EXPECT_EQ(counts[token], token >= 5 && token < 13 ? routes : 1) << id << " " << token;
      }
    }
    EXPECT_EQ(run.session->Result().ledger.lanes_peak, 8);
  }
}

TEST(Expansion, WhereCellsAreShortTheLeastConfidentPathLosesItsRoutesLast) {
  // At the decision the prompt and five paths of 5 tokens hold 26 cells; 5 paths x 4 tokens are
  // kept for the interval, so that 49 leave 3 for the one extra route of each.
  MethodOptions options = ToldOptions();
  const Decoded run = Decode(options, {kNone, kSingle}, Survivors(5, 12), 50);
  const DecisionRecord single = run.Of<DecisionRecord>().at(1);
  ASSERT_EQ(single.expansion, 2);
  ASSERT_TRUE(single.acted);
  const int refined = single.lanes_after - single.paths_before;
  ASSERT_GT(refined, 0);
  ASSERT_LT(refined, 5);
  EXPECT_NE(single.note.find("most confident"), std::string::npos) << single.note;
  for (PathId id = kWarmup; id < kWarmup + 5; ++id) {  // the later, the less sure
    EXPECT_EQ(run.path(id).route_counts[5], id >= kWarmup + 5 - refined ? 2 : 1) << id;
  }
}

TEST(Expansion, NoneTakesTheRoutesBack) {
  const Decoded run = Decode(ToldOptions(), {kNone, kSingle, kNone}, Survivors(3, 30));
  for (PathId id = kWarmup; id < kWarmup + 3; ++id) {
    const std::vector<uint8_t>& counts = run.path(id).route_counts;
    EXPECT_EQ(counts[8], 3);
    EXPECT_EQ(counts[9], 1);
    EXPECT_EQ(counts.back(), 1);
  }
}

TEST(Expansion, OtherActionsTakeTheRoutesBackToo) {
  for (const Action action : {kBranch, kMulti}) {
    const Decoded run = Decode(ToldOptions(), {kNone, kSingle, action}, Survivors(3, 30));
    EXPECT_EQ(run.path(kWarmup).route_counts[8], 3);
    EXPECT_EQ(run.path(kWarmup).route_counts[9], 1);
  }
}

TEST(Expansion, MultiTokenMergesAfterTheHorizon) {
  MethodOptions options = ToldOptions();
  options.horizon = 2;
  const Decoded run = Decode(options, {kNone, kMulti}, Survivors(3, 30));
  const DecisionRecord multi = run.Of<DecisionRecord>().at(1);
  EXPECT_EQ(multi.position, 5);
  EXPECT_EQ(multi.paths_after, 3);
  EXPECT_EQ(multi.lanes_after, 9);
  int merged = 0;
  for (const Path& path : run.paths()) {
    if (path.status == PathStatus::kMerged) {
      ++merged;
      EXPECT_EQ(path.length(), 5 + 2);
    }
  }
  EXPECT_EQ(merged, 6);
  EXPECT_EQ(run.Of<DecisionRecord>().at(2).position, 9);  // decisions keep their distance
  EXPECT_EQ(run.Of<DecisionRecord>().at(2).paths_before, 3);
}

TEST(Expansion, MultiTokenIsJudgedByItsOwnTokensAlone) {
  // The common prefix is unsure. Child 1 ends after two sure tokens; the root writes four tokens
  // that are less sure, but whose number would lift its mean over the whole path above.
  const Decoded run =
      Decode(ToldOptions(), {kNone, kMulti}, [](const Writer& writer, size_t at, std::string_view) {
        const bool early = writer.step < 0 && writer.root > kWarmup;
        if (early || writer.root < kWarmup) {
          return Until(early ? 1 : 30, at);
        }
        if (writer.child == 1 && at >= 5) {
          return ScriptedNext{at == 5 ? '=' : '$', 9.0F};
        }
        return Until(30, at, 'a', at < 5 ? 1.0F : writer.child == 0 ? 8.0F : 2.0F);
      });
  const PathId child = run.IdOf({kWarmup, 1, 1});
  ASSERT_NE(child, kNoPath);
  EXPECT_EQ(run.path(child).status, PathStatus::kFinished);
  EXPECT_EQ(run.path(kWarmup).status, PathStatus::kMerged);
  EXPECT_EQ(run.path(kWarmup).kept, child);
}

TEST(Expansion, APrunedContinuationWinsNoFamily) {
  MethodOptions options = ToldOptions();
  options.threshold = {ThresholdRule::Kind::kTop, 1, 0};
  options.window = 1;
  // Child 1 is the surest by far until its last token of the expansion, where it falls.
  const Decoded run =
      Decode(options, {kNone, kMulti}, [](const Writer& writer, size_t at, std::string_view) {
        const bool early = writer.step < 0 && writer.root >= kWarmup + 3;
        if (writer.child == 1 && writer.root == kWarmup && at >= 5) {
          return ScriptedNext{static_cast<char>('p' + at % 3), at == 8 ? 3.0F : 20.0F};
        }
        return Until(early ? 1 : 30, at, 'a', writer.root < kWarmup ? 6.0F : 6.5F);
      });
  const PathId child = run.IdOf({kWarmup, 1, 1});
  ASSERT_NE(child, kNoPath);
  EXPECT_EQ(run.path(child).length(), 9);
  for (const Path& path : run.paths()) {
    EXPECT_NE(path.kept, child);
  }
  // Another of the family goes on to its end.
  const auto goes_on = [&](const Path& path) {
    return WriterOf(path.key).root == kWarmup && path.id != child &&
           path.status == PathStatus::kFinished;
  };
  EXPECT_EQ(std::count_if(run.paths().begin(), run.paths().end(), goes_on), 1);
}

// Child 1 of the first root ends within the expansion with another answer, but child 2 is surer.
Writing FinishedLoser() {
  return [](const Writer& writer, size_t at, std::string_view) {
    const bool early = writer.step < 0 && writer.root >= kWarmup + 3;
    if (writer.root == kWarmup && writer.child == 1 && at >= 5) {
      return ScriptedNext{at == 5 ? '=' : at == 6 ? '9' : '$', 5.0F};
    }
    const bool surer = writer.root == kWarmup && writer.child == 2;
    return Until(early ? 1 : 30, at, 'a', surer ? 8.0F : 5.0F);
  };
}

TEST(Expansion, AFinishedContinuationThatLosesIsDiscarded) {
  const Decoded run = Decode(ToldOptions(), {kNone, kMulti}, FinishedLoser());
  const Path& loser = run.path(run.IdOf({kWarmup, 1, 1}));
  EXPECT_EQ(loser.status, PathStatus::kMerged);
  EXPECT_EQ(loser.kept, run.IdOf({kWarmup, 1, 2}));
  EXPECT_TRUE(loser.answer.empty());
  EXPECT_FALSE(run.session->method().Votes(run.session->pool(), loser));
  std::vector<PathStatus> ends;  // the trace says both
  for (const FinishRecord& finish : run.Of<FinishRecord>()) {
    if (finish.path == loser.id) {
      ends.push_back(finish.status);
    }
  }
  EXPECT_EQ(ends, (std::vector<PathStatus>{PathStatus::kFinished, PathStatus::kMerged}));
  EXPECT_EQ(run.session->Result().votes.at("majority").scores.size(), 1U);
}

TEST(Expansion, AFinishedContinuationVotesWhereItIsKept) {
  MethodOptions options = ToldOptions();
  options.keep_finished = true;
  const Decoded run = Decode(options, {kNone, kMulti}, FinishedLoser());
  const Path& loser = run.path(run.IdOf({kWarmup, 1, 1}));
  EXPECT_EQ(loser.status, PathStatus::kFinished);
  EXPECT_TRUE(run.session->method().Votes(run.session->pool(), loser));
  const std::vector<NoticeRecord> notices = run.Of<NoticeRecord>();
  EXPECT_TRUE(std::any_of(notices.begin(), notices.end(), [](const NoticeRecord& notice) {
    return notice.text.find("keeps its vote") != std::string::npos;
  }));
}

// The warm-up is 13 tokens long, the pool longer.
Decoded Late(std::vector<Action> actions, bool late_expansion) {
  MethodOptions options = ToldOptions();
  options.late_expansion = late_expansion;
  return Decode(options, std::move(actions), [](const Writer& writer, size_t at, std::string_view) {
    const bool early = writer.step < 0 && writer.root >= kWarmup + 3;
    return Until(early ? 1 : writer.root < kWarmup ? 10 : 40, at);
  });
}

TEST(Expansion, PathsNearTheirEndAreNotForkedUnlessTold) {
  for (const Action action : {kBranch, kMulti}) {
    // At 9 tokens four are left, enough for an interval of 4; at 13 there are none.
    const Decoded in_time = Late({kNone, kNone, action}, false);
    EXPECT_TRUE(in_time.Of<DecisionRecord>().at(2).acted);
    const DecisionRecord late =
        Late({kNone, kNone, kNone, action}, false).Of<DecisionRecord>().at(3);
    EXPECT_EQ(late.action, action);
    EXPECT_FALSE(late.acted);
    EXPECT_EQ(late.lanes_after, late.paths_before);
    EXPECT_NE(late.note.find("not expanded"), std::string::npos) << late.note;
    EXPECT_TRUE(Late({kNone, kNone, kNone, action}, true).Of<DecisionRecord>().at(3).acted);
  }
}

TEST(Expansion, WhatCouldDoNothingIsRecordedAsSuch) {
  const Decoded run = Decode(ToldOptions(), {kBranch, kSingle, kNone, kMulti}, Survivors(8, 30));
  const std::vector<DecisionRecord> decisions = run.Of<DecisionRecord>();
  for (const int i : {0, 1, 2, 3}) {
    EXPECT_FALSE(decisions.at(static_cast<size_t>(i)).acted) << i;
  }
  EXPECT_EQ(decisions[0].action, kBranch);  // what the scores said stays in the record
  EXPECT_NE(decisions[0].note.find("nothing to expand"), std::string::npos);
  EXPECT_EQ(run.session->Result().ledger.extra_routes, 0);
}

// The continuations of the last expansion all end within it: one of them is kept nevertheless.
TEST(Expansion, AFamilyThatEndedAsAWholeIsMergedToo) {
  const Decoded run =
      Decode(ToldOptions(), {kNone, kMulti}, [](const Writer& writer, size_t at, std::string_view) {
        const bool early = writer.step < 0 && writer.root > kWarmup;
        return Until(writer.root < kWarmup ? 20
                     : early               ? 1
                                           : 5,
                     at, 'a', 5.0F + static_cast<float>(writer.child));
      });
  EXPECT_EQ(run.path(run.IdOf({kWarmup, 1, 7})).status, PathStatus::kFinished);
  EXPECT_EQ(run.path(kWarmup).status, PathStatus::kMerged);
  EXPECT_EQ(run.session->Result().voting_paths, 2 + 7 + 1);
}

// One survivor is branched into eight; they end within an interval.
Decoded ClonesOf(bool vote_clones, bool vote_warmup) {
  MethodOptions options = ToldOptions();
  options.vote_clones = vote_clones;
  options.vote_warmup = vote_warmup;
  return Decode(options, {kNone, kBranch}, [](const Writer& writer, size_t at, std::string_view) {
    const bool early = writer.step < 0 && writer.root > kWarmup;
    return Until(writer.root < kWarmup ? 20 : early ? 1 : 5, at);
  });
}

TEST(Expansion, ClonesAndWarmupVoteAsTheOptionsSay) {
  // 2 of the warm-up, 7 short ones, the survivor and its 7 copies.
  const Decoded all = ClonesOf(true, true);
  EXPECT_EQ(all.session->Result().voting_paths, 2 + 7 + 1 + 7);
  EXPECT_EQ(ClonesOf(true, false).session->Result().voting_paths, 7 + 1 + 7);
  EXPECT_EQ(ClonesOf(false, true).session->Result().voting_paths, 2 + 7 + 1);
  int notices = 0;
  for (const NoticeRecord& notice : all.Of<NoticeRecord>()) {
    notices += notice.text.find("nearly a copy") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(notices, 1);
}

}  // namespace
}  // namespace hyper

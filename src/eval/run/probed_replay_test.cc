// Rules that ask running paths, on pools with recorded replies. The expected tokens are counted by
// hand, and by a second program that knows nothing of sessions.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "src/core/random.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/pool_study.h"
#include "src/eval/run/probed_pool.h"
#include "src/report/json.h"

namespace hyper::eval {
namespace {

struct AskedBranch {
  int tokens = 0;
  std::string answer;  // "ERR": none
  std::vector<std::string> replies;
};
using AskedBranches = std::vector<AskedBranch>;

TracePool AskedPool(const AskedBranches& branches, int every) {
  Json list = Json::array();
  for (const AskedBranch& branch : branches) {
    list.push_back(Json::array({branch.replies, branch.tokens, branch.answer}));
  }
  const Json object = {{"question", "how many?"},
                       {"gold_answer", "4"},
                       {"probe_freq", every},
                       {"each_branch", std::move(list)}};
  TracePool pool;
  pool.made_by = ProbedRun();
  pool.entries = {*EntryOfProbes(object, "q", AnswerEquality::kMaths)};
  return pool;
}

struct AskedOutcome {
  std::optional<std::string> answer;
  int64_t generated = 0;
  int64_t sequential = 0;
};

Result<StoredItem> AskedItem(const TracePool& pool, const std::string& method,
                             OptionValues options) {
  Store store = std::move(*Store::Open(":memory:", DatabaseMode::kCreate));
  options.emplace_back("max-tokens", LongestTrace(pool));
  const Result<RunPlan> row = ResolveRun({method, "paper", options, {}}, {});
  if (!row) {
    return row.error();
  }
  PoolStudyPlan plan;
  plan.rows = {{"row", *row, {}}};
  const auto runs = RunPoolStudy(pool, plan, store);
  return runs ? store.LoadItem({runs->front(), 1, 0}) : Result<StoredItem>(runs.error());
}

AskedOutcome ReplayedAsked(const TracePool& pool, const std::string& method,
                           const OptionValues& options) {
  const Result<StoredItem> item = AskedItem(pool, method, options);
  EXPECT_TRUE(item.has_value()) << item.error().message;
  EXPECT_EQ(item->status, ItemStatus::kDone) << item->reason;
  EXPECT_EQ(item->ledger.probe, 0);
  int64_t of_paths = 0;
  for (const StoredPath& path : item->paths) {
    EXPECT_EQ(path.kind, PathKind::kReasoning);
    of_paths += path.tokens;
  }
  EXPECT_EQ(of_paths, item->ledger.generated);
  return {item->answer, item->ledger.generated, item->ledger.positions};
}

const AskedBranches kThreeAsked = {
    {200, "7", {"1", "2", "3", "3", "3", "3", "3", "3", "3", "3", "5"}},
    {45, "5", {"3", "3", "3", "3"}},
    {150, "3", {"3", "4", "3", "4", "3", "4", "3", "4", "3", "4", "3", "4", "3", "3"}}};

TEST(ProbedReplay, APathEndsWhenItsLastEightRepliesAgree) {
  const AskedOutcome got = ReplayedAsked(AskedPool(kThreeAsked, 10), "certaindex",
                                         {{"width", 3}, {"probe-interval", 10}});
  EXPECT_EQ(got.answer, "3");
  EXPECT_EQ(got.generated, 100 + 45 + 150);
  EXPECT_EQ(got.sequential, 150);
}

TEST(ProbedReplay, EverySecondReplyIsReadAtTwiceTheInterval) {
  // The first path's last replies are 2 and four times 3, and then the last one again: 5.
  const AskedOutcome got = ReplayedAsked(AskedPool(kThreeAsked, 10), "certaindex",
                                         {{"width", 3}, {"probe-interval", 20}});
  EXPECT_EQ(got.generated, 200 + 45 + 150);
  AskedBranches stable = kThreeAsked;
  stable[0].replies = {"3"};  // then asked for ever, with the same reply
  EXPECT_EQ(
      ReplayedAsked(AskedPool(stable, 10), "certaindex", {{"width", 3}, {"probe-interval", 20}})
          .generated,
      160 + 45 + 150);
}

TEST(ProbedReplay, RepliesHoldAStopBack) {
  const AskedBranches branches = {{10, "4", {}},
                                  {12, "4", {"4"}},
                                  {50, "9", {"9", "4", "4", "4"}},
                                  {50, "9", {"9", "4", "4", "4"}},
                                  {50, "9", {"9", "ERR", "4", "4"}}};
  const TracePool pool = AskedPool(branches, 10);
  // P(2:0) is 7/8 when the second path ends, but three running paths have replied 9.
  const OptionValues options = {{"width", 5}, {"stop", "0.8"}};
  EXPECT_EQ(ReplayedAsked(pool, "sc", options).generated, 10 + 4 * 12);
  OptionValues probed = options;
  probed.emplace_back("probe", "on");
  probed.emplace_back("probe-interval", 10);
  const AskedOutcome got = ReplayedAsked(pool, "sc", probed);
  EXPECT_EQ(got.generated, 10 + 12 + 3 * 20);
  EXPECT_EQ(got.sequential, 20);
  EXPECT_EQ(got.answer, "4");
}

TEST(ProbedReplay, WhatWasNeverAskedIsRefusedInWords) {
  const auto refusal = [](const TracePool& pool, int interval) {
    const auto item =
        AskedItem(pool, "parallel-probe", {{"width", 2}, {"probe-interval", interval}});
    return item ? std::string() : item.error().message;
  };
  const TracePool pool = AskedPool(kThreeAsked, 10);
  EXPECT_EQ(refusal(pool, 30), "");
  EXPECT_NE(refusal(pool, 15).find("asked every 10 tokens; take a multiple"), std::string::npos);
  EXPECT_NE(refusal(AskedPool({{5, "1", {}}, {6, "1", {}}}, 10), 10).find("never asked"),
            std::string::npos);
}

TEST(ProbedReplay, AStudyThatIsAPoolKeepsTheReplies) {
  const TracePool pool = AskedPool(kThreeAsked, 10);
  Store store = std::move(*Store::Open(":memory:", DatabaseMode::kCreate));
  PoolStudyPlan plan;
  plan.rows = {{"sc", *ResolveRun({"sc", "paper", {{"width", 3}}, {}}, {}), {}}};
  plan.settings = pool.made_by.settings;
  plan.is_pool = true;
  ASSERT_TRUE(RunPoolStudy(pool, plan, store).has_value());
  const Result<TracePool> again = PoolOfStudy(store, "sc");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(ReplayedAsked(*again, "certaindex", {{"width", 3}, {"probe-interval", 10}}).generated,
            295);
}

// --- The second program: Parallel-Probe over branches whose ends are known. ---

using AskedCounts = std::map<std::string, int>;

std::string ReplyAfter(const AskedBranch& branch, int tokens, int every) {
  const auto asked = static_cast<size_t>(tokens / every);
  const std::string& text = tokens >= branch.tokens         ? branch.answer
                            : asked > branch.replies.size() ? branch.replies.back()
                                                            : branch.replies[asked - 1];
  return text == "ERR" ? "" : text;
}

// The answer of most branches, "" where none has one: of equals the earliest branch's.
std::string EarliestWinner(const std::vector<std::string>& answers,
                           const std::vector<bool>& pruned) {
  AskedCounts counts;
  int most = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    most = std::max(most, pruned[i] || answers[i].empty() ? 0 : ++counts[answers[i]]);
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!pruned[i] && most > 0 && !answers[i].empty() && counts[answers[i]] == most) {
      return answers[i];
    }
  }
  return "";
}

AskedOutcome CountedAsked(const AskedBranches& branches, int every, int interval) {
  std::vector<bool> pruned(branches.size());
  std::vector<int> apart(branches.size());
  std::vector<int> tokens(branches.size());
  std::vector<std::string> now(branches.size());
  std::string last;
  int same = 0;
  for (int step = 1;; ++step) {
    for (size_t i = 0; i < branches.size(); ++i) {
      if (!pruned[i]) {
        tokens[i] = std::min(step * interval, branches[i].tokens);
        now[i] = ReplyAfter(branches[i], step * interval, every);
      }
    }
    const bool asked =
        std::any_of(branches.begin(), branches.end(), [&](const AskedBranch& branch) {
          const auto i = static_cast<size_t>(&branch - branches.data());
          return !pruned[i] && step * interval < branch.tokens;
        });
    if (!asked) {
      break;
    }
    if (step == 1) {
      continue;
    }
    const std::string winner = EarliestWinner(now, pruned);
    for (size_t i = 0; i < branches.size() && step - 2 >= 15; ++i) {
      const bool differs =
          step * interval < branches[i].tokens && !now[i].empty() && now[i] != winner;
      apart[i] = differs ? apart[i] + 1 : 0;
      if (apart[i] >= 7) {
        pruned[i] = true;
      }
    }
    same = !winner.empty() && winner == last ? same + 1 : 0;
    last = winner;
    if (same >= 40) {
      break;
    }
  }
  AskedOutcome outcome;
  AskedCounts counts;
  for (size_t i = 0; i < branches.size(); ++i) {
    outcome.generated += tokens[i];
    outcome.sequential = std::max<int64_t>(outcome.sequential, tokens[i]);
    if (!pruned[i] && !now[i].empty()) {
      ++counts[now[i]];
    }
  }
  int most = 0;
  for (const auto& [answer, count] : counts) {
    if (count > most) {
      most = count;
      outcome.answer = answer;
    }
  }
  return outcome;
}

AskedBranches RandomAsked(uint32_t seed, int every) {
  AskedBranches branches;
  for (uint32_t i = 0; i < 12; ++i) {
    const auto words = Philox(seed, {i, 0, 0, 0});
    AskedBranch branch;
    branch.tokens = 2 + static_cast<int>(words[0] % static_cast<uint32_t>(70 * every));
    branch.answer = std::to_string(1 + words[1] % 3);
    for (int at = every; at < branch.tokens; at += every) {
      const auto draw = Philox(seed, {i, static_cast<uint32_t>(at), 1, 0});
      const uint32_t pick = draw[0] % 10;
      branch.replies.push_back(pick == 0  ? "ERR"
                               : pick < 3 ? std::to_string(1 + draw[1] % 3)
                                          : branch.answer);
    }
    branches.push_back(branch);
  }
  return branches;
}

TEST(ProbedReplay, ParallelProbeTakesTheTokensThatASecondProgramCounts) {
  int stable = 0;
  int pruned = 0;
  for (uint32_t seed = 0; seed < 80; ++seed) {
    const int every = 3 + static_cast<int>(seed % 4);
    const AskedBranches branches = RandomAsked(seed, every);
    int64_t all = 0;
    for (const AskedBranch& branch : branches) {
      all += branch.tokens;
    }
    for (const int times : {1, 2}) {
      const AskedOutcome expected = CountedAsked(branches, every, times * every);
      const AskedOutcome got = ReplayedAsked(AskedPool(branches, every), "parallel-probe",
                                             {{"width", 12}, {"probe-interval", times * every}});
      EXPECT_EQ(got.answer, expected.answer) << seed << " " << times;
      EXPECT_EQ(got.generated, expected.generated) << seed << " " << times;
      EXPECT_EQ(got.sequential, expected.sequential) << seed << " " << times;
      stable += expected.sequential == 42 * every * times ? 1 : 0;
      pruned += expected.generated < all ? 1 : 0;
    }
  }
  EXPECT_GT(stable, 3);
  EXPECT_GT(pruned, 30);
}

}  // namespace
}  // namespace hyper::eval

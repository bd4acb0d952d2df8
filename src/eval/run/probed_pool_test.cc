// Pools of answers and lengths: read from a folder, and replayed. The expected tokens are counted
// by hand, and by a second program that knows nothing of sessions.
#include "src/eval/run/probed_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "src/core/random.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/pool_study.h"
#include "src/report/json.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

struct Branch {
  int tokens = 0;
  std::string answer;
};
using Branches = std::vector<Branch>;

Json QuestionJson(const std::string& gold, const Branches& branches) {
  Json list = Json::array();
  for (const Branch& branch : branches) {
    list.push_back(Json::array({Json::array({"0", branch.answer}), branch.tokens, branch.answer}));
  }
  return {{"question", "how many?"},
          {"gold_answer", gold},
          {"probe_freq", 500},
          {"each_branch", std::move(list)}};
}

// What a row did with a question.
struct Outcome {
  std::optional<std::string> answer;
  int64_t generated = 0;
  int64_t sequential = 0;
  int paths = 0;
};

class ProbedPoolTest : public ::testing::Test {
 protected:
  // A file of the folder, with one question a list of branches.
  void Write(const std::string& name, const std::vector<Json>& questions) {
    std::filesystem::create_directories(std::filesystem::path(folder_.File(name)).parent_path());
    std::ofstream(folder_.File(name)) << DumpJson(Json(questions));
  }

  Result<TracePool> Read(AnswerEquality equality = AnswerEquality::kMaths) {
    return ReadProbedFolder(folder_.File(""), equality);
  }

  // A row over the only question of a pool.
  static Result<Outcome> Replayed(const TracePool& pool, const std::string& method,
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
    if (!runs) {
      return runs.error();
    }
    const Result<StoredItem> item = store.LoadItem({runs->front(), 1, 0});
    if (!item) {
      return item.error();
    }
    const Ledger& ledger = item->ledger;
    int64_t of_paths = 0;
    for (const StoredPath& path : item->paths) {
      of_paths += path.tokens;
    }
    EXPECT_EQ(of_paths, ledger.generated);
    return Outcome{item->answer, ledger.generated, ledger.positions, ledger.lanes_opened};
  }

  TracePool PoolOf(const Branches& branches) {
    Write("set.json", {QuestionJson("4", branches)});
    Result<TracePool> pool = Read();
    EXPECT_TRUE(pool.has_value()) << pool.error().message;
    return std::move(*pool);
  }

  const test::TemporaryFolder folder_;
};

const Branches kEight = {{10, "4"},   {30, "9"}, {20, "4"}, {40, "4"},
                         {25, "ERR"}, {15, "9"}, {50, "4"}, {35, "4"}};

struct ByHand {
  const char* method;
  OptionValues options;
  const char* answer;  // empty: none
  int64_t generated;
  int64_t sequential;
  int paths;
};

TEST_F(ProbedPoolTest, RulesTakeTheTokensThatTheyTakeByHand) {
  const TracePool pool = PoolOf(kEight);
  // Side by side the paths end at 10 (4), 15 (9), 20 (4), 25 (none), 30 (9), 35 (4), 40 (4), 50
  // (4). P(1:0) = 3/4, P(1:1) = 1/2, P(2:1) = 11/16, P(2:2) = 1/2, P(3:2) = 21/32, P(4:2) = 99/128,
  // P(3:1) = 13/16. A lead of 4:2 with one path to come is sure.
  const std::vector<ByHand> rows = {
      {"sc", {{"width", 8}}, "4", 225, 50, 8},
      {"sc", {{"width", 4}}, "4", 100, 40, 4},
      {"cot", {}, "4", 10, 10, 1},
      {"sc", {{"width", 8}, {"stop", "0.7"}}, "4", 8 * 10, 10, 8},
      {"sc", {{"width", 8}, {"stop", "0.76"}}, "4", 215, 40, 8},
      {"sc", {{"width", 8}, {"stop", "sure"}}, "4", 215, 40, 8},
      {"sc", {{"width", 8}, {"stop", "0.76"}, {"launch", "one"}}, "4", 100, 100, 4},
      {"sc-adaptive", {{"width", 8}}, "4", 190, 190, 7},
      {"sc-adaptive", {{"width", 8}, {"stop", "0.8"}}, "4", 100, 100, 4},
      {"sc", {{"width", 8}, {"launch", "one"}}, "4", 225, 225, 8},
      {"esc", {{"width", 8}, {"esc-window", 4}}, "4", 225, 40 + 50, 8},
      {"esc", {{"width", 8}, {"esc-window", 2}}, "4", 100, 30 + 40, 4},
      {"sc-cap", {{"width", 8}, {"length-cap", 26}}, "4", 174, 26, 8},
      {"sc-cap", {{"width", 8}, {"length-cap", 15}}, "4", 10 + 7 * 15, 15, 8},
      {"sc-cap", {{"width", 8}, {"length-cap", 5}}, "", 40, 5, 8},
      {"sc", {{"width", 8}, {"vote", "length"}}, "4", 225, 50, 8},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const ByHand& row = rows[i];
    const Result<Outcome> got = Replayed(pool, row.method, row.options);
    ASSERT_TRUE(got.has_value()) << i << ": " << got.error().message;
    EXPECT_EQ(got->answer.value_or(""), row.answer) << i;
    EXPECT_EQ(got->generated, row.generated) << i;
    EXPECT_EQ(got->sequential, row.sequential) << i;
    EXPECT_EQ(got->paths, row.paths) << i;
  }
}

TEST_F(ProbedPoolTest, WavesStartOneAfterAnother) {
  Branches branches;
  for (int i = 0; i < 8; ++i) {
    branches.push_back({10, i % 2 == 0 ? "1" : "2"});
  }
  branches.insert(branches.end(), 8, {12, "1"});
  branches.insert(branches.end(), 4, {99, "2"});
  const Result<Outcome> got =
      Replayed(PoolOf(branches), "sc", {{"width", 20}, {"stop", "0.95"}, {"launch", "waves"}});
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->answer, "1");
  EXPECT_EQ(got->generated, 8 * 10 + 8 * 12);
  EXPECT_EQ(got->sequential, 10 + 12);
  EXPECT_EQ(got->paths, 16);
}

// --- The second program: waves of paths whose ends are counted one by one. ---

// P(first + 1 : second + 1) by the recursion over rows of Pascal's triangle.
double Posterior(int first, int second) {
  std::vector<double> row = {1};
  for (int n = 1; n <= first + second + 1; ++n) {
    std::vector<double> next(row.size() + 1, 0.0);
    for (size_t i = 0; i < row.size(); ++i) {
      next[i] += row[i] / 2;
      next[i + 1] += row[i] / 2;
    }
    row = next;
  }
  double sum = 0;
  for (int j = 0; j <= first; ++j) {
    sum += row[static_cast<size_t>(j)];
  }
  return sum;
}

struct Count {
  std::map<std::string, int> votes;

  void Add(const Branch& branch) {
    if (branch.answer != "ERR") {
      ++votes[branch.answer];
    }
  }
  // Votes of the two first, and the answer of the first: the first by name of equals.
  std::pair<std::pair<int, int>, std::string> Leaders() const {
    int first = 0;
    int second = 0;
    std::string leader;
    for (const auto& [answer, count] : votes) {
      if (count > first) {
        second = first;
        first = count;
        leader = answer;
      } else {
        second = std::max(second, count);
      }
    }
    return {{first, second}, leader};
  }
};

struct Rule {
  double posterior = 0;  // 0: no stop; 2: sure
  std::vector<int> waves;
  int cap = 1 << 20;
};

Outcome Counted(const Branches& branches, const Rule& rule) {
  Outcome outcome;
  Count count;
  size_t first = 0;
  for (const int wave : rule.waves) {
    const size_t end = std::min(first + static_cast<size_t>(wave), branches.size());
    int longest = 0;
    for (size_t i = first; i < end; ++i) {
      longest = std::max(longest, std::min(branches[i].tokens, rule.cap));
    }
    outcome.paths = static_cast<int>(end);
    for (int token = 1; token <= longest; ++token) {
      ++outcome.sequential;
      int ends = 0;
      int left = static_cast<int>(branches.size() - end);
      for (size_t i = first; i < end; ++i) {
        outcome.generated += token <= branches[i].tokens ? 1 : 0;
        left += token < branches[i].tokens ? 1 : 0;
        // A path has written its answer one token before its end.
        const bool answers = branches[i].tokens - 1 <= rule.cap;
        if (token == std::min(branches[i].tokens, rule.cap) && answers) {
          ++ends;
          count.Add(branches[i]);
        }
      }
      const auto [votes, leader] = count.Leaders();
      const bool likely = rule.posterior > 0 && rule.posterior < 1 &&
                          Posterior(votes.first, votes.second) >= rule.posterior;
      const bool sure = rule.posterior > 0 && votes.first - votes.second > left;
      if (ends > 0 && left > 0 && (likely || sure)) {
        outcome.answer = leader;
        return outcome;
      }
    }
    first = end;
  }
  const std::string winner = count.Leaders().second;
  outcome.answer = winner.empty() ? std::nullopt : std::optional<std::string>(winner);
  return outcome;
}

TEST_F(ProbedPoolTest, RandomPoolsAreReplayedAsTheyAreCounted) {
  const std::vector<int> at_once = {24};
  const std::vector<int> waves = {8, 8, 16};
  const std::vector<int> one(24, 1);
  const std::vector<std::pair<const char*, const std::vector<int>*>> launches = {
      {"parallel", &at_once}, {"waves", &waves}, {"one", &one}};
  int stopped = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Branches branches;
    int64_t all = 0;
    for (uint32_t i = 0; i < 24; ++i) {
      const auto words = Philox(seed, {i, 0, 0, 0});
      const int pick = static_cast<int>(words[0] % 7);
      branches.push_back({2 + static_cast<int>(words[1] % 40),
                          pick == 0 ? "ERR" : std::to_string(pick < 4 ? 1 : pick - 2)});
    }
    for (const Branch& branch : branches) {
      all += branch.tokens;
    }
    const TracePool pool = PoolOf(branches);
    for (const auto& [launch, sizes] : launches) {
      for (const auto& [stop, posterior] : std::vector<std::pair<const char*, double>>{
               {"never", 0}, {"0.8", 0.8}, {"0.95", 0.95}, {"sure", 2}}) {
        const Outcome expected = Counted(branches, {posterior, *sizes});
        const Result<Outcome> got =
            Replayed(pool, "sc", {{"width", 24}, {"launch", launch}, {"stop", stop}});
        ASSERT_TRUE(got.has_value()) << got.error().message;
        EXPECT_EQ(got->answer, expected.answer) << seed << launch << stop;
        EXPECT_EQ(got->generated, expected.generated) << seed << launch << stop;
        EXPECT_EQ(got->sequential, expected.sequential) << seed << launch << stop;
        EXPECT_EQ(got->paths, expected.paths) << seed << launch << stop;
        stopped += got->generated < all ? 1 : 0;
      }
      const Outcome expected = Counted(branches, {0, *sizes, 17});
      const Result<Outcome> capped =
          Replayed(pool, "sc-cap", {{"width", 24}, {"launch", launch}, {"length-cap", 17}});
      ASSERT_TRUE(capped.has_value()) << capped.error().message;
      EXPECT_EQ(capped->answer, expected.answer) << seed << launch;
      EXPECT_EQ(capped->generated, expected.generated) << seed << launch;
      EXPECT_EQ(capped->sequential, expected.sequential) << seed << launch;
    }
  }
  EXPECT_GT(stopped, 30);
}

TEST_F(ProbedPoolTest, AnswersAreEqualByMathematicsOrAsStrings) {
  Write("set.json",
        {QuestionJson(
            "\\frac{1}{2}",
            {{5, "ERR"}, {5, "ERR"}, {5, "1/2"}, {5, "0.5"}, {5, "\\frac{1}{2}"}, {5, "3"}})});
  const Result<TracePool> maths = Read();
  const Result<TracePool> strings = Read(AnswerEquality::kStrings);
  ASSERT_TRUE(maths.has_value() && strings.has_value());
  EXPECT_EQ(maths->entries[0].question.gold, "\\frac{1}{2}");
  EXPECT_EQ(strings->entries[0].question.gold, "1005") << "the last of six strings, one of a reply";
  EXPECT_NE(Replayed(*maths, "sc", {{"width", 6}})->answer, std::nullopt);
  EXPECT_EQ(Replayed(*maths, "sc", {{"width", 2}})->answer, std::nullopt);
  EXPECT_EQ(Replayed(*strings, "sc", {{"width", 6}})->answer, "1004") << "ERR has the most votes";
  Store store = std::move(*Store::Open(":memory:", DatabaseMode::kCreate));
  PoolStudyPlan plan;
  plan.rows = {{"sc", *ResolveRun({"sc", "paper", {{"width", 6}}, {}}, {}), {}}};
  std::vector<StoredVerdict> verdicts;
  for (const TracePool* pool : {&*maths, &*strings}) {
    const auto runs = RunPoolStudy(*pool, plan, store);
    ASSERT_TRUE(runs.has_value()) << runs.error().message;
    verdicts.push_back(store.Items(runs->front())->front().grade->verdict);
  }
  EXPECT_EQ(verdicts, (std::vector{StoredVerdict::kRight, StoredVerdict::kWrong}));
  // The numbers of strings are a pool's own: with other strings it is another question.
  Write("set.json", {QuestionJson("\\frac{1}{2}", {{5, "9"}})});
  EXPECT_NE(Read(AnswerEquality::kStrings)->entries[0].question.prompt,
            strings->entries[0].question.prompt);
  EXPECT_EQ(Read()->entries[0].question.prompt, maths->entries[0].question.prompt);
}

TEST_F(ProbedPoolTest, ACheckoutIsSearchedForItsPools) {
  Write("evaluation/M-8B-128/b.json", {QuestionJson("9", kEight)});
  Write("evaluation/M-8B-128/a.json", {QuestionJson("4", kEight), QuestionJson("5", kEight)});
  const Result<TracePool> pool = Read();
  ASSERT_TRUE(pool.has_value()) << pool.error().message;
  EXPECT_EQ(pool->made_by.model, "M-8B-128");
  EXPECT_TRUE(HasAnswersOnly(pool->made_by));
  ASSERT_EQ(pool->entries.size(), 3U);
  EXPECT_EQ(pool->entries[1].question.name, "a-2");
  EXPECT_EQ(pool->entries[1].question.group, "a");
  EXPECT_EQ(pool->entries[2].question.name, "b-1");
  Write("evaluation/N-128/a.json", {QuestionJson("4", kEight)});
  const Error several = Read().error();
  EXPECT_EQ(several.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(several.message.find("N-128"), std::string::npos);
}

TEST_F(ProbedPoolTest, AnImportedStudyIsAPoolAndItsRowsAreNot) {
  const TracePool pool = PoolOf(kEight);
  Store store = std::move(*Store::Open(":memory:", DatabaseMode::kCreate));
  PoolStudyPlan plan;
  plan.rows = {{"sc", *ResolveRun({"sc", "paper", {{"width", 8}}, {}}, {}), {}}};
  plan.settings = pool.made_by.settings;
  ASSERT_TRUE(RunPoolStudy(pool, plan, store).has_value());
  for (const char* row : {"", "sc"}) {
    const Result<TracePool> again = PoolOfStudy(store, row);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(Replayed(*again, "sc", {{"width", 8}, {"stop", "sure"}})->generated, 215);
  }
  plan.settings.clear();
  plan.rows[0].label = "computed";
  ASSERT_TRUE(RunPoolStudy(pool, plan, store).has_value());
  EXPECT_NE(PoolOfStudy(store, "computed").error().message.find("no per-token series"),
            std::string::npos);
}

TEST_F(ProbedPoolTest, WhatAnswersCannotServeIsRefusedInWords) {
  const TracePool pool = PoolOf(kEight);
  const auto refusal = [&](const char* method, const OptionValues& options) {
    const Result<Outcome> outcome = Replayed(pool, method, options);
    return outcome ? std::string() : outcome.error().message;
  };
  for (const char* method : {"deepconf", "self-certainty", "bon-mean", "hyper"}) {
    EXPECT_NE(refusal(method, {{"width", 8}}).find("answers and lengths only"), std::string::npos)
        << method;
  }
  EXPECT_NE(refusal("sc", {{"width", 8}, {"vote", "confidence"}}).find("--vote confidence"),
            std::string::npos);
  EXPECT_NE(refusal("sc-cap", {{"width", 8}, {"length-cap", 9}, {"vote-tentative", "true"}})
                .find("--vote-tentative"),
            std::string::npos);
  EXPECT_NE(refusal("sc", {{"width", 9}}).find("takes 9 traces"), std::string::npos);
}

TEST_F(ProbedPoolTest, OddFilesAreNamedWithTheQuestion) {
  EXPECT_EQ(ReadProbedFolder(folder_.File("nothing"), {}).error().code, ErrorCode::kNotFound);
  EXPECT_NE(Read().error().message.find("holds *.json files"), std::string::npos);
  const auto message = [&](const Json& second) {
    Write("set.json", {QuestionJson("4", kEight), second});
    const Result<TracePool> pool = Read();
    EXPECT_FALSE(pool.has_value());
    return pool ? std::string() : pool.error().message;
  };
  Json no_gold = QuestionJson("", kEight);
  EXPECT_NE(message(no_gold).find("set.json question 2: it has no gold_answer"), std::string::npos);
  EXPECT_NE(message(QuestionJson("4", {{5, "4"}})).find("1 paths, the questions before it 8"),
            std::string::npos);
  Json no_list = QuestionJson("4", kEight);
  no_list.erase("each_branch");
  EXPECT_NE(message(no_list).find("no each_branch"), std::string::npos);
  Branches short_one = kEight;
  short_one[3].tokens = 1;
  EXPECT_NE(message(QuestionJson("4", short_one)).find("a branch is not"), std::string::npos);
  std::ofstream(folder_.File("set.json")) << "[1, 2";
  EXPECT_EQ(Read().error().code, ErrorCode::kDataLoss);
}

}  // namespace
}  // namespace hyper::eval

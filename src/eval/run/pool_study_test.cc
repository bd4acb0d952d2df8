#include "src/eval/run/pool_study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/eval/metrics/study_summary.h"
#include "src/eval/tables/item_json.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

// A result of DeepConf's program: (answer, confidence of each token) of each trace.
std::string DeepConfLine(const std::vector<std::pair<std::string, std::vector<double>>>& traces) {
  Json list = Json::array();
  for (const auto& [answer, confs] : traces) {
    list.push_back({{"text", "so \\boxed{" + answer + "}"},
                    {"confs", confs},
                    {"stop_reason", "stop"},
                    {"num_tokens", confs.size()}});
  }
  return DumpJson({{"question_id", 7},
                   {"question", "how many?"},
                   {"ground_truth", "4"},
                   {"traces", std::move(list)}}) +
         "\n";
}

RunPlan StudyPlanFor(const std::string& method, int width) {
  return *ResolveRun(
      {method, "paper", {{"width", width}, {"window", 2}, {"max-tokens", 8}}, {{"warmup", 2}}}, {});
}

class PoolStudyTest : public ::testing::Test {
 protected:
  PoolStudyTest() : store_(std::move(*Store::Open(":memory:", DatabaseMode::kCreate))) {}

  Result<std::vector<RunSummary>> Run(const TracePool& pool,
                                      const std::vector<std::string>& methods, int width,
                                      int resamples) {
    PoolStudyPlan plan;
    plan.resamples = resamples;
    for (const std::string& method : methods) {
      plan.rows.push_back({method, StudyPlanFor(method, width), {}});
    }
    const Result<std::vector<int64_t>> runs = RunPoolStudy(pool, plan, store_);
    if (!runs) {
      return runs.error();
    }
    return SummariseStudy(store_, {});
  }

  Store store_;
};

// Four short paths that agree, a longer one without an answer, and long ones that differ.
constexpr const char* kProbed = R"([{"question": "how many?", "gold_answer": "4", "probe_freq": 2,
  "final_answers_trace": ["4"], "each_branch": [[["1", "4"], 5, "4"], [[], 5, "4.0"], [[], 5, "4"],
  [[], 5, "4"], [[], 6, "ERR"], [[], 7, "9"], [[], 7, "9"], [[], 7, "9"]]}])";

TEST_F(PoolStudyTest, StopsAndLaunchesAreReplayedOnLengthsAndAnswers) {
  const Result<TracePool> pool = ParsePool(kProbed, "made", "");
  ASSERT_TRUE(pool.has_value()) << pool.error().message;
  EXPECT_EQ(FewestTraces(*pool), 8);
  EXPECT_EQ(LongestTrace(*pool), 7);
  const auto runs = Run(*pool, {"sc", "sc-adaptive"}, 8, 1);
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  EXPECT_DOUBLE_EQ((*runs)[0].accuracy.mean, 1.0);
  EXPECT_DOUBLE_EQ((*runs)[0].generated_tokens, 4 * 5 + 6 + 3 * 7);
  EXPECT_DOUBLE_EQ((*runs)[0].sequential_tokens, 7);
  // Four alike one after another are enough.
  EXPECT_DOUBLE_EQ((*runs)[1].generated_tokens, 20);
  EXPECT_DOUBLE_EQ((*runs)[1].sequential_tokens, 20);
  PoolStudyPlan plan;
  StudyRow stopped{"stopped", StudyPlanFor("sc", 8), {}};
  ASSERT_TRUE(SetOption(stopped.plan.options, "stop", "0.95").ok());
  plan.rows = {stopped};
  ASSERT_TRUE(RunPoolStudy(*pool, plan, store_));
  const auto all = SummariseStudy(store_, {});
  ASSERT_EQ(all->size(), 3U);
  EXPECT_DOUBLE_EQ((*all)[2].generated_tokens, 8 * 5) << "side by side, cancelled at token 5";
  EXPECT_DOUBLE_EQ((*all)[2].sequential_tokens, 5);
  EXPECT_DOUBLE_EQ((*all)[2].accuracy.mean, 1.0);
}

TEST_F(PoolStudyTest, BrokenBranchesAreNamed) {
  for (const char* branch : {"[[], 5]", "[[], \"5\", \"4\"]", "[[], 1, \"4\"]", "7"}) {
    const std::string text = std::string(R"({"question": "q", "each_branch": [)") + branch + "]}";
    const Result<TracePool> pool = ParsePool(text, "p", "");
    ASSERT_FALSE(pool.has_value()) << branch;
    EXPECT_NE(pool.error().message.find("a branch is not"), std::string::npos);
  }
}

// 9 wins by count, 4 by confidence.
const std::string kLine = DeepConfLine(
    {{"9", {1, 1, 1}}, {"9", {1, 1, 2}}, {"9", {1, 1, 1}}, {"4", {9, 9, 9}}, {"4", {8, 9, 9}}});

TEST_F(PoolStudyTest, VotesFiltersAndStopsOnDeepConfsOwnResults) {
  const Result<TracePool> pool = ParsePool(kLine, "made", "");
  ASSERT_TRUE(pool.has_value()) << pool.error().message;
  EXPECT_EQ(FewestTraces(*pool), 5);
  EXPECT_EQ(LongestTrace(*pool), 3);
  const auto runs = Run(*pool, {"sc", "deepconf-offline", "deepconf-offline-filtered"}, 5, 1);
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  ASSERT_EQ(runs->size(), 3U);
  EXPECT_DOUBLE_EQ((*runs)[0].accuracy.mean, 0.0);
  EXPECT_DOUBLE_EQ((*runs)[1].accuracy.mean, 1.0);
  EXPECT_DOUBLE_EQ((*runs)[2].accuracy.mean, 1.0);
  EXPECT_DOUBLE_EQ((*runs)[0].generated_tokens, 15);
  EXPECT_TRUE(std::isnan((*runs)[0].latency_s));
}

TEST_F(PoolStudyTest, OnlineStoppingChargesOnlyWhatItWouldHaveMade) {
  // Warm-up: the first two, lowest windows 9 and 8, threshold (percentile 90) 8.9. The third path
  // is below it at its second token, the first full window; the fourth stays above.
  const Result<TracePool> pool = ParsePool(
      DeepConfLine({{"4", {9, 9, 9}}, {"5", {8, 8, 8}}, {"6", {1, 1, 1, 1}}, {"4", {9, 9, 9, 9}}}),
      "made", "");
  PoolStudyPlan plan;
  RunPlan row = StudyPlanFor("deepconf", 4);
  row.options.consensus = 0;
  plan.rows = {{"online", row, {}}};
  const Result<std::vector<int64_t>> runs = RunPoolStudy(*pool, plan, store_);
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  const Result<StoredItem> item = store_.LoadItem({runs->front(), 1, 0});
  ASSERT_TRUE(item.has_value());
  EXPECT_NEAR(item->warmup->threshold, 8.9, 1e-9);
  EXPECT_EQ(item->paths[2].status, PathStatus::kPruned);
  EXPECT_EQ(item->ledger.generated, 3 + 3 + 2 + 4);
  EXPECT_EQ(item->voting_paths, 2);  // paths 0 and 3; the second warm-up path is below
  EXPECT_EQ(item->answer, "4");
}

// Also where the row does not ask for the guard that ended it.
TEST_F(PoolStudyTest, ALoopOfThePoolEndsAsALoopAgain) {
  Result<TracePool> pool =
      ParsePool(DeepConfLine({{"4", {9, 9, 9}}, {"5", std::vector<double>(64, 8.0)}}), "made", "");
  ASSERT_TRUE(pool.has_value()) << pool.error().message;
  StoredPath& loop = pool->entries[0].item.paths[1];
  loop.status = PathStatus::kDegenerate;
  loop.text.clear();
  for (int i = 0; i < 20; ++i) {
    loop.text += "20*20=400, 468-400=68, too big, ";
  }
  RunPlan row = StudyPlanFor("sc", 2);
  row.options.max_tokens = 200;
  ASSERT_FALSE(row.options.loop_guard);
  PoolStudyPlan plan;
  plan.rows = {{"sc", row, {}}};
  pool->made_by.settings["loop-guard"] = "off";
  EXPECT_FALSE(RunPoolStudy(*pool, plan, store_).has_value());
  pool->made_by.settings["loop-guard"] = "on";
  const Result<std::vector<int64_t>> runs = RunPoolStudy(*pool, plan, store_);
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  const Result<StoredItem> item = store_.LoadItem({runs->front(), 1, 0});
  ASSERT_TRUE(item.has_value());
  int loops = 0;
  for (const StoredPath& path : item->paths) {
    loops += path.status == PathStatus::kDegenerate ? 1 : 0;
  }
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(item->answer, "4");
}

TEST_F(PoolStudyTest, DrawsDifferButAreTheSameForEveryRow) {
  const Result<TracePool> pool = ParsePool(kLine, "made", "");
  const auto runs = Run(*pool, {"sc", "bon-mean"}, 2, 40);
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  EXPECT_EQ((*runs)[0].accuracy.repeats, 40);
  // Two of five: both 4 in one draw of ten; a tie of 9 and 4 goes to the higher confidence.
  // Of the ten pairs seven hold a 4.
  EXPECT_NEAR((*runs)[0].accuracy.mean, 0.7, 0.25);
  // Best of two takes the 4 whenever there is one, just as the tie does.
  EXPECT_DOUBLE_EQ((*runs)[1].accuracy.mean, (*runs)[0].accuracy.mean);
}

TEST_F(PoolStudyTest, AnotherPoolUnderTheSameNameIsAnotherRun) {
  std::string other = kLine;
  other.replace(other.find("boxed{9}"), 8, "boxed{4}");
  const auto first = Run(*ParsePool(kLine, "made", ""), {"sc"}, 5, 1);
  ASSERT_EQ(first->size(), 1U);
  EXPECT_EQ(Run(*ParsePool(kLine, "made", ""), {"sc"}, 5, 1)->size(), 1U);
  const auto second = Run(*ParsePool(other, "made", ""), {"sc"}, 5, 1);
  ASSERT_EQ(second->size(), 2U);
  EXPECT_DOUBLE_EQ(second->front().accuracy.mean, 0.0);
  EXPECT_DOUBLE_EQ(second->back().accuracy.mean, 1.0);
  PoolStudyPlan plan;
  plan.rows.push_back({"sc", StudyPlanFor("sc", 5), {}});
  plan.program_version = "2";
  ASSERT_TRUE(RunPoolStudy(*ParsePool(kLine, "made", ""), plan, store_).has_value());
  EXPECT_EQ(store_.Runs()->size(), 3U);
}

TEST_F(PoolStudyTest, EqualRowsAreOneRun) {
  PoolStudyPlan plan;
  plan.rows.push_back({"sc", StudyPlanFor("sc", 5), {}});
  plan.rows.push_back({"mine", StudyPlanFor("sc", 5), {}});
  const auto runs = RunPoolStudy(*ParsePool(kLine, "made", ""), plan, store_);
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0], (*runs)[1]);
  ASSERT_EQ(store_.Runs()->size(), 1U);
  EXPECT_EQ(store_.Runs()->front().label, "sc");
}

TEST_F(PoolStudyTest, AnExportIsAPoolToo) {
  const Result<TracePool> pool = ParsePool(kLine, "made", "");
  StoredQuestion question = pool->entries[0].question;
  StoredItem item = pool->entries[0].item;
  const ItemSummary summary;
  const std::string line =
      DumpJson(ItemJson({pool->made_by, question, summary}, item, true)) + "\n";
  const Result<TracePool> again = ParsePool(line + line.substr(0, 40), "made", "deepconf");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ASSERT_EQ(again->entries.size(), 1U);  // the half-written last line is left out
  const auto first = Run(*pool, {"deepconf-offline"}, 5, 1);
  const auto second = Run(*again, {"deepconf-offline"}, 5, 1);
  EXPECT_DOUBLE_EQ(second->back().accuracy.mean, first->back().accuracy.mean);
  EXPECT_EQ(ParsePool(line, "made", "other").error().code, ErrorCode::kNotFound);
}

TEST_F(PoolStudyTest, HyperThatOnlyPrunesIsDeepConfsScheduleOnTopOfItsWarmup) {
  std::vector<std::pair<std::string, std::vector<double>>> traces;
  for (int i = 0; i < 8; ++i) {
    const double least = 9 - i;  // the last of the pool are pruned
    traces.push_back({i % 3 == 0 ? "5" : "4", {9, 9, least, least, 9, 9}});
  }
  const Result<TracePool> pool = ParsePool(DeepConfLine(traces), "made", "");
  ASSERT_TRUE(pool.has_value()) << pool.error().message;
  PoolStudyPlan plan;
  plan.resamples = 6;
  StudyRow hyper{"hyper", StudyPlanFor("hyper", 6), {}};
  StudyRow deepconf{"deepconf-top10", StudyPlanFor("deepconf-top10", 8), {}};
  for (StudyRow* row : {&hyper, &deepconf}) {
    for (const auto& [name, text] :
         {std::pair("threshold", "top:1"), std::pair("confidence", "topk"),
          std::pair("confidence-count", "20"), std::pair("vote", "majority"),
          std::pair("actions", "none"), std::pair("consensus", "0")}) {
      ASSERT_TRUE(SetOption(row->plan.options, name, text).ok()) << name;
    }
    plan.rows.push_back(*row);
  }
  ASSERT_TRUE(RunPoolStudy(*pool, plan, store_));
  const auto runs = SummariseStudy(store_, {});
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  EXPECT_LT((*runs)[0].generated_tokens, 8 * 6);  // some were pruned
  EXPECT_DOUBLE_EQ((*runs)[0].generated_tokens, (*runs)[1].generated_tokens);
  EXPECT_DOUBLE_EQ((*runs)[0].sequential_tokens, (*runs)[1].sequential_tokens);
  EXPECT_DOUBLE_EQ((*runs)[0].accuracy.mean, (*runs)[1].accuracy.mean);
}

TEST_F(PoolStudyTest, WhatAPoolCannotServeIsRefusedInWords) {
  const Result<TracePool> pool = ParsePool(kLine, "made", "");
  EXPECT_NE(Run(*pool, {"hyper"}, 4, 1).error().message.find("cannot run on stored traces"),
            std::string::npos);
  PoolStudyPlan pruned;
  pruned.rows = {{"pruned", StudyPlanFor("hyper", 4), {}}};
  pruned.rows[0].plan.options.actions = ActionSet();
  EXPECT_NE(RunPoolStudy(*pool, pruned, store_).error().message.find("takes 6 traces"),
            std::string::npos);  // 2 of warm-up
  EXPECT_NE(Run(*pool, {"sc"}, 6, 1).error().message.find("takes 6 traces"), std::string::npos);
  EXPECT_NE(Run(*pool, {"self-certainty"}, 5, 1).error().message.find("whole vocabulary"),
            std::string::npos);
  const Error online = ParsePool(R"({"traces": [{"text": "x", "min_conf": 3}]})", "p", "").error();
  EXPECT_EQ(online.code, ErrorCode::kDataLoss);
  EXPECT_NE(online.message.find("p line 1: a trace has no confs"), std::string::npos);
  EXPECT_EQ(ParsePool(R"({"answer": 3})", "p", "").error().code, ErrorCode::kDataLoss);
}

}  // namespace
}  // namespace hyper::eval

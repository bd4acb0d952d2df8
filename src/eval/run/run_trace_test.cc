// Traces of `hyper run` as pools: rows over them against the same rows decoded live.
#include "src/eval/run/run_trace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "src/core/random.h"
#include "src/eval/run/pool_study.h"
#include "src/report/json.h"
#include "tests/support/scripted_paths.h"

namespace hyper::eval {
namespace {

// Paths of different lengths and sureness; some fall on the way.
FakeOptions TracedPaths() {
  return ScriptedOptions([](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const auto words = Philox(key, {4, 3, 2, 1});
    const size_t length = 6 + words[0] % 20;
    if (written.size() < length) {
      const bool falls = words[2] % 3 == 0 && written.size() > length / 2;
      return {'a', falls ? 1.0F : 3.0F + static_cast<float>(words[1] % 5)};
    }
    const std::string end = "\\boxed{" + std::to_string(words[3] % 3) + "}$";
    return {end[std::min(written.size() - length, end.size() - 1)], 4.0F};
  });
}

RunPlan TracedPlan(const std::string& method) {
  return *ResolveRun({method,
                      "short",
                      {{"width", 12}, {"window", 4}, {"max-tokens", 60}, {"temperature", 0}},
                      {{"warmup", 4}}},
                     {});
}

struct LiveRun {
  std::string trace;
  SessionResult result;
};

// A question answered live, with the trace that `hyper run --trace` writes of it.
LiveRun Live(const std::string& method, uint64_t seed, const std::string& question = "q") {
  FakeEngine engine(TracedPaths());
  const RunPlan plan = TracedPlan(method);
  SessionSpec spec;
  spec.prompt.tokens = {'q'};
  spec.seed = {seed, 0};
  spec.most.cells = 1 << 20;
  spec.token_records = true;
  spec.extractor = ExtractorFor({});
  const Json head = {{"record", "run"},
                     {"method", method},
                     {"model", {{"name", "fake"}, {"hash", "h"}}},
                     {"seed", seed},
                     {"question", question},
                     {"prompt", "q"},
                     {"options", OptionsJson(plan.options)}};
  LiveRun run;
  run.trace = DumpJson(head) + "\n";
  const Result<std::unique_ptr<Session>> opened = OpenSession(engine, plan, std::move(spec));
  Session& session = **opened;
  Driver driver(engine);
  driver.Add(&session);
  EXPECT_TRUE(driver.RunAll().ok());
  for (const Record& record : session.TakeRecords()) {
    run.trace += DumpJson(RecordJson(record)) + "\n";
  }
  run.result = session.Result();
  run.trace += DumpJson({{"record", "result"}, {"ledger", LedgerJson(run.result.ledger)}}) + "\n";
  return run;
}

TEST(RunTraceTest, RowsOverATraceAreThoseDecodedLive) {
  const Result<TracePool> pool = ParsePool(Live("sc", 5).trace, "made", "");
  ASSERT_TRUE(pool.has_value()) << pool.error().message;
  ASSERT_EQ(pool->entries.size(), 1U);
  EXPECT_EQ(FewestTraces(*pool), 12);
  int cut = 0;
  for (const char* method : {"sc", "self-certainty", "self-certainty-borda", "bon",
                             "deepconf-offline", "deepconf", "deepconf-top10"}) {
    Result<Store> store = Store::Open(":memory:", DatabaseMode::kCreate);
    PoolStudyPlan plan;
    plan.rows = {{method, TracedPlan(method), {}}};
    const Result<std::vector<int64_t>> runs = RunPoolStudy(*pool, plan, *store);
    ASSERT_TRUE(runs.has_value()) << method << ": " << runs.error().message;
    const Result<StoredItem> item = store->LoadItem({runs->front(), 1, 0});
    ASSERT_TRUE(item.has_value());
    const LiveRun live = Live(method, 5);
    EXPECT_EQ(item->answer, live.result.answer) << method;
    EXPECT_EQ(item->voting_paths, live.result.voting_paths) << method;
    EXPECT_EQ(item->ledger.generated, live.result.ledger.generated) << method;
    EXPECT_EQ(item->ledger.prefilled, live.result.ledger.prefilled) << method;
    for (const StoredPath& path : item->paths) {
      cut += path.status == PathStatus::kPruned && !path.text.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(cut, 0);  // paths that were stopped early keep their text
}

TEST(RunTraceTest, SeveralRunsAreQuestionsAndRepeats) {
  const std::string text = Live("sc", 1).trace + Live("sc", 2).trace + Live("sc", 1, "other").trace;
  const Result<TracePool> pool = ParsePool(text, "made", "sc");
  ASSERT_TRUE(pool.has_value()) << pool.error().message;
  ASSERT_EQ(pool->entries.size(), 3U);
  EXPECT_EQ(pool->entries[1].item.key.repeat, 1);
  EXPECT_EQ(pool->entries[2].item.key.repeat, 0);
  EXPECT_EQ(pool->entries[2].question.text, "other");
  EXPECT_EQ(pool->made_by.method, "sc");
}

TEST(RunTraceTest, OneMethodIsTakenAndOthersAreLeftOut) {
  const std::string text = Live("hyper", 1).trace + Live("sc", 1).trace;
  EXPECT_EQ(ParsePool(text, "made", "sc")->entries.size(), 1U);
  EXPECT_EQ(ParsePool(text, "made", "")->made_by.method, "hyper");
  EXPECT_EQ(ParsePool(text, "made", "roe").error().code, ErrorCode::kNotFound);
}

TEST(RunTraceTest, AnUnknownAnswerIsNotGraded) {
  const Result<TracePool> pool = ParsePool(Live("sc", 5).trace, "made", "");
  Result<Store> store = Store::Open(":memory:", DatabaseMode::kCreate);
  PoolStudyPlan plan;
  plan.rows = {{"sc", TracedPlan("sc"), {}}};
  const Result<std::vector<int64_t>> runs = RunPoolStudy(*pool, plan, *store);
  ASSERT_TRUE(runs.has_value());
  EXPECT_EQ(store->Items(runs->front())->front().grade->verdict, StoredVerdict::kNotGraded);
}

TEST(RunTraceTest, WhatIsNoTraceIsRefusedWithItsLine) {
  const std::string whole = Live("sc", 1).trace;
  const std::string headless = whole.substr(whole.find('\n') + 1);
  EXPECT_NE(ParsePool(headless, "t", "").error().message.find("t line 1"), std::string::npos);
  const std::string head = whole.substr(0, whole.find('\n') + 1);
  const std::string stray = R"({"record": "token", "path": 3, "token": 1, "text": "a"})";
  EXPECT_NE(ParsePool(head + stray + "\n", "t", "").error().message.find("t line 2"),
            std::string::npos);
  EXPECT_EQ(ParsePool(head, "t", "").error().code, ErrorCode::kNotFound);
  std::string other = whole;
  other.replace(other.find("\"width\":12"), 10, "\"width\":11");
  EXPECT_NE(ParsePool(whole + other, "t", "").error().message.find("other options"),
            std::string::npos);
  // A file that was cut off in the middle: what is whole counts, the cut path votes for nothing.
  const Result<TracePool> cut = ParsePool(whole.substr(0, whole.size() / 2), "t", "");
  ASSERT_TRUE(cut.has_value()) << cut.error().message;
  PoolStudyPlan plan;
  plan.rows = {{"sc", TracedPlan("sc"), {}}};
  Result<Store> store = Store::Open(":memory:", DatabaseMode::kCreate);
  const auto runs = RunPoolStudy(*cut, plan, *store);
  ASSERT_FALSE(runs.has_value());
  EXPECT_NE(runs.error().message.find("did not come to its end"), std::string::npos);
}

}  // namespace
}  // namespace hyper::eval

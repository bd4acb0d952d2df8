#include "src/report/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A finished HyPER session whose paths write "abc=7" or "abc=8" and end.
struct FinishedSession {
  explicit FinishedSession(SessionLimits limits = {}) {
    MethodOptions options = *Preset("short");
    options.width = 4;
    options.warmup = 2;
    options.interval = 2;
    options.max_tokens = 20;
    session = ScriptedSession(engine, "hyper", options, 1 << 20, limits);
    Driver driver(engine);
    driver.Add(session.get());
    EXPECT_TRUE(driver.RunAll().ok());
    records = session->TakeRecords();
  }

  FakeEngine engine{ScriptedOptions([](uint64_t key, std::string_view written, int) {
    constexpr std::string_view kText = "abc=";
    if (written.size() < kText.size()) {
      return ScriptedNext{kText[written.size()], 5.0F};
    }
    const char answer = key % 3 == 0 ? '8' : '7';
    return ScriptedNext{written.size() == kText.size() ? answer : '$', 5.0F};
  })};
  std::unique_ptr<Session> session;
  std::vector<Record> records;
};

Json ReportOf(const FinishedSession& run, bool timing = false) {
  return ReportJson({"hyper", run.engine.model(), 18446744073709551615U, run.records, timing},
                    *run.session, run.session->Result());
}

TEST(ReportJson, LayersOnGpusAreThereWhereThereAreSome) {
  const FinishedSession run;
  ModelInfo model = run.engine.model();
  const auto reported = [&](int layers) {
    model.gpu_layers = layers;
    return ReportJson({"hyper", model, 1, run.records, false}, *run.session, run.session->Result());
  };
  EXPECT_FALSE(reported(0)["model"].contains("gpu_layers"));
  EXPECT_EQ(reported(29)["model"]["gpu_layers"], 29);
}

TEST(ReportJson, SaysWhatTheSessionHolds) {
  const FinishedSession run;
  const Json report = ReportOf(run);
  const SessionResult result = run.session->Result();
  EXPECT_EQ(report["answer"], *result.answer);
  EXPECT_EQ(report["method"], "hyper");
  EXPECT_EQ(report["model"]["name"], run.engine.model().name);
  EXPECT_EQ(report["seed"].get<uint64_t>(), 18446744073709551615U);
  EXPECT_EQ(report["partial"], false);
  EXPECT_TRUE(report["partial_reason"].is_null());
  EXPECT_EQ(report["vote_rule"], result.vote_rule);

  ASSERT_EQ(report["votes"].size(), result.votes.size());
  for (const auto& [rule, outcome] : result.votes) {
    EXPECT_EQ(report["votes"][rule]["answer"], *outcome.answer) << rule;
    EXPECT_EQ(report["votes"][rule]["scores"].size(), outcome.scores.size()) << rule;
    EXPECT_EQ(report["votes"][rule]["scores"][0]["paths"], outcome.scores[0].paths) << rule;
  }

  ASSERT_EQ(report["paths"].size(), run.session->pool().paths().size());
  int64_t tokens = 0;
  for (const Json& path : report["paths"]) {
    EXPECT_EQ(path["status"], "finished");
    EXPECT_EQ(path["text"], "abc=" + path["answer"].get<std::string>());
    EXPECT_TRUE(path["parent"].is_null());
    tokens += path["tokens"].get<int64_t>();
  }
  EXPECT_EQ(report["ledger"]["generated"], tokens);
  EXPECT_EQ(report["ledger"]["effective"], result.ledger.effective());
  EXPECT_EQ(report["options"]["width"], 4);
}

TEST(ReportJson, KeepsDecisionsInOrderWithNamedActions) {
  const FinishedSession run;
  const Json report = ReportOf(run);
  ASSERT_GT(report["decisions"].size(), 1U);
  int step = 0;
  for (const Json& decision : report["decisions"]) {
    EXPECT_EQ(decision["step"], step++);
    EXPECT_TRUE(decision["scores"].contains(decision["action"].get<std::string>()));
    EXPECT_EQ(decision["scores"].size(), kActionCount);
    EXPECT_TRUE(decision["raw"].contains("diversity"));
  }
}

// Wall times differ between any two runs, all else is equal for equal seeds.
TEST(ReportJson, EqualRunsGiveEqualBytesAndTimesOnlyOnRequest) {
  const FinishedSession first;
  const FinishedSession second;
  EXPECT_EQ(DumpJson(ReportOf(first)), DumpJson(ReportOf(second)));
  EXPECT_FALSE(ReportOf(first).contains("timing"));
  const Json timing = ReportOf(first, true)["timing"];
  EXPECT_DOUBLE_EQ(timing["engine_s"].get<double>() + timing["sampler_s"].get<double>() +
                       timing["statistics_s"].get<double>() + timing["rest_s"].get<double>(),
                   timing["wall_s"].get<double>());
}

TEST(ReportJson, AStoppedRunIsPartialAndSaysWhy) {
  SessionLimits limits;
  limits.budget_tokens = 1;
  const FinishedSession run(limits);
  const Json report = ReportOf(run);
  EXPECT_EQ(report["partial"], true);
  EXPECT_FALSE(report["partial_reason"].get<std::string>().empty());
}

TEST(PathJson, UnknownsAreNull) {
  const Json path = PathJson(Path{});
  EXPECT_TRUE(path["mean_confidence"].is_null());
  EXPECT_TRUE(path["lowest_window"].is_null());
  EXPECT_TRUE(path["answer"].is_null());
  EXPECT_TRUE(path["kept"].is_null());
  EXPECT_EQ(path["status"], "running");
}

TEST(TraceJson, HoldsWhatTheControllerRead) {
  DecisionRecord decision;
  decision.readings = {{4, {{17, -0.5F}, {9, -INFINITY}}}};
  EXPECT_EQ(TraceJson(decision)["readings"],
            Json::parse(R"([{"path": 4, "top": [[17, -0.5], [9, null]]}])"));
  EXPECT_FALSE(RecordJson(decision).contains("readings"));
  WarmupRecord warmup;
  warmup.positions.resize(2);
  warmup.positions[0].paths = 3;
  warmup.positions[1].statistics.diversity = 0.25;
  const Json positions = TraceJson(warmup)["positions"];
  EXPECT_EQ(positions["paths"], Json::parse("[3, 0]"));
  EXPECT_EQ(positions["diversity"], Json::parse("[0.0, 0.25]"));
  EXPECT_EQ(positions.size(), 8U);
  EXPECT_FALSE(RecordJson(warmup).contains("positions"));
}

TEST(RecordJson, EveryKindNamesItself) {
  DecisionRecord decision;
  decision.action = Action::kMultiToken;
  decision.allowed = ActionSet::All().Without(Action::kSingleToken);
  decision.scores = {0.5, 2.0, 0.75, kNan};
  const Json json = RecordJson(decision);
  EXPECT_EQ(json["record"], "decision");
  EXPECT_EQ(json["action"], "multi_token");
  EXPECT_EQ(json["acted"], false);
  EXPECT_EQ(json["scores"]["none"], 0.5);
  EXPECT_TRUE(json["scores"]["single_token"].is_null()) << "an action that was not allowed";
  EXPECT_TRUE(json["scores"]["branch"].is_null()) << "a score that is not finite";

  decision.acted = true;
  EXPECT_EQ(RecordJson(decision)["acted"], true);

  EXPECT_EQ(RecordJson(PathRecord{3, 1, 17, false}),
            Json::parse(R"({"record": "path", "path": 3, "parent": 1, "position": 17,
                            "warmup": false})"));
  EXPECT_EQ(RecordJson(RefineRecord{3, 17, 4}),
            Json::parse(R"({"record": "refine", "path": 3, "position": 17, "routes": 4})"));
  EXPECT_EQ(RecordJson(NoticeRecord{"narrow"})["record"], "notice");
  TokenRecord token;
  token.window_mean = 2.5;
  EXPECT_EQ(RecordJson(token)["record"], "token");
  EXPECT_EQ(RecordJson(token)["window_mean"], 2.5);
  token.window_mean = kNan;
  EXPECT_TRUE(RecordJson(token)["window_mean"].is_null());
  EXPECT_TRUE(RecordJson(WarmupRecord{})["threshold"].is_null());
  EXPECT_TRUE(RecordJson(WarmupRecord{})["confidence"]["position"].is_null());
  FinishRecord finish;
  finish.status = PathStatus::kMerged;
  finish.kept = 2;
  EXPECT_EQ(RecordJson(finish)["status"], "merged");
  EXPECT_EQ(RecordJson(finish)["kept"], 2);
}

TEST(DumpJson, BrokenUtf8IsReplacedNotThrown) {
  EXPECT_EQ(DumpJson({{"text", "a\xFFz"}}), "{\"text\":\"a\xEF\xBF\xBDz\"}");
  EXPECT_EQ(DumpJson({{"value", kNan}}), "{\"value\":null}");
  EXPECT_EQ(DumpJson({{"a", 1}}, 2), "{\n  \"a\": 1\n}");
}

}  // namespace
}  // namespace hyper

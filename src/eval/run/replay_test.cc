// Rows computed from stored paths against the same rows decoded live.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "src/core/random.h"
#include "src/eval/run/runner.h"
#include "src/eval/run/stored_pool.h"
#include "tests/support/scripted_paths.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

// Paths of 6 to 25 letters, each with a sureness of its own that may fall on the way, then a digit:
// some are pruned by a threshold, some agree, and they end at different times.
FakeOptions MixedPaths() {
  return ScriptedOptions([](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const auto words = Philox(key, {1, 2, 3, 4});
    const size_t length = 6 + words[0] % 20;
    const float sureness = 3.0F + static_cast<float>(words[1] % 5);
    if (written.size() < length) {
      const bool falls = words[2] % 3 == 0 && written.size() > length / 2;
      return {'a', falls ? 1.0F : sureness};
    }
    const std::string end = "\\boxed{" + std::to_string(words[3] % 3) + "}$";
    return {end[std::min(written.size() - length, end.size() - 1)], sureness};
  });
}

RunPlan PlanFor(const std::string& method) {
  RunPlan plan =
      *ResolveRun({method,
                   "short",
                   {{"width", 12}, {"window", 4}, {"max-tokens", 60}, {"temperature", 0}},
                   {{"warmup", 4}}},
                  {});
  plan.options.consensus = 0.6;  // reached now and then: paths are cancelled
  return plan;
}

StudyPlan Plan(const std::vector<std::string>& methods, bool replay) {
  StudyPlan plan;
  plan.suite.name = "made";
  plan.suite.prompt = "{question}";
  for (int i = 0; i < 4; ++i) {
    Question question;
    question.id = std::to_string(i);
    question.text = "question " + question.id;
    question.gold = "1";
    question.kind = AnswerKind::kInteger;
    plan.questions.push_back(question);
  }
  for (const std::string& method : methods) {
    plan.rows.push_back({method, PlanFor(method), {64, 1 << 20}});
  }
  plan.repeats = 2;
  plan.seed = 5;
  plan.engine = "fake";
  plan.replay = replay;
  return plan;
}

StudyProgress RunStudy(Engine& engine, Store& store, const StudyPlan& plan) {
  StudyRunner runner(engine, store, plan);
  EXPECT_TRUE(runner.Prepare().ok());
  const Status status = runner.Run({}, {});
  EXPECT_TRUE(status.ok()) << status.error().message;
  return runner.progress();
}

const std::vector<std::string> kMethods = {"sc",
                                           "self-certainty",
                                           "self-certainty-borda",
                                           "bon",
                                           "bon-mean",
                                           "deepconf-offline",
                                           "deepconf-offline-filtered",
                                           "deepconf-offline-tail",
                                           "deepconf",
                                           "deepconf-high",
                                           "deepconf-top10",
                                           "deepconf-offline-bottom",
                                           "bon-tail",
                                           "cot",
                                           "deepconf-offline-lowest",
                                           "rpc"};

// What has to be the same, as text: answer, votes, tokens, lanes and every path's end.
std::map<std::string, std::string> Results(Store& store) {
  std::map<std::string, std::string> results;
  const Result<std::vector<StoredRun>> runs = store.Runs();
  for (const StoredRun& run : *runs) {
    const Result<std::vector<ItemSummary>> items = store.Items(run.id);
    for (const ItemSummary& summary : *items) {
      const Result<StoredItem> item = store.LoadItem(summary.key);
      const Ledger& ledger = item->ledger;
      std::string text =
          item->answer.value_or("none") + " by " + item->vote_rule + ", " +
          std::to_string(item->voting_paths) + " of " + std::to_string(item->paths.size()) +
          ", tokens " + std::to_string(ledger.generated) + " " + std::to_string(ledger.prefilled) +
          ", lanes " + std::to_string(ledger.lanes_opened) + " " +
          std::to_string(ledger.lanes_peak) + ", positions " + std::to_string(ledger.positions) +
          ", cells " + std::to_string(ledger.cells_peak);
      for (const StoredVote& vote : item->votes) {
        text += "\n" + vote.rule + " " + vote.answer.value_or("none");
        for (const StoredTally& tally : vote.tallies) {
          text += " " + tally.answer + "=" + std::to_string(tally.score);
        }
      }
      for (const StoredPath& path : item->paths) {
        text += "\n" + path.text + " " + NameOf(path.status) + " " + path.reason + " " +
                std::to_string(path.mean_confidence) + " " + std::to_string(path.lowest_window);
      }
      results[run.label + " " + std::to_string(summary.key.question) + " " +
              std::to_string(summary.key.repeat)] = text;
    }
  }
  return results;
}

TEST(ReplayTest, GivesWhatLiveDecodingGives) {
  const test::TemporaryFolder folder;
  Store live = std::move(*Store::Open(folder.File("live.db"), DatabaseMode::kCreate));
  Store stored = std::move(*Store::Open(folder.File("stored.db"), DatabaseMode::kCreate));
  FakeEngine first(MixedPaths());
  EXPECT_EQ(RunStudy(first, live, Plan(kMethods, false)).replayed, 0);
  FakeEngine second(MixedPaths());
  const StudyProgress progress = RunStudy(second, stored, Plan(kMethods, true));
  const int rows = static_cast<int>(kMethods.size());
  EXPECT_EQ(progress.made, rows * 8);
  EXPECT_EQ(progress.replayed, (rows - 1) * 8);
  EXPECT_LT(second.cost().decode_rows * 5, first.cost().decode_rows);
  const auto expected = Results(live);
  const auto actual = Results(stored);
  ASSERT_EQ(actual.size(), expected.size());
  int pruned = 0;
  int cancelled = 0;
  for (const auto& [name, text] : expected) {
    EXPECT_EQ(actual.at(name), text) << name;
    pruned += text.find(" pruned ") != std::string::npos ? 1 : 0;
    cancelled += text.find(" cancelled ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(pruned, 0);  // the script reaches both ways of stopping early
  EXPECT_GT(cancelled, 0);
}

// Servers may say that a text has ended without a token for it.
class NoEndToken : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  bool IsEndOfGeneration(Token /*token*/) const override { return false; }
};

TEST(ReplayTest, TheLastTokenOfATextWithoutAnEndTokenIsPartOfIt) {
  const test::TemporaryFolder folder;
  Store live = std::move(*Store::Open(folder.File("live.db"), DatabaseMode::kCreate));
  Store stored = std::move(*Store::Open(folder.File("stored.db"), DatabaseMode::kCreate));
  NoEndToken first(MixedPaths());
  RunStudy(first, live, Plan({"sc", "bon"}, false));
  NoEndToken second(MixedPaths());
  EXPECT_EQ(RunStudy(second, stored, Plan({"sc", "bon"}, true)).replayed, 8);
  EXPECT_EQ(Results(stored), Results(live));
  EXPECT_EQ(live.LoadItem({1, 1, 0})->paths[0].text.back(),
            '>');  // "<end>", a token like any other
}

// Signals that are no mean over candidates follow from the series that every path is stored with.
TEST(ReplayTest, OtherSignalsComeFromTheStoredSeries) {
  const test::TemporaryFolder folder;
  Store live = std::move(*Store::Open(folder.File("live.db"), DatabaseMode::kCreate));
  Store stored = std::move(*Store::Open(folder.File("stored.db"), DatabaseMode::kCreate));
  const auto plan_with = [](bool replay) {
    StudyPlan plan = Plan({"sc"}, replay);
    for (const ConfidenceSignal signal :
         {ConfidenceSignal::kLogprob, ConfidenceSignal::kSurprise, ConfidenceSignal::kEntropy,
          ConfidenceSignal::kSelfCertainty}) {
      for (const char* method : {"deepconf-top10", "deepconf-offline"}) {
        StudyRow row{std::string(method) + " " + NameOf(signal), PlanFor(method), {64, 1 << 20}};
        row.plan.options.confidence = signal;
        plan.rows.push_back(row);
      }
    }
    return plan;
  };
  FakeEngine first(MixedPaths());
  RunStudy(first, live, plan_with(false));
  FakeEngine second(MixedPaths());
  EXPECT_EQ(RunStudy(second, stored, plan_with(true)).replayed, 8 * 8);
  EXPECT_EQ(Results(stored), Results(live));
}

TEST(ReplayTest, SideBySideWaitsForThePathsOfItsQuestion) {
  const test::TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("s.db"), DatabaseMode::kCreate));
  FakeEngine engine(MixedPaths());
  StudyPlan plan = Plan({"deepconf", "bon", "sc"}, true);
  plan.parallel = 4;
  EXPECT_EQ(RunStudy(engine, store, plan).replayed, 16);
}

TEST(ReplayTest, TimesAreUnknownAndTheSourceIsNamed) {
  const test::TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("s.db"), DatabaseMode::kCreate));
  FakeEngine engine(MixedPaths());
  RunStudy(engine, store, Plan({"sc", "self-certainty"}, true));
  const Result<StoredItem> item = store.LoadItem({2, 1, 0});
  ASSERT_TRUE(item.has_value());
  EXPECT_TRUE(std::isnan(item->ledger.wall_s));
  ASSERT_EQ(item->notices.size(), 1U);
  EXPECT_EQ(item->notices[0], "computed from the stored paths of run #1 (sc)");
}

TEST(ReplayTest, TheWarmUpOfStoredPathsKnowsTheirConfidencesOnly) {
  const test::TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("s.db"), DatabaseMode::kCreate));
  FakeEngine engine(MixedPaths());
  RunStudy(engine, store, Plan({"sc", "deepconf"}, true));
  const Result<StoredItem> item = store.LoadItem({2, 1, 0});
  ASSERT_TRUE(item.has_value() && item->warmup.has_value());
  EXPECT_GT(item->warmup->maxima.confidence.value, 0);
  for (const Maximum& unknown : {item->warmup->maxima.entropy, item->warmup->maxima.diversity}) {
    EXPECT_TRUE(std::isnan(unknown.value));
    EXPECT_EQ(unknown.position, -1);
  }
}

TEST(ReplayTest, OtherSamplersSeedsAndConfidencesAreDecoded) {
  StoredRun pool;
  pool.settings = {
      {"temperature", "0.6"}, {"confidence", "alternatives"}, {"confidence-count", "8"}};
  StoredRun row = pool;
  EXPECT_TRUE(ServesRow(pool, row));
  row.settings["width"] = "99";
  EXPECT_TRUE(ServesRow(pool, row));
  row.settings["confidence"] = "topk";
  EXPECT_FALSE(ServesRow(pool, row));
  row.settings["confidence-count"] = "20";
  EXPECT_TRUE(ServesRow(pool, row));  // every path is stored with DeepConf's confidences
  row.settings["confidence"] = "surprise";
  EXPECT_TRUE(ServesRow(pool, row));  // out of log-probabilities and entropies
  row.settings["entropy-count"] = "4";
  EXPECT_FALSE(ServesRow(pool, row));
  row.settings.erase("entropy-count");
  row.settings["temperature"] = "0.7";
  EXPECT_FALSE(ServesRow(pool, row));
  row = pool;
  row.seed = 1;
  EXPECT_FALSE(ServesRow(pool, row));
}

TEST(ReplayTest, OnlyMethodsOfIndependentPathsAreReplayed) {
  const auto paths = [](const std::string& method) {
    return ReplayablePaths(method, PlanFor(method).options);
  };
  EXPECT_EQ(paths("sc"), 12);
  EXPECT_EQ(paths("cot"), 1);
  EXPECT_EQ(paths("deepconf"), 12);
  for (const char* method : {"hyper", "roe", "roe-late", "bon-ptrue", "tot-conf", "threadweaver"}) {
    EXPECT_EQ(paths(method), 0) << method;
  }
  MethodOptions options = PlanFor("sc").options;
  options.probe = true;
  EXPECT_EQ(ReplayablePaths("sc", options), 0);
}

}  // namespace
}  // namespace hyper::eval

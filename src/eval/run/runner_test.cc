#include "src/eval/run/runner.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "src/core/random.h"
#include "src/eval/grade/study_grades.h"
#include "src/eval/run/stored_reservation.h"
#include "tests/support/scripted_paths.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

using test::TemporaryFolder;

// Writes "\boxed{d}" where the digit depends on the path's key, so on seed, question and repeat.
FakeOptions DigitsByKey() {
  return ScriptedOptions([](uint64_t key, std::string_view written, int) -> ScriptedNext {
    const std::string text = "\\boxed{" + std::to_string(key % 10) + "}$";
    return {text[std::min(written.size(), text.size() - 1)], 5.0F};
  });
}

// A row of narrow pools whose texts are the script's.
StudyRow Row(const std::string& label, const std::string& method) {
  const RunRequest request{
      method,
      "short",
      {{"width", 4}, {"max-tokens", 40}, {"temperature", 0}, {"top-k", 0}, {"top-p", 1}},
      {{"warmup", 2}}};
  return {label, *ResolveRun(request, {}), {16, 4096}};
}

StudyPlan Plan(int questions, int repeats) {
  StudyPlan plan;
  plan.suite.name = "made";
  plan.suite.prompt = "{question}";
  for (int i = 0; i < questions; ++i) {
    Question question;
    question.id = std::to_string(i);
    question.text = "question " + question.id;
    question.gold = "7";
    question.kind = AnswerKind::kInteger;
    plan.questions.push_back(question);
  }
  plan.rows = {Row("SC", "sc")};
  plan.repeats = repeats;
  plan.seed = 11;
  plan.engine = "fake";
  plan.program_version = "test";
  return plan;
}

class RunnerTest : public ::testing::Test {
 protected:
  Store Open() { return OpenFile("study.db"); }
  Store OpenFile(const std::string& name) {
    Result<Store> store = Store::Open(folder_.File(name), DatabaseMode::kCreate);
    EXPECT_TRUE(store.has_value());
    return std::move(*store);
  }

  // Runs a plan to its end; returns the progress.
  static StudyProgress RunStudy(Engine& engine, Store& store, const StudyPlan& plan) {
    StudyRunner runner(engine, store, plan);
    EXPECT_TRUE(runner.Prepare().ok());
    const Status status = runner.Run({}, {});
    EXPECT_TRUE(status.ok()) << status.error().message;
    return runner.progress();
  }

  // Texts of all paths by item.
  static std::map<ItemKey, std::vector<std::string>> Texts(Store& store) {
    std::map<ItemKey, std::vector<std::string>> texts;
    const Result<std::vector<StoredRun>> runs = store.Runs();
    for (const StoredRun& run : *runs) {
      const Result<std::vector<ItemSummary>> items = store.Items(run.id);
      for (const ItemSummary& item : *items) {
        const Result<StoredItem> whole = store.LoadItem(item.key);
        for (const StoredPath& path : whole->paths) {
          texts[item.key].push_back(path.text);
        }
      }
    }
    return texts;
  }

  TemporaryFolder folder_;
};

TEST_F(RunnerTest, AShardIsEveryNthQuestionOfAWholeStudy) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  StudyPlan plan = Plan(5, 2);
  plan.shard = 1;
  plan.shards = 3;
  const StudyProgress progress = RunStudy(engine, store, plan);
  EXPECT_EQ(progress.items, 4);
  EXPECT_EQ(progress.made, 4);
  std::set<std::pair<std::string, int>> answered;
  const std::vector<StoredQuestion> questions = *store.Questions();
  EXPECT_EQ(questions.size(), 5U) << "in the order of the whole study";
  for (const ItemSummary& item : *store.Items(store.Runs()->front().id)) {
    answered.emplace(questions[static_cast<size_t>(item.key.question) - 1].name, item.key.repeat);
  }
  EXPECT_EQ(answered,
            (std::set<std::pair<std::string, int>>{{"1", 0}, {"1", 1}, {"4", 0}, {"4", 1}}));
}

TEST_F(RunnerTest, RepeatsDifferAndComeBackFromTheStore) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  const StudyPlan plan = Plan(1, 3);
  EXPECT_EQ(RunStudy(engine, store, plan).made, 3);
  const auto texts = Texts(store);
  ASSERT_EQ(texts.size(), 3U);
  std::set<std::vector<std::string>> different;
  for (const auto& [key, paths] : texts) {
    EXPECT_EQ(paths.size(), 4U);
    different.insert(paths);
  }
  EXPECT_EQ(different.size(), 3U);
  const int64_t forwards = engine.cost().forwards;
  EXPECT_GT(forwards, 0);
  EXPECT_EQ(RunStudy(engine, store, plan).made, 0);
  EXPECT_EQ(engine.cost().forwards, forwards);
  EXPECT_EQ(Texts(store), texts);
}

TEST_F(RunnerTest, MoreRepeatsMakeOnlyTheNewOnes) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  RunStudy(engine, store, Plan(2, 1));
  const auto before = Texts(store);
  const StudyProgress progress = RunStudy(engine, store, Plan(2, 3));
  EXPECT_EQ(progress.items, 6);
  EXPECT_EQ(progress.made, 4);
  const auto after = Texts(store);
  for (const auto& [key, texts] : before) {
    EXPECT_EQ(after.at(key), texts);
  }
}

TEST_F(RunnerTest, EveryChangeOfAnOutputIsMadeAfresh) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  const StudyPlan plan = Plan(1, 1);
  EXPECT_EQ(RunStudy(engine, store, plan).made, 1);
  const std::function<void(StudyPlan&)> changes[] = {
      [](StudyPlan& other) { other.seed = 12; },
      [](StudyPlan& other) { other.suite.prompt = "{question} Think."; },
      [](StudyPlan& other) { other.suite.system = "Be brief."; },
      [](StudyPlan& other) { other.rows[0].plan.options.width = 5; },
      [](StudyPlan& other) { other.rows[0].plan.options.sampler.temperature = 0.5; },
      [](StudyPlan& other) { other.rows[0].plan.method = "hyper"; },
      [](StudyPlan& other) { other.engine = "fake 2"; },
      [](StudyPlan& other) { other.rows[0].reservation.cells = 2048; },
      [](StudyPlan& other) { other.limits.budget_tokens = 1'000'000; },
      [](StudyPlan& other) { other.strict = false; },
  };
  for (const auto& change : changes) {
    StudyPlan other = plan;
    change(other);
    EXPECT_EQ(RunStudy(engine, store, other).made, 1);
    EXPECT_EQ(RunStudy(engine, store, other).made, 0);
  }
  StudyPlan relabelled = plan;
  relabelled.rows[0].label = "ours";
  relabelled.parallel = 3;
  EXPECT_EQ(RunStudy(engine, store, relabelled).made, 0);
}

TEST_F(RunnerTest, EqualRowsAreOneRunThatKeepsItsLabel) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  StudyPlan plan = Plan(2, 1);
  plan.rows.push_back(plan.rows[0]);
  plan.rows[1].label = "mine";
  plan.questions.push_back(plan.questions[0]);  // a question that is named twice
  StudyRunner runner(engine, store, plan);
  ASSERT_TRUE(runner.Prepare().ok());
  ASSERT_TRUE(runner.Run({}, {}).ok());
  EXPECT_EQ(runner.progress().items, 2);
  EXPECT_EQ(runner.progress().made, 2);
  ASSERT_EQ(runner.runs().size(), 2U);
  EXPECT_EQ(runner.runs()[0], runner.runs()[1]);
  ASSERT_EQ(store.Runs()->size(), 1U);
  EXPECT_EQ(store.Runs()->front().label, "SC");
  plan.rows.erase(plan.rows.begin());
  EXPECT_EQ(RunStudy(engine, store, plan).made, 0);
  EXPECT_EQ(store.Runs()->front().label, "SC");
}

TEST_F(RunnerTest, ARowGoesOnWithWhatAnEarlierProgramReservedForIt) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  StudyPlan plan = Plan(1, 1);
  RunStudy(engine, store, plan);
  StudyRow& row = plan.rows[0];
  const int64_t before = row.reservation.cells;
  EXPECT_EQ(CellsOfRow(row.plan.options), LaneLimit(row.plan.options) * (40 + 256));
  const auto taken = [&](int64_t own, int64_t most) {
    row.reservation.cells = own;
    TakeOverReservation(plan, engine.model(), *store.Runs(), most, row);
    return row.reservation.cells;
  };
  EXPECT_EQ(taken(before - 100, before), before);
  EXPECT_EQ(RunStudy(engine, store, plan).made, 0);
  EXPECT_EQ(taken(before - 100, before - 1), before - 100);    // more than there is
  EXPECT_EQ(taken(before + 100, before + 100), before + 100);  // less than it may need
  row.plan.options.width = 5;
  EXPECT_EQ(taken(before - 100, before), before - 100);  // another run
}

TEST_F(RunnerTest, SideBySideGivesTheSameAsOneByOne) {
  StudyPlan plan = Plan(5, 2);
  plan.rows.push_back(Row("HyPER", "hyper"));
  Store one = OpenFile("one.db");
  Store three = OpenFile("three.db");
  FakeEngine first(DigitsByKey());
  RunStudy(first, one, plan);
  plan.parallel = 3;
  FakeEngine second(DigitsByKey());
  RunStudy(second, three, plan);
  EXPECT_EQ(Texts(one), Texts(three));
  EXPECT_EQ(Texts(one).size(), 20U);
}

TEST_F(RunnerTest, GradesThatWereLostAreMadeWithoutTheEngine) {
  FakeEngine engine(DigitsByKey());
  const StudyPlan plan = Plan(4, 1);
  {
    Store store = Open();
    RunStudy(engine, store, plan);
    ASSERT_EQ(*store.Graders(), std::vector<std::string>{"rules 1"});
  }
  {  // as if killed after generating
    Result<Database> database = Database::Open(folder_.File("study.db"), DatabaseMode::kExisting);
    ASSERT_TRUE(database->Execute("DELETE FROM grades").ok());
  }
  Store store = Open();
  const int64_t forwards = engine.cost().forwards;
  EXPECT_EQ(RunStudy(engine, store, plan).made, 0);
  EXPECT_EQ(engine.cost().forwards, forwards);
  const Result<std::vector<ItemSummary>> items = store.Items(1);
  ASSERT_EQ(items->size(), 4U);
  for (const ItemSummary& item : *items) {
    ASSERT_TRUE(item.grade.has_value());
    EXPECT_EQ(item.grade->verdict,
              item.answer == "7" ? StoredVerdict::kRight : StoredVerdict::kWrong);
  }
}

TEST_F(RunnerTest, ACorrectedGoldIsGradedAgainAndListed) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  StudyPlan plan = Plan(1, 1);
  RunStudy(engine, store, plan);
  const std::string answer = store.Items(1)->front().answer.value();
  StoredQuestion question = store.Questions()->front();
  question.gold = answer;
  ASSERT_TRUE(store.AddQuestion(question).has_value());
  Result<GradingReport> report = GradeStudy(store, false);
  ASSERT_TRUE(report.has_value());
  if (answer != "7") {
    ASSERT_EQ(report->changes.size(), 1U);
    EXPECT_EQ(report->changes.front().before, StoredVerdict::kWrong);
    EXPECT_EQ(report->changes.front().after, StoredVerdict::kRight);
  }
  EXPECT_EQ(store.Items(1)->front().grade->verdict, StoredVerdict::kRight);
  EXPECT_TRUE(GradeStudy(store, true)->changes.empty());
}

TEST_F(RunnerTest, StoppingKeepsWhatIsDoneAndResumesWithTheRest) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  const StudyPlan plan = Plan(10, 1);
  {
    StudyRunner runner(engine, store, plan);
    ASSERT_TRUE(runner.Prepare().ok());
    ASSERT_TRUE(runner.Run([&] { return runner.progress().made >= 4; }, {}).ok());
    EXPECT_EQ(runner.progress().made, 4);
  }
  EXPECT_EQ(engine.open_lanes(), 0);
  const StudyProgress resumed = RunStudy(engine, store, plan);
  EXPECT_EQ(resumed.made, 6);
  EXPECT_EQ(resumed.done, 10);
  EXPECT_EQ(store.Items(1)->size(), 10U);
}

TEST_F(RunnerTest, AWorkInProgressThatIsStoppedStaysCharged) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  const StudyPlan plan = Plan(1, 1);
  int steps = 0;
  {
    StudyRunner runner(engine, store, plan);
    ASSERT_TRUE(runner.Prepare().ok());
    ASSERT_TRUE(runner.Run([&] { return steps++ >= 3; }, {}).ok());
  }
  ASSERT_EQ(store.Items(1)->size(), 1U);
  EXPECT_EQ(store.Items(1)->front().status, ItemStatus::kFailed);
  const int64_t lost = store.Items(1)->front().ledger.effective();
  EXPECT_GT(lost, 0);
  RunStudy(engine, store, plan);
  const ItemSummary item = store.Items(1)->front();
  EXPECT_EQ(item.status, ItemStatus::kDone);
  EXPECT_EQ(item.lost.attempts, 1);
  EXPECT_EQ(item.lost.effective_tokens, lost);
}

TEST_F(RunnerTest, AnEngineErrorIsReturnedAndTheStudyGoesOnLater) {
  FakeOptions options = DigitsByKey();
  options.poll_fault = [](int64_t poll) -> std::optional<Error> {
    if (poll < 30) {
      return std::nullopt;
    }
    return Error{ErrorCode::kInternal, "the device is gone"};
  };
  Store store = Open();
  const StudyPlan plan = Plan(20, 1);
  {
    FakeEngine broken(options);
    StudyRunner runner(broken, store, plan);
    ASSERT_TRUE(runner.Prepare().ok());
    const Status status = runner.Run({}, {});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "the device is gone");
    EXPECT_GT(runner.progress().made, 0);
  }
  FakeEngine engine(DigitsByKey());
  EXPECT_EQ(RunStudy(engine, store, plan).done, 20);
}

// An engine that gives up `lost` of the four paths of each question.
FakeOptions LosesPaths(const std::set<int>& lost) {
  FakeOptions options = DigitsByKey();
  options.lane_fault = [lost](const FakeStep& step) -> std::optional<Error> {
    for (const int path : lost) {
      if (step.path_key == PathKey({11, QuestionKey("made", "0")}, path)) {
        return Error{ErrorCode::kUnavailable, "HTTP status 401: who are you?"};
      }
    }
    return std::nullopt;
  };
  return options;
}

TEST_F(RunnerTest, AnEngineThatGivesUpIsNoWrongAnswer) {
  for (const std::set<int>& lost : {std::set{0, 1, 2, 3}, std::set{1, 3}}) {
    Store store = OpenFile(std::to_string(lost.size()) + ".db");
    const StudyPlan plan = Plan(1, 1);
    FakeEngine refusing(LosesPaths(lost));
    const StudyProgress progress = RunStudy(refusing, store, plan);
    EXPECT_EQ(progress.failed, 1);
    EXPECT_EQ(progress.done, 0);
    EXPECT_NE(progress.failure.find("who are you?"), std::string::npos) << progress.failure;
    const ItemSummary item = store.Items(1)->front();
    EXPECT_EQ(item.status, ItemStatus::kFailed);
    EXPECT_FALSE(item.grade.has_value());
    // It is asked for again.
    FakeEngine engine(DigitsByKey());
    EXPECT_EQ(RunStudy(engine, store, plan).made, 1);
    EXPECT_EQ(store.Items(1)->front().status, ItemStatus::kDone);
  }
}

TEST_F(RunnerTest, APathThatIsLostLeavesTheVoteToTheOthers) {
  Store store = Open();
  FakeEngine engine(LosesPaths({2}));
  EXPECT_EQ(RunStudy(engine, store, Plan(1, 1)).made, 1);
  EXPECT_EQ(store.Items(1)->front().voting_paths, 3);
}

TEST_F(RunnerTest, UnknownMethodsAreRefusedBeforeAnythingRuns) {
  FakeEngine engine(DigitsByKey());
  Store store = Open();
  StudyPlan plan = Plan(1, 1);
  plan.rows[0].plan.method = "magic";
  StudyRunner runner(engine, store, plan);
  EXPECT_EQ(runner.Prepare().error().code, ErrorCode::kNotFound);
}

TEST_F(RunnerTest, KilledAtRandomPointsNothingIsDoubledOrLost) {
  const StudyPlan plan = Plan(6, 2);
  const std::string path = folder_.File("killed.db");
  std::map<ItemKey, std::vector<std::string>> seen;
  bool finished = false;
  for (unsigned round = 0; !finished; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Result<Store> store = Store::Open(path, DatabaseMode::kCreate);
      FakeEngine engine(DigitsByKey());
      if (!store) {
        _exit(2);
      }
      StudyRunner runner(engine, *store, plan);
      const bool done = runner.Prepare().ok() && runner.Run({}, {}).ok();
      _exit(done ? 0 : 3);
    }
    // Each child gets a little more time, so that the loop ends on any machine.
    std::this_thread::sleep_for(std::chrono::microseconds(2000U * round + 37U * (round % 11)));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    finished = WIFEXITED(status);
    ASSERT_TRUE(!finished || WEXITSTATUS(status) == 0);
    Result<Store> store = Store::Open(path, DatabaseMode::kCreate);
    ASSERT_TRUE(store.has_value());
    const auto texts = Texts(*store);
    for (const auto& [key, paths] : seen) {
      ASSERT_EQ(texts.at(key), paths);
    }
    seen = texts;
  }
  EXPECT_EQ(seen.size(), 12U);
  FakeEngine engine(DigitsByKey());
  Store fresh = OpenFile("fresh.db");
  RunStudy(engine, fresh, plan);
  EXPECT_EQ(Texts(fresh), seen);  // interrupted or not, the same texts
}

TEST(RepeatSeedTest, RepeatsAndNeighbouringSeedsAreApart) {
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      seeds.insert(RepeatSeed(seed, repeat));
    }
  }
  EXPECT_EQ(seeds.size(), 1000U);
  EXPECT_EQ(RepeatSeed(5, 0), 5U);
}

TEST(QuestionKeyTest, DependsOnSuiteAndId) {
  // FNV-1a of the empty string, then of the one byte 0 (published constants).
  EXPECT_EQ(QuestionKey("", ""), 0xAF63BD4C8601B7DFU);
  EXPECT_NE(QuestionKey("a", "bc"), QuestionKey("ab", "c"));
}

}  // namespace
}  // namespace hyper::eval

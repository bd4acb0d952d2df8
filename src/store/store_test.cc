#include "src/store/store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace hyper {
namespace {

using test::TemporaryFolder;

StoredRun SomeRun() {
  StoredRun run;
  run.label = "HyPER";
  run.method = "hyper";
  run.suite = "tinymath";
  run.model = "tiny";
  run.model_hash = "abc";
  run.engine = "fake 1";
  run.version = "0.1.0";
  run.seed = 0xFFFF'FFFF'FFFF'FFFFU;
  run.settings = {{"width", "32"}, {"template", "<|im_start|>{}"}};
  return run;
}

StoredQuestion SomeQuestion(const std::string& name) {
  StoredQuestion question;
  question.suite = "tinymath";
  question.name = name;
  question.text = "1+1?";
  question.prompt = "<user>1+1?";
  question.gold = "2";
  question.kind = "integer";
  question.group = "3";
  return question;
}

StoredItem SmallItem(const ItemKey& key, const std::string& answer) {
  StoredItem item;
  item.key = key;
  item.answer = answer;
  item.vote_rule = "majority";
  item.ledger.generated = 10;
  return item;
}

// An item with a value in every field.
StoredItem WholeItem(const ItemKey& key) {
  StoredItem item = SmallItem(key, "42");
  item.status = ItemStatus::kPartial;
  item.reason = "budget";
  item.voting_paths = 2;
  item.ledger = {100, 40, 60, 30, 1, 2, 3, 4, 5, 6, 70, 800, 512.5, 9, 1.5, 1.0, 0.25, 0.125};
  WarmupRecord warmup;
  warmup.has_threshold = true;
  warmup.threshold = 4.5;
  warmup.maxima.confidence = {9.5, 3, 8};
  warmup.maxima.variance = {0.5, 60, 1};
  item.warmup = warmup;
  StoredPath path;
  path.path = 0;
  path.text = std::string("a\0\xFFz", 4);
  path.key = 0x8000'0000'0000'0001U;
  path.tokens = 3;
  path.mean_confidence = 7.25;
  path.answer = "42";
  path.answer_raw = "\\boxed{42}";
  StoredPath child = path;
  child.path = 1;
  child.parent = 0;
  child.fork_position = 2;
  child.status = PathStatus::kMerged;
  child.reason = "not kept";
  child.kept = 0;
  child.answer = std::nullopt;
  child.tentative = true;
  child.warmup = true;
  child.kind = PathKind::kJudge;
  child.lowest_window = 1.5;
  item.paths = {path, child};
  item.series = {{0, "confidence", 0, std::vector<float>{1, 2, 3}},
                 {0, "tokens", 0, std::vector<int32_t>{5, -1, 7}},
                 {1, "routes", 2, std::vector<uint8_t>{4}}};
  DecisionRecord decision;
  decision.step = 1;
  decision.position = 17;
  decision.raw = {1, 2, 3, 4, 5, 6, 7};
  decision.normalised = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
  decision.scores = {0.5, -0.5, 0.25, 0};
  decision.allowed = ActionSet().With(Action::kMultiToken);
  decision.action = Action::kMultiToken;
  decision.acted = true;
  decision.expansion = 3;
  decision.paths_before = 10;
  decision.paths_after = 11;
  decision.lanes_after = 30;
  decision.note = "cut short";
  item.decisions = {decision};
  item.refinements = {{1, 17, 4}, {1, 33, 1}};
  item.votes = {{"length", std::nullopt, true, 2, {}},
                {"majority", "42", false, 0, {{"42", 2, 0.8, 2, true}, {"7", 0.5, 0.2, 1, false}}}};
  item.notices = {"first", "second"};
  return item;
}

// Rows of `decisions` that fulfil `condition`, read as another program would.
int64_t CountWhere(const std::string& path, const std::string& condition) {
  Result<Database> database = Database::Open(path, DatabaseMode::kReadOnly);
  Result<Statement> rows = database->Prepare("SELECT count(*) FROM decisions WHERE " + condition);
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  return rows.has_value() && *rows->Step() ? rows->Int(0) : -1;
}

class StoreTest : public ::testing::Test {
 protected:
  Store Open() {
    Result<Store> store = Store::Open(folder_.File("study.db"), DatabaseMode::kCreate);
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return std::move(*store);
  }

  TemporaryFolder folder_;
};

TEST_F(StoreTest, EveryFieldOfAnItemComesBack) {
  Store store = Open();
  const ItemKey key{*store.AddRun(SomeRun()), *store.AddQuestion(SomeQuestion("q")), 2};
  const StoredItem item = WholeItem(key);
  ASSERT_TRUE(*store.SaveItem(item));
  const Result<StoredItem> loaded = store.LoadItem(key);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(loaded->key, key);
  EXPECT_EQ(loaded->status, item.status);
  EXPECT_EQ(loaded->reason, item.reason);
  EXPECT_EQ(loaded->answer, item.answer);
  EXPECT_EQ(loaded->vote_rule, item.vote_rule);
  EXPECT_EQ(loaded->voting_paths, item.voting_paths);
  EXPECT_EQ(loaded->notices, item.notices);
  const Ledger& ledger = loaded->ledger;
  EXPECT_EQ(ledger.generated, 100);
  EXPECT_EQ(ledger.refined, 40);
  EXPECT_EQ(ledger.effective(), item.ledger.effective());
  EXPECT_EQ(ledger.prefilled, 30);
  EXPECT_EQ(ledger.recomputed, 1);
  EXPECT_EQ(ledger.lanes_opened, 5);
  EXPECT_EQ(ledger.lanes_peak, 6);
  EXPECT_EQ(ledger.positions, 70);
  EXPECT_EQ(ledger.cells_peak_bytes(), 800 * 512.5);
  EXPECT_EQ(ledger.stalls, 9);
  EXPECT_EQ(ledger.wall_s, 1.5);
  EXPECT_EQ(ledger.engine_s, 1.0);
  EXPECT_EQ(ledger.sampler_s, 0.25);
  EXPECT_EQ(ledger.statistics_s, 0.125);
  ASSERT_TRUE(loaded->warmup.has_value());
  EXPECT_EQ(loaded->warmup->threshold, 4.5);
  EXPECT_EQ(loaded->warmup->maxima.confidence.value, 9.5);
  EXPECT_EQ(loaded->warmup->maxima.confidence.paths, 8);
  EXPECT_EQ(loaded->warmup->maxima.entropy.position, -1);
  EXPECT_EQ(loaded->warmup->maxima.variance.position, 60);
}

TEST_F(StoreTest, PathsAndSeriesComeBack) {
  Store store = Open();
  const ItemKey key{*store.AddRun(SomeRun()), *store.AddQuestion(SomeQuestion("q")), 0};
  const StoredItem item = WholeItem(key);
  ASSERT_TRUE(*store.SaveItem(item));
  const Result<StoredItem> loaded = store.LoadItem(key);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  ASSERT_EQ(loaded->paths.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    const StoredPath& expected = item.paths[i];
    const StoredPath& path = loaded->paths[i];
    EXPECT_EQ(path.path, expected.path);
    EXPECT_EQ(path.parent, expected.parent);
    EXPECT_EQ(path.fork_position, expected.fork_position);
    EXPECT_EQ(path.warmup, expected.warmup);
    EXPECT_EQ(path.kind, expected.kind);
    EXPECT_EQ(path.status, expected.status);
    EXPECT_EQ(path.reason, expected.reason);
    EXPECT_EQ(path.kept, expected.kept);
    EXPECT_EQ(path.key, expected.key);
    EXPECT_EQ(path.tokens, expected.tokens);
    EXPECT_EQ(path.mean_confidence, expected.mean_confidence);
    EXPECT_EQ(path.text, expected.text);
    EXPECT_EQ(path.answer, expected.answer);
    EXPECT_EQ(path.answer_raw, expected.answer_raw);
    EXPECT_EQ(path.tentative, expected.tentative);
  }
  EXPECT_TRUE(std::isnan(loaded->paths[0].lowest_window));
  EXPECT_EQ(loaded->paths[1].lowest_window, 1.5);
  ASSERT_EQ(loaded->series.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(loaded->series[i].name, item.series[i].name);
    EXPECT_EQ(loaded->series[i].first, item.series[i].first);
    EXPECT_EQ(loaded->series[i].values, item.series[i].values);
  }
}

TEST_F(StoreTest, DecisionsAndVotesComeBack) {
  Store store = Open();
  const ItemKey key{*store.AddRun(SomeRun()), *store.AddQuestion(SomeQuestion("q")), 0};
  const StoredItem item = WholeItem(key);
  ASSERT_TRUE(*store.SaveItem(item));
  const Result<StoredItem> loaded = store.LoadItem(key);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  ASSERT_EQ(loaded->decisions.size(), 1U);
  const DecisionRecord& decision = loaded->decisions[0];
  EXPECT_EQ(decision.step, 1);
  EXPECT_EQ(decision.position, 17);
  EXPECT_EQ(decision.raw.confidence, 1);
  EXPECT_EQ(decision.raw.consensus, 3);
  EXPECT_EQ(decision.raw.variance, 7);
  EXPECT_EQ(decision.normalised.entropy, 0.2);
  EXPECT_EQ(decision.normalised.sequence_diversity, 0.5);
  EXPECT_EQ(decision.scores, item.decisions[0].scores);
  EXPECT_EQ(decision.allowed, item.decisions[0].allowed);
  EXPECT_EQ(decision.action, Action::kMultiToken);
  EXPECT_TRUE(decision.acted);
  EXPECT_EQ(decision.expansion, 3);
  EXPECT_EQ(decision.paths_before, 10);
  EXPECT_EQ(decision.paths_after, 11);
  EXPECT_EQ(decision.lanes_after, 30);
  EXPECT_EQ(decision.note, "cut short");
  ASSERT_EQ(loaded->refinements.size(), 2U);
  EXPECT_EQ(loaded->refinements[1].position, 33);
  EXPECT_EQ(loaded->refinements[0].routes, 4);
  ASSERT_EQ(loaded->votes.size(), 2U);
  EXPECT_EQ(loaded->votes[0].rule, "length");
  EXPECT_EQ(loaded->votes[0].answer, std::nullopt);
  EXPECT_TRUE(loaded->votes[0].tie);
  EXPECT_EQ(loaded->votes[0].clipped, 2);
  ASSERT_EQ(loaded->votes[1].tallies.size(), 2U);
  EXPECT_EQ(loaded->votes[1].tallies[0].answer, "42");
  EXPECT_EQ(loaded->votes[1].tallies[1].share, 0.2);
  EXPECT_FALSE(loaded->votes[1].tallies[1].candidate);
}

TEST_F(StoreTest, RunsAndQuestionsComeBack) {
  Store store = Open();
  ASSERT_TRUE(store.AddRun(SomeRun()).has_value());
  ASSERT_TRUE(store.AddQuestion(SomeQuestion("q")).has_value());
  const StoredRun run = store.Runs()->front();
  EXPECT_EQ(RunIdentity(run), RunIdentity(SomeRun()));
  EXPECT_EQ(run.label, "HyPER");
  EXPECT_EQ(run.seed, SomeRun().seed);
  EXPECT_EQ(run.settings, SomeRun().settings);
  const StoredQuestion question = store.Questions()->front();
  EXPECT_EQ(question.name, "q");
  EXPECT_EQ(question.prompt, "<user>1+1?");
  EXPECT_EQ(question.gold, "2");
  EXPECT_EQ(question.group, "3");
}

// Each field that can change an output makes another run: no stale result can be taken for it.
TEST_F(StoreTest, EveryChangeOfARunIsACacheMiss) {
  Store store = Open();
  const int64_t first = *store.AddRun(SomeRun());
  EXPECT_EQ(*store.AddRun(SomeRun()), first);
  const std::function<void(StoredRun&)> changes[] = {
      [](StoredRun& run) { run.method = "sc"; },
      [](StoredRun& run) { run.suite = "gsm8k"; },
      [](StoredRun& run) { run.model = "big"; },
      [](StoredRun& run) { run.model_hash = "abd"; },
      [](StoredRun& run) { run.engine = "fake 2"; },
      [](StoredRun& run) { run.version = "0.2.0"; },
      [](StoredRun& run) { run.seed = 1; },
      [](StoredRun& run) { run.settings["width"] = "33"; },
      [](StoredRun& run) { run.settings["template"] += " "; },
      [](StoredRun& run) { run.settings["few-shot-seed"] = "1"; },
      [](StoredRun& run) { run.settings.erase("width"); },
      [](StoredRun& run) {
        run.settings = {{"width", "32\nvalue 1 x"}};
      },
  };
  std::set<int64_t> ids = {first};
  for (const auto& change : changes) {
    StoredRun run = SomeRun();
    change(run);
    EXPECT_TRUE(ids.insert(*store.AddRun(run)).second);
  }
  StoredRun renamed = SomeRun();
  renamed.label = "ours";
  EXPECT_EQ(*store.AddRun(renamed), first);
  EXPECT_EQ(store.Runs()->front().label, "HyPER");  // else the row of that name would vanish
}

TEST_F(StoreTest, AnotherPromptIsAnotherQuestionButANewGoldIsNot) {
  Store store = Open();
  const int64_t first = *store.AddQuestion(SomeQuestion("q"));
  StoredQuestion other = SomeQuestion("q");
  other.prompt += "\nThink.";
  EXPECT_NE(*store.AddQuestion(other), first);
  other = SomeQuestion("q");
  other.labels = "AB";
  EXPECT_NE(*store.AddQuestion(other), first);
  other = SomeQuestion("q");
  other.gold = "3";
  EXPECT_EQ(*store.AddQuestion(other), first);
  EXPECT_EQ(store.Questions()->front().gold, "3");
}

TEST_F(StoreTest, RepeatsAreDifferentItems) {
  Store store = Open();
  const int64_t run = *store.AddRun(SomeRun());
  const int64_t question = *store.AddQuestion(SomeQuestion("q"));
  for (int repeat = 0; repeat < 3; ++repeat) {
    const ItemKey key{run, question, repeat};
    EXPECT_TRUE(*store.SaveItem(SmallItem(key, std::to_string(repeat))));
  }
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(store.LoadItem({run, question, repeat})->answer, std::to_string(repeat));
  }
  // A second time nothing is made or changed.
  EXPECT_FALSE(*store.SaveItem(SmallItem({run, question, 1}, "other")));
  EXPECT_EQ(store.LoadItem({run, question, 1})->answer, "1");
}

TEST_F(StoreTest, UnfinishedItemsAreThoseThatAreMissingOrFailed) {
  Store store = Open();
  const int64_t run = *store.AddRun(SomeRun());
  const std::vector<int64_t> questions = {*store.AddQuestion(SomeQuestion("a")),
                                          *store.AddQuestion(SomeQuestion("b"))};
  ASSERT_TRUE(*store.SaveItem(SmallItem({run, questions[1], 0}, "1")));
  StoredItem failed = SmallItem({run, questions[0], 1}, "");
  failed.status = ItemStatus::kFailed;
  failed.answer = std::nullopt;
  ASSERT_TRUE(*store.SaveItem(failed));
  const std::vector<ItemKey> expected = {
      {run, questions[0], 0}, {run, questions[0], 1}, {run, questions[1], 1}};
  EXPECT_EQ(*store.Unfinished(run, questions, 2), expected);
  EXPECT_TRUE(store.Unfinished(run, questions, 0)->empty());
}

TEST_F(StoreTest, AFailedAttemptIsReplacedAndItsTokensStayCharged) {
  Store store = Open();
  const ItemKey key{*store.AddRun(SomeRun()), *store.AddQuestion(SomeQuestion("q")), 0};
  StoredItem failed = WholeItem(key);
  failed.status = ItemStatus::kFailed;
  ASSERT_TRUE(*store.SaveItem(failed));
  ASSERT_TRUE(*store.SaveItem(failed));
  ASSERT_TRUE(*store.SaveItem(SmallItem(key, "2")));
  const std::vector<ItemSummary> items = *store.Items(key.run);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].status, ItemStatus::kDone);
  EXPECT_EQ(items[0].lost.attempts, 2);
  EXPECT_EQ(items[0].lost.effective_tokens, 2 * failed.ledger.effective());
  EXPECT_EQ(items[0].lost.generated_tokens, 2 * failed.ledger.generated);
  EXPECT_TRUE(store.LoadItem(key)->paths.empty());  // nothing of the old attempt is left
}

TEST_F(StoreTest, FilesOfBeforeLostGeneratedTokensAreReadAndGoOn) {
  Store store = Open();
  const ItemKey key{*store.AddRun(SomeRun()), *store.AddQuestion(SomeQuestion("q")), 0};
  StoredItem failed = WholeItem(key);
  failed.status = ItemStatus::kFailed;
  ASSERT_TRUE(*store.SaveItem(failed));
  ASSERT_TRUE(*store.SaveItem(failed));
  const std::string path = folder_.File("study.db");
  {
    Result<Database> old = Database::Open(path, DatabaseMode::kExisting);
    ASSERT_TRUE(old->Execute("ALTER TABLE items DROP COLUMN lost_generated; "
                             "ALTER TABLE decisions DROP COLUMN acted")
                    .ok());
  }
  const int64_t effective = failed.ledger.effective();
  {
    Result<Store> reader = Store::Open(path, DatabaseMode::kReadOnly);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    EXPECT_EQ(reader->Items(key.run)->front().lost.generated_tokens, effective);
  }
  Result<Store> writer = Store::Open(path, DatabaseMode::kExisting);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  ASSERT_TRUE(*writer->SaveItem(SmallItem(key, "2")));
  EXPECT_EQ(writer->Items(key.run)->front().lost.effective_tokens, 2 * effective);
  EXPECT_EQ(writer->Items(key.run)->front().lost.generated_tokens,
            effective + failed.ledger.generated);
  // The other column that such files lack is there, too.
  const ItemKey next{key.run, key.question, 1};
  ASSERT_TRUE(*writer->SaveItem(WholeItem(next)));
  EXPECT_EQ(CountWhere(path, "acted = 1"), 1);
}

// Readers of a file without our code count what had an effect by `acted`.
TEST_F(StoreTest, DecisionsThatOpenedNoLaneHaveNotActed) {
  Store store = Open();
  StoredItem item = WholeItem({*store.AddRun(SomeRun()), *store.AddQuestion(SomeQuestion("q")), 0});
  DecisionRecord idle = item.decisions[0];
  idle.step = 2;
  idle.acted = false;
  idle.lanes_after = idle.paths_before;
  item.decisions.push_back(idle);
  ASSERT_TRUE(*store.SaveItem(item));
  const std::string path = folder_.File("study.db");
  EXPECT_EQ(CountWhere(path, "acted = 1 AND step = 1"), 1);
  EXPECT_EQ(CountWhere(path, "acted = 0 AND step = 2"), 1);
  EXPECT_FALSE(store.LoadItem(item.key)->decisions[1].acted);
}

TEST_F(StoreTest, VerdictsOfJudgesAreKnownByAnswer) {
  Store store = Open();
  const int64_t run = *store.AddRun(SomeRun());
  const int64_t question = *store.AddQuestion(SomeQuestion("q"));
  const std::vector<StoredGrade> grades = {
      {{run, question, 0}, StoredVerdict::kRight, "2", "judge m", ""},
      {{run, question, 1}, StoredVerdict::kWrong, "2", "rules 1", ""},
      {{run, question, 2}, StoredVerdict::kRight, "9", "judge m", ""},
      {{run, question, 3}, StoredVerdict::kNotGraded, "2", "judge m", ""}};
  for (const StoredGrade& grade : grades) {
    ASSERT_TRUE(*store.SaveItem(SmallItem(grade.key, "a" + std::to_string(grade.key.repeat))));
    ASSERT_TRUE(store.SaveGrade(grade).ok());
  }
  const Result<std::vector<JudgedAnswer>> judged = store.JudgedAnswers();
  ASSERT_EQ(judged->size(), 1U);
  EXPECT_EQ(judged->front().answer, "a0");
  EXPECT_EQ(judged->front().verdict, StoredVerdict::kRight);
}

// Killed between generating and grading: the answers are there, only grades are missing.
TEST_F(StoreTest, GradesAreMadeAgainWithoutTheItems) {
  Store store = Open();
  const int64_t run = *store.AddRun(SomeRun());
  const ItemKey first{run, *store.AddQuestion(SomeQuestion("a")), 0};
  const ItemKey second{run, *store.AddQuestion(SomeQuestion("b")), 0};
  ASSERT_TRUE(*store.SaveItem(SmallItem(first, "2")));
  ASSERT_TRUE(*store.SaveItem(SmallItem(second, "3")));
  EXPECT_TRUE(store.Graders()->empty());
  ASSERT_TRUE(store.SaveGrade({first, StoredVerdict::kRight, "2", "rules 1", ""}).ok());
  ASSERT_TRUE(store.SaveGrade({second, StoredVerdict::kRight, "2", "rules 1", ""}).ok());
  EXPECT_EQ(*store.Graders(), std::vector<std::string>{"rules 1"});
  ASSERT_TRUE(store.SaveGrade({second, StoredVerdict::kWrong, "2", "close 1", ""}).ok());
  EXPECT_EQ(*store.Graders(), (std::vector<std::string>{"close 1", "rules 1"}));
  StoredQuestion corrected = SomeQuestion("a");
  corrected.gold = "4";
  ASSERT_TRUE(store.AddQuestion(corrected).has_value());
  ASSERT_TRUE(store.SaveGrade({first, StoredVerdict::kUndecided, "4", "rules 1", "odd"}).ok());
  const std::vector<ItemSummary> items = *store.Items(run);
  ASSERT_TRUE(items[0].grade.has_value());
  EXPECT_EQ(items[0].grade->verdict, StoredVerdict::kUndecided);
  EXPECT_EQ(items[0].grade->note, "odd");
  EXPECT_EQ(items[1].grade->grader, "close 1");
  EXPECT_EQ(store.SaveGrade({{run, 99, 0}, {}, "", "", ""}).error().code, ErrorCode::kNotFound);
}

TEST_F(StoreTest, AMissingItemIsNotFound) {
  Store store = Open();
  EXPECT_EQ(store.LoadItem({1, 1, 0}).error().code, ErrorCode::kNotFound);
}

TEST_F(StoreTest, TwoProgramsShareAFileWithoutDoubling) {
  Store first = Open();
  Store second = Open();
  const ItemKey key{*first.AddRun(SomeRun()), *first.AddQuestion(SomeQuestion("q")), 0};
  EXPECT_EQ(*second.AddRun(SomeRun()), key.run);
  EXPECT_TRUE(*first.SaveItem(SmallItem(key, "mine")));
  EXPECT_FALSE(*second.SaveItem(SmallItem(key, "yours")));
  EXPECT_EQ(second.LoadItem(key)->answer, "mine");
}

constexpr int kKillQuestions = 12;

// The child of the test below: stores what is unfinished until it is killed or done.
[[noreturn]] void WriteUntilKilled(const std::string& path) {
  Result<Store> store = Store::Open(path, DatabaseMode::kCreate);
  if (!store) {
    _exit(2);
  }
  const Result<int64_t> run = store->AddRun(SomeRun());
  std::vector<int64_t> questions;
  for (int i = 0; run && i < kKillQuestions; ++i) {
    const Result<int64_t> question = store->AddQuestion(SomeQuestion(std::to_string(i)));
    if (!question) {
      _exit(3);
    }
    questions.push_back(*question);
  }
  const auto keys = run ? store->Unfinished(*run, questions, 3) : run.error();
  if (!keys) {
    _exit(4);
  }
  for (const ItemKey& key : *keys) {
    // False would mean that a resumed run does work that was done.
    if (!store->SaveItem(WholeItem(key)).value_or(false)) {
      _exit(5);
    }
  }
  _exit(0);
}

TEST_F(StoreTest, KilledAtRandomPointsNothingIsHalfWrittenLostOrDoubled) {
  const std::string path = folder_.File("killed.db");
  std::mt19937 random(7);  // any sequence of delays must pass
  size_t stored = 0;
  bool finished = false;
  int kills = 0;
  while (!finished) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      WriteUntilKilled(path);
    }
    // Later children get more time, so that the loop ends on any machine.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000 + 500U * kills));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    finished = WIFEXITED(status);
    if (finished) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
    } else {
      ++kills;
    }
    Result<Store> store = Store::Open(path, DatabaseMode::kCreate);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    const std::vector<StoredRun> runs = *store->Runs();
    if (runs.empty()) {
      continue;
    }
    ASSERT_EQ(runs.size(), 1U);
    const std::vector<ItemSummary> items = *store->Items(runs[0].id);
    ASSERT_GE(items.size(), stored);
    stored = items.size();
    for (const ItemSummary& summary : items) {
      const Result<StoredItem> item = store->LoadItem(summary.key);
      ASSERT_TRUE(item.has_value());
      ASSERT_EQ(item->paths.size(), 2U);
      ASSERT_EQ(item->series.size(), 3U);
      ASSERT_EQ(item->notices.size(), 2U);  // written last
    }
  }
  EXPECT_EQ(stored, 3U * kKillQuestions);
  EXPECT_GT(kills, 0);
}

}  // namespace
}  // namespace hyper

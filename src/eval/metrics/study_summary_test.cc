#include "src/eval/metrics/study_summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/eval/grade/study_grades.h"
#include "src/eval/tables/study_tables.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

using test::TemporaryFolder;

// A study of three questions with the gold "1", groups 2, 2 and 3, and runs of given answers.
class StudySummaryTest : public ::testing::Test {
 protected:
  StudySummaryTest()
      : store_(std::move(*Store::Open(folder_.File("s.db"), DatabaseMode::kCreate))) {
    for (int i = 0; i < 3; ++i) {
      StoredQuestion question;
      question.suite = "made";
      question.name = std::to_string(i);
      question.gold = "1";
      question.kind = "integer";
      question.group = i < 2 ? "2" : "3";
      questions_.push_back(*store_.AddQuestion(question));
    }
  }

  // answers[question][repeat]; "?" is a failed item, "" none, "-" not there.
  int64_t AddRun(const std::string& method, const std::vector<std::vector<std::string>>& answers,
                 int64_t tokens) {
    StoredRun run;
    run.label = method;
    run.method = method;
    run.suite = "made";
    run.model = "tiny";
    run.settings = {{"width", "8"}};
    const int64_t id = *store_.AddRun(run);
    for (size_t question = 0; question < answers.size(); ++question) {
      for (size_t repeat = 0; repeat < answers[question].size(); ++repeat) {
        const std::string& answer = answers[question][repeat];
        if (answer == "-") {
          continue;
        }
        StoredItem item;
        item.key = {id, questions_[question], static_cast<int>(repeat)};
        item.status = answer == "?" ? ItemStatus::kFailed : ItemStatus::kDone;
        if (answer != "?" && !answer.empty()) {
          item.answer = answer;
        }
        item.ledger.generated = tokens;
        item.ledger.extra_routes = tokens / 2;
        item.ledger.lanes_opened = 4;
        item.ledger.lanes_peak = 3 + static_cast<int>(question);
        item.ledger.positions = tokens / 2;
        item.ledger.wall_s = 0.5;
        DecisionRecord decision;
        decision.action = Action::kBranch;
        decision.expansion = 2;
        decision.paths_before = 2;
        decision.lanes_after = 4;
        item.decisions = {decision};
        item.votes = {{"length", "2", false, 0, {}}, {"majority", item.answer, false, 0, {}}};
        EXPECT_TRUE(*store_.SaveItem(item));
      }
    }
    return id;
  }

  std::vector<RunSummary> Summaries(const SummaryOptions& options = {}) {
    EXPECT_TRUE(GradeStudy(store_, false).has_value());
    Result<std::vector<RunSummary>> summaries = SummariseStudy(store_, options);
    EXPECT_TRUE(summaries.has_value());
    return std::move(*summaries);
  }

  TemporaryFolder folder_;
  Store store_;
  std::vector<int64_t> questions_;
};

TEST_F(StudySummaryTest, AccuracyAndMeans) {
  AddRun("sc", {{"1", "1"}, {"1", "5"}, {"", "1"}}, 100);
  const std::vector<RunSummary> runs = Summaries();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_DOUBLE_EQ(runs[0].accuracy.mean, 4.0 / 6);
  EXPECT_EQ(runs[0].accuracy.repeats, 2);
  EXPECT_DOUBLE_EQ(runs[0].generated_tokens, 100);
  EXPECT_DOUBLE_EQ(runs[0].effective_tokens, 150);
  EXPECT_DOUBLE_EQ(runs[0].instances, 4);
  EXPECT_DOUBLE_EQ(runs[0].mean_paths, 2);
  EXPECT_DOUBLE_EQ(runs[0].latency_s, 0.5);
  EXPECT_EQ(runs[0].peak_paths, 5);
  EXPECT_EQ(runs[0].actions[static_cast<size_t>(Action::kBranch)], 6);
}

TEST_F(StudySummaryTest, DecisionsAreThoseOfTheKeptQuestions) {
  AddRun("hyper", {{"1", "1"}, {"1", "-"}, {"1", "5"}}, 100);
  const auto branches = [](const RunSummary& run) {
    return run.actions[static_cast<size_t>(Action::kBranch)];
  };
  EXPECT_EQ(branches(Summaries()[0]), 4);
  EXPECT_EQ(branches(Summaries({.groups = {"3"}})[0]), 2);
}

// r_t = 1, and an expansion for which there was no room.
TEST_F(StudySummaryTest, DecisionsThatChangedNothingAreNone) {
  const int64_t run = AddRun("hyper", {{"1"}, {"-"}, {"-"}}, 100);
  StoredItem item;
  item.key = {run, questions_[1], 0};
  item.answer = "1";
  const auto add = [&item](Action action, int expansion, int lanes_after) {
    DecisionRecord decision;
    decision.step = static_cast<int>(item.decisions.size());
    decision.action = action;
    decision.expansion = expansion;
    decision.paths_before = 4;
    decision.paths_after = 4;
    decision.lanes_after = lanes_after;
    item.decisions.push_back(decision);
  };
  add(Action::kNone, 2, 4);
  add(Action::kBranch, 1, 4);
  add(Action::kSingleToken, 2, 4);
  add(Action::kSingleToken, 2, 6);
  add(Action::kMultiToken, 2, 8);
  ASSERT_TRUE(*store_.SaveItem(item));
  const ActionTally actions = Summaries()[0].actions;
  EXPECT_EQ(actions, (ActionTally{3, 1, 1, 1}));  // the branch is that of the first question
}

TEST_F(StudySummaryTest, LostAttemptsArePartOfBothTokens) {
  const int64_t run = AddRun("sc", {{"?"}, {"1"}, {"1"}}, 90);
  StoredItem again;
  again.key = {run, questions_[0], 0};
  again.answer = "1";
  again.ledger.generated = 60;
  ASSERT_TRUE(*store_.SaveItem(again));
  const RunSummary summary = Summaries()[0];
  EXPECT_DOUBLE_EQ(summary.generated_tokens, (60 + 3 * 90) / 3.0);
  EXPECT_DOUBLE_EQ(summary.effective_tokens, (60 + 3 * 135) / 3.0);
}

TEST_F(StudySummaryTest, FailedItemsFailUnderEveryRule) {
  const int64_t run = AddRun("hyper", {{"1"}, {"?"}, {"1"}}, 100);
  const auto rules = SummariseVotes(store_, run, {});
  ASSERT_EQ(rules->size(), 2U);
  const eval::Accuracy& accuracy = (*rules)[1].accuracy;
  EXPECT_EQ(accuracy.questions, 3);
  EXPECT_DOUBLE_EQ(accuracy.mean, Summaries()[0].accuracy.mean);
  EXPECT_DOUBLE_EQ(accuracy.open_share, 1.0 / 3);
}

TEST_F(StudySummaryTest, GroupsAreChosen) {
  AddRun("sc", {{"1"}, {"5"}, {"1"}}, 100);
  EXPECT_DOUBLE_EQ(Summaries({.groups = {"3"}})[0].accuracy.mean, 1.0);
  EXPECT_DOUBLE_EQ(Summaries({.groups = {"2"}})[0].accuracy.mean, 0.5);
  EXPECT_TRUE(Summaries({.groups = {"9"}}).empty());
}

TEST_F(StudySummaryTest, QuestionsWithoutEveryRepeatAreLeftOutAndCounted) {
  AddRun("sc", {{"1", "1"}, {"1", "-"}, {"5", "5"}}, 100);
  const std::vector<RunSummary> runs = Summaries();
  EXPECT_EQ(runs[0].accuracy.questions, 2);
  EXPECT_EQ(runs[0].left_out, 1);
  EXPECT_DOUBLE_EQ(runs[0].accuracy.mean, 0.5);
}

TEST_F(StudySummaryTest, FailedItemsMakeARangeAndAMark) {
  AddRun("sc", {{"1"}, {"?"}, {"5"}}, 100);
  const std::vector<RunSummary> runs = Summaries();
  EXPECT_DOUBLE_EQ(runs[0].accuracy.low, 1.0 / 3);
  EXPECT_DOUBLE_EQ(runs[0].accuracy.high, 2.0 / 3);
  EXPECT_EQ(runs[0].failed, 1);
  const std::string text = RenderTable(ResultsTable(runs), TableForm::kTerminal);
  EXPECT_NE(text.find("sc (!)"), std::string::npos) << text;
  EXPECT_NE(text.find("not comparable"), std::string::npos) << text;
  EXPECT_NE(text.find("33.3 to 66.7"), std::string::npos) << "a range, no accuracy" << text;
}

TEST_F(StudySummaryTest, VoteRulesAreGradedOnTheSamePaths) {
  const int64_t run = AddRun("hyper", {{"1"}, {"1"}, {"5"}}, 100);
  const auto rules = SummariseVotes(store_, run, {});
  ASSERT_TRUE(rules.has_value());
  ASSERT_EQ(rules->size(), 2U);
  EXPECT_EQ((*rules)[0].rule, "length");
  EXPECT_DOUBLE_EQ((*rules)[0].accuracy.mean, 0.0);
  EXPECT_DOUBLE_EQ((*rules)[1].accuracy.mean, 2.0 / 3);
}

TEST_F(StudySummaryTest, ComparisonsArePaired) {
  AddRun("sc", {{"5"}, {"1"}, {"1"}}, 100);
  AddRun("hyper", {{"1"}, {"1"}, {"1"}}, 80);
  const std::vector<RunSummary> runs = Summaries();
  const Result<RunComparison> comparison = CompareRuns(runs[1], runs[0], 1);
  ASSERT_TRUE(comparison.has_value());
  EXPECT_EQ(comparison->questions, 3);
  EXPECT_EQ(comparison->only_first, 1);
  EXPECT_EQ(comparison->only_second, 0);
  EXPECT_DOUBLE_EQ(comparison->mcnemar_p, 1.0);
  EXPECT_DOUBLE_EQ(comparison->difference.mean, 1.0 / 3);
}

// The second fails, and the third is undecided, in one of the rows.
TEST_F(StudySummaryTest, OpenQuestionsAreNotCompared) {
  const int64_t sc = AddRun("sc", {{"1"}, {"1"}, {"1"}}, 100);
  AddRun("hyper", {{"5"}, {"?"}, {"1"}}, 80);
  ASSERT_TRUE(
      store_.SaveGrade({{sc, questions_[2], 0}, StoredVerdict::kUndecided, "1", "by hand", ""}));
  const std::vector<RunSummary> runs = *SummariseStudy(store_, {});
  ASSERT_EQ(runs.size(), 2U);
  const Result<RunComparison> comparison = CompareRuns(runs[0], runs[1], 1);
  ASSERT_TRUE(comparison.has_value());
  EXPECT_EQ(comparison->questions, 1);
  EXPECT_EQ(comparison->left_out, 2);
  EXPECT_DOUBLE_EQ(comparison->first, 1.0);
  EXPECT_DOUBLE_EQ(comparison->second, 0.0);
  const Table table = ComparisonTable({{"sc", "hyper", *comparison}});
  EXPECT_NE(table.notes[2].find("sc and hyper: 2 common questions are left out"), std::string::npos)
      << table.notes[2];
}

TEST_F(StudySummaryTest, WithoutADecidedQuestionThereIsNoComparison) {
  AddRun("sc", {{"1"}, {"-"}, {"-"}}, 100);
  AddRun("hyper", {{"?"}, {"-"}, {"-"}}, 80);
  const std::vector<RunSummary> runs = *SummariseStudy(store_, {});
  ASSERT_EQ(runs.size(), 2U);
  const Error error = CompareRuns(runs[0], runs[1], 1).error();
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(error.message.find("both decided"), std::string::npos) << error.message;
}

TEST_F(StudySummaryTest, StudiesAreComparedByTheNamesOfTheirQuestions) {
  AddRun("sc", {{"5"}, {"1"}, {"1"}}, 100);
  const std::vector<RunSummary> ours = Summaries();
  // Another study, with the same questions under other numbers, one more and one less.
  Store other = std::move(*Store::Open(folder_.File("other.db"), DatabaseMode::kCreate));
  StoredRun run;
  run.label = "hyper";
  const int64_t id = *other.AddRun(run);
  for (const std::string name : {"9", "1", "0"}) {
    StoredQuestion question;
    question.suite = "made";
    question.name = name;
    question.gold = "1";
    question.kind = "integer";
    StoredItem item;
    item.key = {id, *other.AddQuestion(question), 0};
    item.answer = "1";
    ASSERT_TRUE(*other.SaveItem(item));
  }
  const Result<std::vector<RunSummary>> theirs = SummariseStudy(other, {});
  ASSERT_EQ(theirs->size(), 1U);
  const Result<RunComparison> comparison = CompareRuns(theirs->front(), ours.front(), 1);
  ASSERT_TRUE(comparison.has_value());
  EXPECT_EQ(comparison->questions, 2);
  EXPECT_DOUBLE_EQ(comparison->first, 1.0);
  EXPECT_DOUBLE_EQ(comparison->second, 0.5);
  EXPECT_EQ(comparison->only_first, 1);
  const Table table = ComparisonTable({{"hyper", "sc", *comparison}});
  EXPECT_DOUBLE_EQ(*table.rows[0][5].value, 50.0);
}

TEST_F(StudySummaryTest, WithoutACommonQuestionThereIsNoComparison) {
  AddRun("sc", {{"1"}, {"-"}, {"-"}}, 100);
  AddRun("hyper", {{"-"}, {"1"}, {"-"}}, 80);
  const std::vector<RunSummary> runs = Summaries();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(CompareRuns(runs[0], runs[1], 1).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(StudySummaryTest, AnswersWithoutAGradeAreGradedOnTheSpot) {
  AddRun("sc", {{"1"}, {"5"}, {"1"}}, 100);
  const Result<std::vector<RunSummary>> runs = SummariseStudy(store_, {});
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_DOUBLE_EQ(runs->front().accuracy.mean, 2.0 / 3);
  EXPECT_DOUBLE_EQ(runs->front().accuracy.open_share, 0.0);
}

TEST_F(StudySummaryTest, TablesNormaliseByTheScOfTheSamePlace) {
  AddRun("sc", {{"5"}, {"1"}, {"1"}}, 100);
  AddRun("hyper", {{"1"}, {"1"}, {"1"}}, 80);
  const std::vector<RunSummary> runs = Summaries();
  const Table main = MainTable(runs);
  ASSERT_EQ(main.rows.size(), 1U);  // none of the paper's
  EXPECT_DOUBLE_EQ(*main.rows[0][2].value, 1.0);
  EXPECT_DOUBLE_EQ(*main.rows[0][4].value, 0.8);
  EXPECT_FALSE(main.rows[0][3].best);
  EXPECT_TRUE(main.rows[0][5].best);
  EXPECT_NE(main.notes[1].find("width 8 on made"), std::string::npos) << main.notes[1];
  const Table ablation = AblationTable(runs);
  EXPECT_DOUBLE_EQ(*ablation.rows[1][4].value, 0.8);
  EXPECT_DOUBLE_EQ(*ablation.rows[1][7].value, 3);
  EXPECT_DOUBLE_EQ(*AccountingTable(runs).rows[0][8].value, 500);
}

TEST_F(StudySummaryTest, ThePapersNumbersStandBesideItsOwnModelsAlone) {
  AddRun("sc", {{"5"}, {"1"}, {"1"}}, 100);
  AddRun("hyper", {{"1"}, {"1"}, {"1"}}, 80);
  std::vector<RunSummary> runs = Summaries();
  EXPECT_EQ(ResultsTable(runs).columns.size(), 13U);
  EXPECT_EQ(AblationTable(runs).columns.size(), 8U);
  EXPECT_EQ(AccountingTable(runs).rows.size(), 2U);
  const auto put_at = [&runs](const char* model, const char* suite) {
    for (RunSummary& run : runs) {
      run.run.model = model;
      run.run.suite = suite;
    }
  };
  put_at("Qwen3-30B-A3B-Thinking-2507", "aime24");
  const Table main = MainTable(runs);
  ASSERT_EQ(main.rows.size(), 2U);
  EXPECT_EQ(main.rows[1][0].text, "paper: Qwen3-30B");
  EXPECT_EQ(main.rows[1][1].text, "AIME24");
  EXPECT_DOUBLE_EQ(*main.rows[1][4].value, 0.54);
  EXPECT_DOUBLE_EQ(*main.rows[1][5].value, 94.0);
  EXPECT_FALSE(main.rows[1][5].best);
  const Table results = ResultsTable(runs);
  EXPECT_EQ(results.columns[13].group, "paper");
  EXPECT_DOUBLE_EQ(*results.rows[0][13].value, 88.0);
  EXPECT_DOUBLE_EQ(*results.rows[1][14].value, 0.54);
  put_at("Qwen3-30B-A3B-Thinking-2507", "aime25");
  EXPECT_DOUBLE_EQ(*AblationTable(runs).rows[1][8].value, 96.7);
  put_at("deepseek-v2-lite-chat-q8_0", "gsm8k");
  EXPECT_DOUBLE_EQ(*ResultsTable(runs).rows[1][13].value, 85.5);
  runs[1].run.label = "hyper, other penalty";  // a variant is not the paper's method
  EXPECT_TRUE(std::isnan(*ResultsTable(runs).rows[1][13].value));
}

TEST_F(StudySummaryTest, EqualAccuraciesAreNotBold) {
  AddRun("sc", {{"1"}, {"1"}, {"5"}}, 100);
  AddRun("hyper", {{"5"}, {"1"}, {"1"}}, 80);
  const std::vector<RunSummary> runs = Summaries();
  for (const Table& table : {MainTable(runs), AblationTable(runs)}) {
    for (const std::vector<Cell>& row : table.rows) {
      for (const Cell& cell : row) {
        EXPECT_FALSE(cell.best) << table.name;
      }
    }
  }
}

TEST_F(StudySummaryTest, AFewQuestionsHaveNoBootstrap) {
  AddRun("sc", {{"1"}, {"1"}, {"1"}}, 100);
  AddRun("hyper", {{"1"}, {"1"}, {"1"}}, 80);
  const std::vector<RunSummary> runs = Summaries();
  const Table table = ComparisonTable({{"hyper", "sc", *CompareRuns(runs[1], runs[0], 1)}});
  EXPECT_TRUE(std::isnan(*table.rows[0][6].low));
  EXPECT_TRUE(std::isnan(*table.rows[0][7].value));
  EXPECT_NE(table.notes.back().find("too few"), std::string::npos);
}

TEST_F(StudySummaryTest, AccountingHasThePapersRowsBelowOurs) {
  AddRun("sc", {{"5"}, {"1"}, {"1"}}, 100);
  AddRun("hyper", {{"1"}, {"1"}, {"1"}}, 80);
  AddRun("tot", {{"1"}, {"1"}, {"1"}}, 90);
  std::vector<RunSummary> runs = Summaries();
  for (RunSummary& run : runs) {
    run.run.model = "Qwen3-Next-80B-A3B-Thinking";
    run.run.suite = "aime24";
  }
  const Table table = AccountingTable(runs);
  ASSERT_EQ(table.rows.size(), 5U);  // the paper has no row of tot
  EXPECT_EQ(table.rows[4][0].text, "paper: Qwen3-Next");
  EXPECT_EQ(table.rows[4][1].text, "AIME24");
  EXPECT_DOUBLE_EQ(*table.rows[4][5].value, 1.78e6);
  EXPECT_DOUBLE_EQ(*table.rows[4][8].value, 4.71e6);
  EXPECT_DOUBLE_EQ(*table.rows[4][11].value, 18860);
  for (const std::vector<Cell>& row : table.rows) {
    EXPECT_EQ(row.size(), table.columns.size());
  }
}

TEST_F(StudySummaryTest, AWideStudyKeepsThePapersMethodsInTable2) {
  AddRun("sc", {{"5"}, {"1"}, {"1"}}, 100);
  AddRun("hyper", {{"1"}, {"1"}, {"1"}}, 80);
  for (int i = 0; i < 6; ++i) {
    AddRun("row " + std::to_string(i), {{"1"}, {"1"}, {"1"}}, 90);
  }
  EXPECT_EQ(MainTable(Summaries()).columns.size(), 2U + 2 * 8);
  AddRun("row 6", {{"1"}, {"1"}, {"1"}}, 90);
  const Table table = MainTable(Summaries());
  ASSERT_EQ(table.columns.size(), 2U + 2 * 2);
  EXPECT_EQ(table.columns[2].group, "sc");
  EXPECT_EQ(table.columns[4].group, "hyper");
  EXPECT_NE(table.notes.back().find("7 other rows"), std::string::npos);
}

TEST_F(StudySummaryTest, WithoutScThereIsNoUnit) {
  AddRun("hyper", {{"1"}, {"1"}, {"1"}}, 80);
  const Table table = MainTable(Summaries());
  EXPECT_TRUE(std::isnan(*table.rows[0][2].value));
  EXPECT_NE(table.notes[1].find("no run of sc"), std::string::npos);
}

}  // namespace
}  // namespace hyper::eval

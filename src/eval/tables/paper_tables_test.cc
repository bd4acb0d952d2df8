#include "src/eval/tables/paper_tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "hyper/method.h"
#include "src/eval/tables/paper_numbers.h"
#include "tests/support/temporary_folder.h"

namespace hyper::eval {
namespace {

RunSummary MadeRun(const std::string& method, double accuracy, double effective) {
  RunSummary run;
  run.run.label = method;
  run.run.method = method;
  run.run.suite = "made";
  run.accuracy.mean = accuracy;
  run.accuracy.std_dev = std::nan("");
  run.effective_tokens = effective;
  run.generated_tokens = effective / 2;
  run.instances = 4;
  run.per_question = {{"made/1", accuracy, effective / 2, effective, 4}};
  return run;
}

// A run of the paper's Qwen3-30B.
void PutAt(RunSummary& run, const char* suite) {
  run.run.model = "Qwen3-30B-A3B-Thinking-2507";
  run.run.suite = suite;
}

TEST(ChecklistTest, SaysOfEachSystemWhatThePaperSays) {
  std::map<std::string, std::string> marks;
  const Table table = ChecklistTable();
  for (const auto& row : table.rows) {
    std::string& line = marks[row[0].text];
    line = row[1].text + " ";
    for (size_t i = 2; i < row.size(); ++i) {
      line += row[i].text[0];
    }
  }
  EXPECT_EQ(marks.size(), Methods().size());
  // Adaptive, no rigid search, answer evaluation, prune, refine, train-free policy and reward.
  EXPECT_EQ(marks["sc"], "path nyynnyy");
  EXPECT_EQ(marks["bon"], "path nyynnyy");
  EXPECT_EQ(marks["deepconf"], "path yyyynyy");
  EXPECT_EQ(marks["threadweaver"], "step yyynnyy");
  EXPECT_EQ(marks["hyper"], "token yyyyyyy");
  EXPECT_EQ(marks["hyper-no-single"], "token yyyynyy");
  EXPECT_EQ(marks["multi-token-only"], "token nyyynyy");
  EXPECT_EQ(marks["roe"], "token nyynyyy");
  EXPECT_EQ(marks["cot"], "path nynnnyy");
  EXPECT_EQ(marks["ets-conf"], "step ynyynyy");
  EXPECT_EQ(marks["mcts-conf"], "step ynynnyy");
  EXPECT_EQ(marks["tot-conf"].substr(0, 6), "step n");
}

TEST(ChecklistTest, CellsThatThePaperHasOtherwiseSaySo) {
  std::map<std::string, std::vector<Cell>> rows;
  const Table table = ChecklistTable();
  for (const auto& row : table.rows) {
    rows[row[0].text] = row;
  }
  const auto cell = [&](const char* method, const std::string& column) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name == column) {
        return rows[method][i].text;
      }
    }
    return std::string();
  };
  EXPECT_EQ(cell("sc", "Reward model"), "yes (paper: no)");
  EXPECT_EQ(cell("bon", "Reward model"), "yes (paper: no)");
  EXPECT_EQ(cell("roe", "Answer eval"), "yes (paper: no)");
  EXPECT_EQ(cell("ets-conf", "Policy model"), "yes (paper: no)");
  EXPECT_EQ(cell("threadweaver", "Policy model"), "yes (paper: no)");
  EXPECT_EQ(cell("tot-conf", "Prune"), "yes (paper: no)");
  EXPECT_NE(table.notes.back().find("ToT, Prune: yes here"), std::string::npos);
  for (const char* same : {"hyper", "deepconf"}) {
    for (const Cell& one : rows[same]) {
      EXPECT_EQ(one.text.find("paper"), std::string::npos) << same;
    }
  }
}

const PaperPlace kAime24{"Qwen3-30B", "AIME24"};

// Typed off the paper's pages, not out of the file.
TEST(PaperNumbersTest, AreThoseOfTheTables) {
  const auto main = [](const char* model, const char* data, const char* method) {
    const PaperPlace place{model, data};
    return std::pair(PaperNumber("main", place, method, "accuracy"),
                     PaperNumber("main", place, method, "tokens"));
  };
  EXPECT_EQ(main("Qwen3-30B", "AIME24", "hyper"), std::pair(94.0, 0.54));
  EXPECT_EQ(main("Qwen3-30B", "HLE", "hyper"), std::pair(13.5, 0.81));
  EXPECT_EQ(main("Qwen3-30B", "AIME25", "roe-late"), std::pair(84.7, 1.64));
  EXPECT_EQ(main("Qwen3-Next", "HMMT25", "hyper"), std::pair(85.3, 0.74));
  EXPECT_EQ(main("Qwen3-Next", "HLE", "roe-late"), std::pair(6.5, 2.98));
  EXPECT_EQ(main("OLMoE", "ARC-C", "self-certainty"), std::pair(66.4, 0.76));
  EXPECT_EQ(main("DeepSeek-V2", "GSM8K", "hyper"), std::pair(85.5, 0.64));
  EXPECT_EQ(main("DeepSeek-V2", "MATH500", "deepconf"), std::pair(40.2, 0.65));
  EXPECT_EQ(PaperNumber("main", {"Qwen3-Next", "AIME24"}, "hyper", "std"), 0.6);
  EXPECT_EQ(PaperNumber("ablation", {"Qwen3-30B", "HMMT25"}, "manual", "tokens"), 1.87);
  EXPECT_EQ(PaperNumber("votes", {"Qwen3-30B", "AIME25"}, "length_confidence", "accuracy"), 96.7);
  EXPECT_EQ(PaperNumber("trees", kAime24, "rebase 16", "accuracy"), 83.3);
  EXPECT_EQ(PaperNumber("dense", {"DeepSeek-R1-Qwen3-8B", "HMMT25"}, "hyper", "accuracy"), 78.7);
  EXPECT_EQ(PaperNumber("accounting", {"Qwen3-Next", "HLE"}, "hyper", "peak paths"), 132);
  EXPECT_EQ(PaperNumber("accounting", {"Qwen3-Next", "HLE"}, "sc", "latency ms"), 16.44e6);
  EXPECT_TRUE(std::isnan(PaperNumber("trees", kAime24, "tot", "accuracy")));
  EXPECT_TRUE(std::isnan(PaperNumber("main", kAime24, "hyper", "no such column")));
  EXPECT_TRUE(PaperNames("main", "roe-late"));
  EXPECT_FALSE(PaperNames("main", "roe"));
}

// App. I prints Table 2's accuracies and token ratios once more: two transcriptions of one thing.
TEST(PaperNumbersTest, TheAccountingRepeatsTable2AndItsOwnRatios) {
  const auto file = nlohmann::json::parse(PaperNumbersText());
  EXPECT_EQ(file["main"]["rows"].size(), 4U * 4 * 5);
  EXPECT_EQ(file["accounting"]["rows"].size(), 2U * 19);  // Self-Certainty lacks AIME25
  for (const auto& row : file["accounting"]["rows"]) {
    const PaperPlace place{row[0], row[1]};
    EXPECT_EQ(PaperNumber("main", place, std::string(row[2]), "accuracy"), row[3]) << row;
    EXPECT_EQ(PaperNumber("main", place, std::string(row[2]), "tokens"), row[4]) << row;
    const double sc = PaperNumber("accounting", place, "sc", "effective tokens");
    EXPECT_NEAR(row[6].get<double>() / sc, row[4].get<double>(), 0.006) << row;
  }
}

// Sums of the columns of Table 2, added up from the paper's text.
TEST(PaperNumbersTest, ColumnsOfTable2AddUp) {
  const auto file = nlohmann::json::parse(PaperNumbersText());
  double sums[3] = {};
  for (const auto& row : file["main"]["rows"]) {
    for (size_t i = 0; i < 3; ++i) {
      sums[i] += row[3 + i].get<double>();
    }
  }
  EXPECT_NEAR(sums[0], 5329.4, 1e-6);
  EXPECT_NEAR(sums[1], 149.7, 1e-6);
  EXPECT_NEAR(sums[2], 83.73, 1e-6);
}

TEST(PaperNumbersTest, StandBesideItsOwnModelsAndDataSetsOnly) {
  StoredRun run;
  run.suite = "hmmt25";
  for (const auto& [name, model] :
       {std::pair("Qwen3-Next-80B-A3B-Thinking-Q4_K_M.gguf", "Qwen3-Next"),
        std::pair("qwen3 30b a3b thinking 2507", "Qwen3-30B"),
        std::pair("DeepSeek-R1-0528-Qwen3-8B-F16", "DeepSeek-R1-Qwen3-8B")}) {
    run.model = name;
    EXPECT_EQ(PaperPlaceOf(run), (PaperPlace{model, "HMMT25"})) << name;
  }
  for (const char* other : {"tinymath-moe-6m", "Qwen3-30B-A3B-Instruct-2507", ""}) {
    run.model = other;
    EXPECT_EQ(PaperPlaceOf(run), std::nullopt) << other;
  }
  run.model = "OLMoE-1B-7B-0924-Instruct";
  run.suite = "tinymath";
  EXPECT_EQ(PaperPlaceOf(run), std::nullopt);
}

TEST(PaperTablesTest, TreesTakeTheirWidthIntoTheirName) {
  RunSummary rebase = MadeRun("rebase-conf", 0.5, 300);
  rebase.run.settings["width"] = "8";
  std::vector<RunSummary> runs = {MadeRun("sc", 0.6, 200), rebase, MadeRun("hyper", 0.9, 100)};
  EXPECT_EQ(TreesTable(runs).columns.size(), 6U);  // no paper beside another model
  for (RunSummary& run : runs) {
    PutAt(run, "aime24");
  }
  const Table table = TreesTable(runs);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(*table.rows[1][4].value, 1.5);
  EXPECT_DOUBLE_EQ(*table.rows[1][6].value, 80.0);
}

TEST(PaperTablesTest, VotesCarryBothNormalisations) {
  eval::Accuracy accuracy;
  accuracy.mean = 0.5;
  accuracy.std_dev = std::nan("");
  RunVotes votes{MadeRun("hyper", 0.5, 100), {{"length", accuracy}, {"majority", accuracy}}};
  RunSummary sc = MadeRun("sc", 0.6, 200);
  EXPECT_EQ(VoteRulesTable({sc, votes.run}, {votes}).columns.size(), 7U);
  EXPECT_EQ(LengthVotesTable({votes}).columns.size(), 2U);
  PutAt(sc, "aime25");
  PutAt(votes.run, "aime25");
  const Table table = VoteRulesTable({sc, votes.run}, {votes});
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(*table.rows[0][5].value, 0.5);
  EXPECT_DOUBLE_EQ(*table.rows[0][6].value, 0.5);
  EXPECT_DOUBLE_EQ(*table.rows[1][7].value, 86.7);
  const Table lengths = LengthVotesTable({votes});
  ASSERT_EQ(lengths.rows.size(), 3U);
  EXPECT_DOUBLE_EQ(*lengths.rows[0][1].value, 50.0);
  EXPECT_FALSE(lengths.rows[2][1].value.has_value());  // that rule was not counted
  EXPECT_DOUBLE_EQ(*lengths.rows[2][2].value, 96.7);
}

TEST(PaperTablesTest, EqualTokensTakesAsManyOfScsPathsAsTheMethodPaysFor) {
  // One question, SC's four paths: three right, one wrong.
  const std::vector<SampleCounts> samples = {{"made/1", 3, {1}, 0}};
  const RunSamples sc{MadeRun("sc", 1.0, 400), samples};
  const RunSamples half{MadeRun("hyper", 1.0, 200), {}};
  const RunSamples more{MadeRun("roe", 1.0, 500), {}};
  const Table table = EqualTokensTable({sc, half, more});
  EXPECT_DOUBLE_EQ(*table.rows[0][4].value, 4.0);
  EXPECT_DOUBLE_EQ(*table.rows[0][5].value, 100.0);
  // Two of four: both right in 3 of 6 draws, a tie in the other 3, which counts a half.
  EXPECT_DOUBLE_EQ(*table.rows[1][4].value, 2.0);
  EXPECT_DOUBLE_EQ(*table.rows[1][5].value, 75.0);
  EXPECT_TRUE(std::isnan(*table.rows[2][5].value));
}

TEST(PaperTablesTest, EqualTokensIsOverTheCommonQuestions) {
  // The second question is SC's alone: dear, and all wrong.
  RunSamples sc{MadeRun("sc", 1.0, 400), {{"made/1", 3, {1}, 0}, {"made/2", 0, {4}, 0}}};
  sc.run.per_question.push_back({"made/2", 0, 2000, 4000, 4});
  const RunSamples half{MadeRun("hyper", 1.0, 200), {}};
  const Table table = EqualTokensTable({sc, half});
  EXPECT_DOUBLE_EQ(*table.rows[1][4].value, 2.0);
  EXPECT_DOUBLE_EQ(*table.rows[1][5].value, 75.0);
  EXPECT_DOUBLE_EQ(*table.rows[1][6].value, 25.0);
}

TEST(PaperTablesTest, WhatCannotBeComparedIsMarkedInEveryTable) {
  RunSummary open = MadeRun("hyper", 0.5, 100);
  open.accuracy.open_share = 0.25;
  open.accuracy.comparable = false;
  const RunVotes votes{open, {{"length", open.accuracy}}};
  const RunSamples samples{open, {{"made/1", 3, {1}, 0}}};
  RunSummary tree = open;
  tree.run.label = tree.run.method = "tot-conf";
  const std::pair<Table, std::string> tables[] = {{DenseTable({open}), "hyper (!)"},
                                                  {TreesTable({tree}), "tot-conf (!)"},
                                                  {VoteRulesTable({open}, {votes}), "length (!)"},
                                                  {SamplesTable({samples}), "hyper (!)"},
                                                  {EqualTokensTable({samples}), "hyper (!)"}};
  for (const auto& [table, label] : tables) {
    EXPECT_EQ(table.rows[0][0].text, label) << table.name;
    const std::string text = RenderTable(table, TableForm::kTerminal);
    EXPECT_NE(text.find("(!) not comparable"), std::string::npos) << text;
  }
  EXPECT_EQ(LengthVotesTable({votes}).columns[1].group, "hyper (!)");
}

TEST(SamplesTest, TheOracleIsOverAllPathsOfEachItem) {
  // The right path of the second item is one of many: two of its paths are no oracle.
  const RunSamples run{MadeRun("hyper", 1.0, 100), {{"a", 1, {1}, 0}, {"b", 1, {7}, 0}}};
  const Table table = SamplesTable({run});
  ASSERT_EQ(table.rows.size(), 3U);  // k = 1, 2 and all
  EXPECT_DOUBLE_EQ(*table.rows[1][3].value, 100 * (1 + 0.25) / 2);
  EXPECT_EQ(table.rows[2][2].text, "all paths");
  EXPECT_DOUBLE_EQ(*table.rows[2][3].value, 100.0);
  EXPECT_DOUBLE_EQ(*table.rows[2][4].value, 25.0);  // a tie, and outvoted
}

TEST(SamplesTest, EstimatesOverItems) {
  const std::vector<SampleCounts> items = {{"a", 1, {2, 1}, 0}, {"b", 0, {3}, 1}};
  EXPECT_EQ(items[1].total(), 4);
  EXPECT_DOUBLE_EQ(Existence(items), 0.5);
  EXPECT_DOUBLE_EQ(MeanPassAtK(items, 1), 0.125);
  EXPECT_DOUBLE_EQ(MeanPassAtK(items, 4), 0.5);
  EXPECT_TRUE(std::isnan(MeanPassAtK(items, 5)));
  EXPECT_TRUE(std::isnan(MajorityAtTokens(items, 0.5)));
  EXPECT_DOUBLE_EQ(MajorityAtTokens(items, 1.5),
                   (MeanMajorityAtK(items, 1) + MeanMajorityAtK(items, 2)) / 2);
}

TEST(SamplesTest, AJudgesVerdictCountsForEqualAnswers) {
  Store store = std::move(*Store::Open(":memory:", DatabaseMode::kCreate));
  StoredQuestion question;
  question.suite = "made";
  question.name = "1";
  question.gold = "the morning star";
  question.kind = "text";
  StoredItem item;
  item.key = {*store.AddRun({}), *store.AddQuestion(question), 0};
  item.answer = "Venus";
  for (const char* answer : {"Venus", "Venus", "Mars"}) {
    StoredPath path;
    path.path = static_cast<PathId>(item.paths.size());
    path.answer = answer;
    item.paths.push_back(path);
  }
  item.votes = {{"length", "Venus", false, 0, {}}};
  ASSERT_TRUE(*store.SaveItem(item));
  EXPECT_EQ(CountSamples(store, item.key.run, {})->front().right, 0);
  ASSERT_TRUE(
      store.SaveGrade({item.key, StoredVerdict::kRight, question.gold, "judge m", ""}).ok());
  EXPECT_EQ(CountSamples(store, item.key.run, {})->front().right, 2);
  EXPECT_DOUBLE_EQ(SummariseVotes(store, item.key.run, {})->front().accuracy.mean, 1.0);
}

TEST(SamplesTest, EqualSpellingsAreOneAnswer) {
  const test::TemporaryFolder folder;
  Store store = std::move(*Store::Open(folder.File("s.db"), DatabaseMode::kCreate));
  StoredQuestion question;
  question.suite = "made";
  question.name = "1";
  question.gold = "1/2";
  question.kind = "math";
  StoredItem item;
  item.key = {*store.AddRun({}), *store.AddQuestion(question), 0};
  for (const char* answer : {"0.5", "\\frac12", "3", "3.0", "4", ""}) {
    StoredPath path;
    path.path = static_cast<PathId>(item.paths.size());
    if (*answer != '\0') {
      path.answer = answer;
    }
    item.paths.push_back(path);
  }
  item.paths[4].status = PathStatus::kMerged;
  ASSERT_TRUE(*store.SaveItem(item));
  const Result<std::vector<SampleCounts>> counts = CountSamples(store, item.key.run, {});
  ASSERT_EQ(counts->size(), 1U);
  EXPECT_EQ(counts->front().right, 2);
  EXPECT_EQ(counts->front().others, std::vector<int>{2});
  EXPECT_EQ(counts->front().silent, 1);
}

}  // namespace
}  // namespace hyper::eval

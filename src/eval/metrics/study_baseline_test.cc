#include "src/eval/metrics/study_baseline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/eval/tables/study_tables.h"

namespace hyper::eval {
namespace {

RunSummary RunOfSeed(const std::string& label, const std::string& method, uint64_t seed,
                     double tokens) {
  RunSummary run;
  run.run.id = static_cast<int64_t>(tokens);
  run.run.label = label;
  run.run.method = method;
  run.run.suite = "made";
  run.run.model = "tiny";
  run.run.seed = seed;
  run.run.settings = {{"width", "8"}};
  run.accuracy.mean = 0.5;
  run.accuracy.std_dev = std::nan("");
  run.generated_tokens = run.effective_tokens = tokens;
  run.per_question = {{"made/1", 0.5, tokens, tokens, 4}};
  return run;
}

std::string NotesOf(const Table& table) {
  std::string text;
  for (const std::string& note : table.notes) {
    text += note + "\n";
  }
  return text;
}

TEST(BaselineTest, TheRowThatIsCalledScIsTheUnit) {
  const std::vector<RunSummary> runs = {RunOfSeed("sc", "sc", 1, 100),
                                        RunOfSeed("hyper", "hyper", 1, 50),
                                        RunOfSeed("wide", "sc", 1, 200)};
  EXPECT_DOUBLE_EQ(EffectiveRatio(runs, runs[0]), 1.0);
  EXPECT_DOUBLE_EQ(EffectiveRatio(runs, runs[1]), 0.5);
  EXPECT_DOUBLE_EQ(GeneratedRatio(runs, runs[2]), 2.0);
  EXPECT_NE(NotesOf(ResultsTable(runs)).find("width 8 on made (row #100 sc, seed 1)"),
            std::string::npos)
      << NotesOf(ResultsTable(runs));
}

TEST(BaselineTest, EachSeedHasItsOwnUnitAndItsOwnLine) {
  const std::vector<RunSummary> runs = {
      RunOfSeed("sc", "sc", 1, 100), RunOfSeed("hyper", "hyper", 1, 50),
      RunOfSeed("sc", "sc", 2, 200), RunOfSeed("hyper", "hyper", 2, 150)};
  EXPECT_DOUBLE_EQ(EffectiveRatio(runs, runs[0]), 1.0);
  EXPECT_DOUBLE_EQ(EffectiveRatio(runs, runs[1]), 0.5);
  EXPECT_DOUBLE_EQ(EffectiveRatio(runs, runs[3]), 0.75);
  const Table table = MainTable(runs);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][1].text, "made, seed 1");
  EXPECT_EQ(table.rows[1][1].text, "made, seed 2");
  EXPECT_DOUBLE_EQ(*table.rows[0][4].value, 0.5);
  EXPECT_DOUBLE_EQ(*table.rows[1][4].value, 0.75);
}

TEST(BaselineTest, WhereSeveralFitNoneIsTaken) {
  std::vector<RunSummary> runs = {RunOfSeed("sc", "sc", 1, 100), RunOfSeed("hyper", "hyper", 1, 50),
                                  RunOfSeed("sc", "sc", 1, 200)};
  runs[2].run.settings["width"] = "16";
  EXPECT_EQ(Baseline(runs, runs[1]), nullptr);
  const Table table = MainTable(runs);
  EXPECT_FALSE(table.rows[0][2].value.has_value());  // two rows are called sc
  EXPECT_TRUE(std::isnan(*table.rows[0][4].value));
  const std::string notes = NotesOf(table);
  EXPECT_NE(notes.find("sc on made: several rows of that label (#100, #200)"), std::string::npos)
      << notes;
  EXPECT_NE(notes.find("#100 sc of width 8, #200 sc of width 16"), std::string::npos) << notes;
}

TEST(BaselineTest, RatiosAreOverTheCommonQuestions) {
  std::vector<RunSummary> runs = {RunOfSeed("sc", "sc", 1, 100),
                                  RunOfSeed("hyper", "hyper", 1, 50)};
  runs[0].per_question.push_back({"made/2", 0, 900, 900, 4});  // dear, and SC's alone
  runs[0].generated_tokens = runs[0].effective_tokens = 500;
  EXPECT_DOUBLE_EQ(EffectiveRatio(runs, runs[1]), 0.5);
  EXPECT_DOUBLE_EQ(EffectiveRatio(runs, runs[0]), 1.0);
  EXPECT_NE(NotesOf(ResultsTable(runs)).find("hyper: 1 questions in common with SC"),
            std::string::npos);
  runs[1].per_question[0].question = "made/3";
  EXPECT_TRUE(std::isnan(EffectiveRatio(runs, runs[1])));
}

TEST(BaselineTest, DrawsOfAPoolAreNoRepeats) {
  std::vector<RunSummary> runs = {RunOfSeed("sc", "sc", 1, 100)};
  EXPECT_EQ(ResultsTable(runs).columns[3].name, "Repeats");
  runs[0].run.settings["resamples"] = "20";
  const Table table = ResultsTable(runs);
  EXPECT_EQ(table.columns[3].name, "Resamples");
  EXPECT_NE(NotesOf(table).find("draws from one pool"), std::string::npos);
}

}  // namespace
}  // namespace hyper::eval

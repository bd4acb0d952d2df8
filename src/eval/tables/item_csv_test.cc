#include "src/eval/tables/item_csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

namespace hyper::eval {
namespace {

// Fields of a line by those of its head; commas inside quotes aside.
std::map<std::string, std::string> Fields(const std::string& head, const std::string& line) {
  const auto split = [](const std::string& text) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : text) {
      quoted ^= c == '"';
      if (c == ',' && !quoted) {
        fields.emplace_back();
      } else if (c != '\n') {
        fields.back() += c;
      }
    }
    return fields;
  };
  const std::vector<std::string> names = split(head);
  const std::vector<std::string> values = split(line);
  EXPECT_EQ(names.size(), values.size()) << line;
  std::map<std::string, std::string> fields;
  for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
    fields[names[i]] = values[i];
  }
  EXPECT_EQ(fields.size(), names.size()) << "a name stands twice: " << head;
  return fields;
}

class ItemCsvTest : public ::testing::Test {
 protected:
  ItemCsvTest() {
    run_.id = 4;
    run_.label = "a,b";
    run_.settings = {{"width", "8"}, {"threshold", "top:3"}};
    StoredRun other;
    other.settings = {{"live", "1"}};
    settings_ = SettingNames({run_, other});
    question_.name = "q";
    summary_.answer = "say \"7, or 8\"";
    summary_.grade = StoredGrade{{}, StoredVerdict::kRight, "7", "rules", ""};
    summary_.ledger.generated = 5;
    summary_.ledger.extra_routes = 2;
  }

  StoredRun run_;
  StoredQuestion question_;
  ItemSummary summary_;
  std::vector<std::string> settings_;
};

TEST_F(ItemCsvTest, QuotesWhatHasToBeAndGivesEachOptionAColumn) {
  EXPECT_EQ(settings_, (std::vector<std::string>{"live", "threshold", "width"}));
  const std::string line = ItemCsvLine({run_, question_, summary_}, settings_);
  EXPECT_EQ(line.back(), '\n');
  auto fields = Fields(ItemCsvHead(settings_), line);
  EXPECT_EQ(fields["label"], "\"a,b\"");
  EXPECT_EQ(fields["answer"], "\"say \"\"7, or 8\"\"\"");
  EXPECT_EQ(fields["verdict"], "right");
  EXPECT_EQ(fields["effective"], "7");
  EXPECT_EQ(fields["width"], "8");
  EXPECT_EQ(fields["threshold"], "top:3");
  EXPECT_EQ(fields["live"], "");
}

TEST_F(ItemCsvTest, PathsAreLinesWithAVerdictOfTheirOwn) {
  StoredPath path;
  path.path = 3;
  path.parent = 1;
  path.tokens = 12;
  path.lowest_window = 4.5;
  path.answer = "7";
  auto fields = Fields(PathCsvHead(settings_), PathCsvLine({run_, question_, summary_}, path,
                                                           StoredVerdict::kWrong, settings_));
  EXPECT_EQ(fields["run"], "4");
  EXPECT_EQ(fields["path"], "3");
  EXPECT_EQ(fields["parent"], "1");
  EXPECT_EQ(fields["path_status"], "finished");
  EXPECT_EQ(fields["verdict"], "wrong");
  EXPECT_EQ(fields["mean_confidence"], "");  // unknown
  EXPECT_EQ(fields["lowest_window"], "4.5");
  EXPECT_EQ(fields["width"], "8");
  path.answer.reset();
  fields = Fields(PathCsvHead(settings_),
                  PathCsvLine({run_, question_, summary_}, path, StoredVerdict::kWrong, settings_));
  EXPECT_EQ(fields["verdict"], "");
}

TEST_F(ItemCsvTest, DecisionsHaveTheirScoresAndStatistics) {
  StoredItem item;
  DecisionRecord& decision = item.decisions.emplace_back();
  decision.step = 2;
  decision.action = Action::kBranch;
  decision.scores = {0.25, -1, 0.5, 4};
  decision.raw.entropy = 1.5;
  decision.normalised.entropy = 0.75;
  decision.note = "no room, none";
  auto fields = Fields(DecisionCsvHead(), DecisionCsvLines({run_, question_, summary_}, item));
  EXPECT_EQ(fields["step"], "2");
  EXPECT_EQ(fields["action"], "branch");
  EXPECT_EQ(fields["acted"], "false");
  EXPECT_EQ(fields["score_single_token"], "-1");
  EXPECT_EQ(fields["score_branch"], "4");
  EXPECT_EQ(fields["raw_entropy"], "1.5");
  EXPECT_EQ(fields["normalised_entropy"], "0.75");
  EXPECT_EQ(fields["note"], "\"no room, none\"");
}

TEST_F(ItemCsvTest, SeriesAreALineForEachValue) {
  StoredItem item;
  item.series = {{3, "confidence", 5, std::vector<float>{0.1F, std::nanf("")}},
                 {3, "token", 5, std::vector<int32_t>{-1}}};
  const std::string lines = SeriesCsvLines({run_, question_, summary_}, item);
  std::vector<std::string> tails;
  std::istringstream all(lines);
  for (std::string line; std::getline(all, line);) {
    auto fields = Fields(SeriesCsvHead(), line);
    tails.push_back(fields["path"] + " " + fields["series"] + " " + fields["position"] + " " +
                    fields["value"]);
  }
  EXPECT_EQ(tails,
            (std::vector<std::string>{"3 confidence 5 0.1", "3 confidence 6 ", "3 token 5 -1"}));
}

}  // namespace
}  // namespace hyper::eval

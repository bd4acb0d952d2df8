#include "src/eval/tables/item_csv.h"

#include <gtest/gtest.h>

#include <map>

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

}  // namespace
}  // namespace hyper::eval

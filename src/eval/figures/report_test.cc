// Reports of small studies: what a page holds, and that it needs no other file.
#include "src/eval/figures/report.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "tests/support/figure_study.h"

namespace hyper::eval {
namespace {

constexpr const char* kPicture =
    "<?xml version=\"1.0\"?>\n<svg><defs><path id='p1'/><g id=\"q\"/></defs><use "
    "xlink:href='#p1'/><rect fill='url(#q)'/></svg>";

// Values of an attribute, in order.
std::vector<std::string> Attributes(const std::string& text, const std::string& name) {
  std::vector<std::string> values;
  for (const char quote : {'"', '\''}) {
    const std::string start = name + "=" + quote;
    for (size_t at = 0; (at = text.find(start, at)) != std::string::npos;) {
      at += start.size();
      values.push_back(text.substr(at, text.find(quote, at) - at));
    }
  }
  return values;
}

ReportStudy MakeStudy(const std::string& name) {
  ReportStudy study;
  study.name = name;
  ReportFigure drawn{"1",
                     "paths <k>",
                     "",
                     {},
                     kPicture,
                     "x.figures/fig01.svg",
                     "x.figures/fig01.csv",
                     "hyper figures s"};
  drawn.figure.finding = "from 1 & to 2";
  drawn.figure.panels = {{"p", {"x"}, {"y"}, {}, {{"s", SeriesStyle::kLine, {{1, 2}}}}}};
  study.figures = {drawn, drawn, {"-", "roc", "no confidences", {}, "", "", "", ""}};
  Table table{"t", "Title", {{"row", ""}, {"Acc", ""}}, {}, {"a note"}};
  table.rows = {{Cell::Text("<b>"), Cell::Spread(88, 2, 1)}, {Cell::Text("x"), Cell{}}};
  table.rows[0][1].best = true;
  study.tables = {table};
  study.commands = {"hyper eval --row 'a=sc'"};
  return study;
}

TEST(ReportTest, ThePageNeedsNoOtherFile) {
  const std::string html = ReportHtml({MakeStudy("a.db"), MakeStudy("b.db")});
  EXPECT_EQ(html.rfind("<!DOCTYPE html>", 0), 0U);
  for (const char* outside : {"<link", " src=", "http:", "https:", "@import"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  const std::vector<std::string> ids = Attributes(html, "id");
  EXPECT_EQ(ids.size(), 8U) << "two ids of two pictures of two studies";
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  const std::vector<std::string> links = Attributes(html, "href");
  ASSERT_EQ(links.size(), 4U);
  for (const std::string& link : links) {
    EXPECT_EQ(link[0], '#');
    EXPECT_NE(std::find(ids.begin(), ids.end(), link.substr(1)), ids.end()) << link;
  }
  EXPECT_NE(html.find("url(#s1f1-q)"), std::string::npos);
}

TEST(ReportTest, TextsAreEscapedAndNumbersCanBeSorted) {
  const std::string html = ReportHtml({MakeStudy("<a>")});
  EXPECT_EQ(html.find("<a>"), std::string::npos);
  EXPECT_NE(html.find("<td>&lt;b&gt;</td>"), std::string::npos);
  EXPECT_NE(html.find("from 1 &amp; to 2"), std::string::npos);
  EXPECT_NE(html.find("Figure 1: paths &lt;k&gt;"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"number\" data-value=\"88\"><b>88.0 \u00B1 2.0</b></td>"),
            std::string::npos);
  EXPECT_NE(html.find("Not drawn: no confidences"), std::string::npos);
  EXPECT_NE(html.find("p,s,x,1,,y,2,,"), std::string::npos) << "the numbers of a figure";
}

TEST(ReportTest, MarkdownLinksItsPictures) {
  const std::string text = ReportMarkdown({MakeStudy("a.db")});
  EXPECT_EQ(text.rfind("# a.db\n", 0), 0U);
  EXPECT_NE(text.find("![paths <k>](x.figures/fig01.svg)"), std::string::npos);
  EXPECT_NE(text.find("```\nhyper eval --row 'a=sc'\n```"), std::string::npos);
  EXPECT_NE(text.find("## roc\n\nNot drawn: no confidences"), std::string::npos);
}

TEST(ReportTest, SettingsAreSharedOrColumns) {
  StoredRun first;
  first.label = "a";
  first.settings = {{"width", "4"}, {"eta", "1"}, {"only", "x"}};
  StoredRun second = first;
  second.settings = {{"width", "8"}, {"eta", "1"}};
  const std::vector<Table> tables = SettingsTables({first, second});
  ASSERT_EQ(tables.size(), 2U);
  ASSERT_EQ(tables[0].columns.size(), 10U) << "eight names, only and width";
  EXPECT_EQ(tables[0].columns[8].name, "only");
  EXPECT_EQ(tables[0].rows[0][8].text, "x");
  EXPECT_EQ(tables[0].rows[1][8].text, "");
  EXPECT_EQ(tables[0].rows[1][9].text, "8");
  ASSERT_EQ(tables[1].rows.size(), 1U);
  EXPECT_EQ(tables[1].rows[0][0].text, "eta");
}

using DisagreementTest = FigureStudy;

TEST_F(DisagreementTest, QuestionsThatRowsAnswerDifferently) {
  AddSelfConsistency();
  AddHyper();
  EXPECT_TRUE(GradeStudy(store_, false).has_value());
  const Result<StudyMaterial> material = LoadMaterial(store_);
  ASSERT_TRUE(material.has_value());
  const Table table = DisagreementTable(*material);
  std::map<std::string, std::map<std::string, double>> expected;  // by question and row
  for (const StoredItem& item : items_) {
    const auto question = static_cast<size_t>(item.key.question) - 1;
    for (const char* label : {"sc", "sc3", "hyper"}) {
      if (item.key.run == RunOf(label)) {
        expected["made/" + questions_[question].name][label] += item.answer == "1" ? 50 : 0;
      }
    }
  }
  std::erase_if(expected, [](const auto& question) {
    const auto& row = question.second;
    return row.at("sc") == row.at("sc3") && row.at("sc") == row.at("hyper");
  });
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(table.rows.size(), expected.size());
  for (const auto& row : table.rows) {
    const auto& shares = expected.at(row[0].text);
    for (size_t i = 3; i < row.size(); ++i) {
      EXPECT_EQ(row[i].value, shares.at(table.columns[i].name)) << row[0].text;
    }
  }
}

TEST_F(DisagreementTest, FailedAnswersAreNone) {
  AddSelfConsistency();
  const size_t before = DisagreementTable(*LoadMaterial(store_)).rows.size();
  const int64_t run = AddRun("flaky", "hyper", {{"width", "2"}});
  for (const size_t question : {0U, 1U}) {
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      StoredItem item;
      item.key = {run, questions_[question].id, repeat};
      item.status = question == 0 ? ItemStatus::kFailed : ItemStatus::kDone;
      item.paths.push_back(MakePath(item, "1", kTokens));
      Save(std::move(item));
    }
  }
  const Table table = DisagreementTable(*LoadMaterial(store_));
  ASSERT_EQ(table.columns.back().name, "flaky");
  size_t of_others = 0;
  for (const auto& row : table.rows) {
    const bool answered = row[0].text == "made/q1";
    EXPECT_EQ(std::isfinite(row.back().value.value_or(kNaN)), answered) << row[0].text;
    of_others += answered ? 0 : 1;
  }
  EXPECT_LE(of_others, before);
}

}  // namespace
}  // namespace hyper::eval

#include "src/eval/tables/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace hyper::eval {
namespace {

Table Sample() {
  Table table;
  table.name = "sample";
  table.title = "Accuracy & cost";
  table.columns = {
      {"Dataset", ""}, {"Token", "SC"}, {"Acc", "SC"}, {"Token", "HyPER"}, {"Acc", "HyPER"}};
  table.rows = {{Cell::Text("tiny, \"2\" | x_1"), Cell::Number(1, 2), Cell::Spread(88, 2, 1),
                 Cell::Number(0.541, 2), Cell::Spread(94, std::nan(""), 1)}};
  table.rows[0][4].best = true;
  table.notes = {"100% of tokens"};
  return table;
}

TEST(TableTest, Terminal) {
  EXPECT_EQ(RenderTable(Sample(), TableForm::kTerminal),
            "Accuracy & cost\n"
            "                    SC              HyPER\n"
            "Dataset          Token         Acc  Token    Acc\n"
            "------------------------------------------------\n"
            "tiny, \"2\" | x_1   1.00  88.0 \u00b1 2.0   0.54  94.0*\n"
            "100% of tokens\n");
}

TEST(TableTest, Markdown) {
  EXPECT_EQ(RenderTable(Sample(), TableForm::kMarkdown),
            "**Accuracy & cost**\n\n"
            "| Dataset          | SC Token |     SC Acc | HyPER Token | HyPER Acc |\n"
            "| ---              |      --: |        --: |         --: |       --: |\n"
            "| tiny, \"2\" \\| x_1 |     1.00 | 88.0 \u00b1 2.0 |        0.54 |  **94.0** |\n"
            "\n100% of tokens\n");
}

TEST(TableTest, CsvQuotesAndKeepsFullPrecision) {
  EXPECT_EQ(RenderTable(Sample(), TableForm::kCsv),
            "Dataset,SC Token,SC Acc,SC Acc std,HyPER Token,HyPER Acc,HyPER Acc std\n"
            "\"tiny, \"\"2\"\" | x_1\",1,88,2,0.541,94,\n");
}

TEST(TableTest, JsonIsAnObjectWithRowsByName) {
  const auto json = nlohmann::json::parse(RenderTable(Sample(), TableForm::kJson));
  EXPECT_EQ(json["name"], "sample");
  EXPECT_EQ(json["rows"][0]["Dataset"], "tiny, \"2\" | x_1");
  EXPECT_EQ(json["rows"][0]["HyPER Token"], 0.541);
  EXPECT_EQ(json["rows"][0]["SC Acc std"], 2);
  EXPECT_TRUE(json["rows"][0]["HyPER Acc std"].is_null());
  EXPECT_EQ(json["notes"][0], "100% of tokens");
}

TEST(TableTest, SeveralTablesAreOneDocument) {
  const std::vector<Table> two = {Sample(), Sample()};
  const auto json = nlohmann::json::parse(RenderTables(two, TableForm::kJson));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[1]["name"], "sample");
  EXPECT_TRUE(nlohmann::json::parse(RenderTables({}, TableForm::kJson)).empty());
  EXPECT_EQ(RenderTables({Sample()}, TableForm::kJson), RenderTable(Sample(), TableForm::kJson));
  const std::string one = RenderTable(Sample(), TableForm::kCsv);
  EXPECT_EQ(RenderTables(two, TableForm::kCsv), one + "\n" + one);
}

TEST(TableTest, LatexEscapesAndGroups) {
  EXPECT_EQ(
      RenderTable(Sample(), TableForm::kLatex),
      "\\begin{table}[t]\n\\centering\n\\caption{Accuracy \\& cost}\n\\label{tab:sample}\n"
      "\\begin{tabular}{lrrrr}\n\\toprule\n"
      " & \\multicolumn{2}{c}{SC} & \\multicolumn{2}{c}{HyPER} \\\\\n"
      "\\cmidrule(lr){2-3}\\cmidrule(lr){4-5}\n"
      "Dataset & Token & Acc & Token & Acc \\\\\n\\midrule\n"
      "tiny, \"2\" | x\\_1 & $1.00$ & $88.0 \\;(\\pm\\;2.0)$ & $0.54$ & $\\mathbf{94.0}$ \\\\\n"
      "\\bottomrule\n\\end{tabular}\n\\par\\footnotesize 100\\% of tokens\n\\end{table}\n");
}

TEST(TableTest, UnknownNumbersAreADash) {
  Table table;
  table.columns = {{"a", ""}};
  table.rows = {{Cell::Number(std::nan(""), 1)}};
  EXPECT_NE(RenderTable(table, TableForm::kTerminal).find("-\n-\n"), std::string::npos);
  EXPECT_EQ(RenderTable(table, TableForm::kCsv), "a\n\n");
}

TEST(TableTest, FormsAreNamed) {
  EXPECT_EQ(ValueOf<TableForm>("latex"), TableForm::kLatex);
  EXPECT_EQ(ValueOf<TableForm>("text"), TableForm::kTerminal);
  EXPECT_EQ(ValueOf<TableForm>("LaTeX"), std::nullopt);
}

TEST(MarkBestTest, TheLargestOfEachColumnAndNoneOnATie) {
  Table table;
  table.columns = {{"name", ""}, {"x", ""}, {"y", ""}};
  const double y[] = {1, 3, 2, std::nan(""), 9};
  for (const double value : {1.0, 3.0, 3.0 - 1e-12, std::nan(""), 9.0}) {
    const double other = y[table.rows.size()];
    table.rows.push_back({Cell::Text("r"), Cell::Number(value, 0), Cell::Number(other, 0)});
  }
  MarkBest(table, 0, 4, {1, 2});
  std::string marks;
  for (const auto& row : table.rows) {
    for (const size_t column : {1, 2}) {
      marks += row[column].best ? 'b' : '.';
    }
  }
  EXPECT_EQ(marks, "...b......");
}

TEST(TableTest, RangesAreTwoNumbers) {
  Table table;
  table.columns = {{"Acc", ""}, {"interval", ""}, {"Questions", ""}};
  table.rows = {{Cell::Spread(50, 2, 1), Cell::Range(12.25, 80, 1), Cell::Number(12, 0)},
                {Cell::Range(0, 100, 1), Cell::Range(std::nan(""), std::nan(""), 1), Cell{}}};
  EXPECT_EQ(RenderTable(table, TableForm::kCsv),
            "Acc,Acc std,Acc low,Acc high,interval low,interval high,Questions\n"
            "50,2,,,12.25,80,12\n"
            ",,0,100,,,\n");
  const auto rows = nlohmann::json::parse(RenderTable(table, TableForm::kJson))["rows"];
  EXPECT_EQ(rows[0]["interval low"], 12.25);
  EXPECT_FALSE(rows[0].contains("interval"));
  EXPECT_TRUE(rows[0]["Questions"].is_number_integer());
  EXPECT_TRUE(rows[1]["Acc"].is_null());
  EXPECT_EQ(rows[1]["Acc high"], 100);
  EXPECT_TRUE(rows[1]["interval high"].is_null());
  const std::string text = RenderTable(table, TableForm::kTerminal);
  EXPECT_NE(text.find("12.2 to 80.0"), std::string::npos) << text;
  EXPECT_NE(text.find("0.0 to 100.0             -"), std::string::npos) << text;
  EXPECT_NE(RenderTable(table, TableForm::kLatex).find("0.0 to 100.0 & -"), std::string::npos);
}

TEST(TableTest, ColumnsOfAGroupWithoutNumbersAreDropped) {
  Table table;
  table.columns = {{"a", ""}, {"b", "g"}, {"c", "g"}};
  table.rows = {{Cell::Text("x"), Cell::Number(std::nan(""), 1), Cell::Number(1, 1)}};
  EXPECT_TRUE(DropEmptyColumns(table, "g"));
  ASSERT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[1].name, "c");
  EXPECT_EQ(table.rows[0].size(), 2U);
  table.rows[0][1] = Cell{};
  EXPECT_FALSE(DropEmptyColumns(table, "g"));
  EXPECT_EQ(table.columns.size(), 1U);
}

}  // namespace
}  // namespace hyper::eval

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
  EXPECT_EQ(ParseTableForm("latex"), TableForm::kLatex);
  EXPECT_EQ(ParseTableForm("text"), TableForm::kTerminal);
  EXPECT_EQ(ParseTableForm("LaTeX"), std::nullopt);
}

TEST(MarkBestTest, TheLargestOfEachColumnAndAllOnATie) {
  Table table;
  table.columns = {{"name", ""}, {"x", ""}};
  for (const double value : {1.0, 3.0, 3.0, std::nan(""), 9.0}) {
    table.rows.push_back({Cell::Text("r"), Cell::Number(value, 0)});
  }
  MarkBest(table, 0, 4, {1});
  std::string marks;
  for (const auto& row : table.rows) marks += row[1].best ? 'b' : '.';
  EXPECT_EQ(marks, ".bb..");
}

}  // namespace
}  // namespace hyper::eval

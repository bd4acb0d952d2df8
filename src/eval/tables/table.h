// Tables in the five forms that people ask for: terminal text, Markdown, CSV, JSON and LaTeX.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hyper::eval {

// What stands in a cell: nothing, a text, or a number with its spread.
struct Cell {
  std::string text;
  std::optional<double> value;   // counts before `text`; NaN is nothing
  std::optional<double> spread;  // standard deviation; NaN is nothing
  int decimals = 1;
  bool best = false;  // bold where the form can

  static Cell Text(std::string text);
  static Cell Number(double value, int decimals);
  static Cell Spread(double value, double spread, int decimals);
};

struct Column {
  std::string name;
  std::string group;  // columns of one group stand under a common head; empty: none
};

struct Table {
  std::string name;  // short, for LaTeX labels and JSON: "main-results"
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
  std::vector<std::string> notes;       // below the table: units, what is marked and why
};

enum class TableForm { kTerminal, kMarkdown, kCsv, kJson, kLatex };

// The form of a name: "text", "markdown", "csv", "json", "latex". Pure.
std::optional<TableForm> ParseTableForm(const std::string& name);

// The table as text that ends in a line break. CSV and JSON hold full-precision numbers, the spread
// in a column or member of its own, and no notes in CSV; the others round. Text of cells is escaped
// as the form needs. Pure.
std::string RenderTable(const Table& table, TableForm form);

// Several tables, a blank line between two; as JSON one object alone, or an array of all. Pure.
std::string RenderTables(const std::vector<Table>& tables, TableForm form);

// A field of CSV (RFC 4180): quoted where needed, quotes doubled. Pure.
std::string CsvField(const std::string& text);

// Marks the largest value of each column named in `columns` among rows [first, last); all of them
// on a tie. Cells without a value are passed over.
void MarkBest(Table& table, size_t first, size_t last, const std::vector<size_t>& columns);

}  // namespace hyper::eval

// Tables in the five forms that people ask for: terminal text, Markdown, CSV, JSON and LaTeX.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hyper/evaluation.h"
#include "hyper/names.h"

namespace hyper::eval {

using hyper::Cell;
using hyper::Column;
using hyper::Table;

enum class TableForm { kTerminal, kMarkdown, kCsv, kJson, kLatex };

// The table as text that ends in a line break. CSV and JSON hold full-precision numbers, the spread
// and both ends of a range in columns or members of their own ("Acc std", "Acc low", "Acc high"),
// and no notes in CSV; the others round. Text of cells is escaped as the form needs. Pure.
std::string RenderTable(const Table& table, TableForm form);

// Several tables, a blank line between two; as JSON one object alone, or an array of all. Pure.
std::string RenderTables(const std::vector<Table>& tables, TableForm form);

// `text` in HTML, in elements and quoted attributes alike; bytes that are no UTF-8 become U+FFFD.
// Pure.
std::string HtmlText(const std::string& text);

// The table as a <figure>: title, <table> and notes. Cells with a number hold it in `data-value`,
// for a script that sorts. Pure.
std::string HtmlTable(const Table& table);

// A field of CSV (RFC 4180): quoted where needed, quotes doubled. Pure.
std::string CsvField(const std::string& text);

// Marks the largest value of each column named in `columns` among rows [first, last); none on a
// tie. Cells without a value are passed over.
void MarkBest(Table& table, size_t first, size_t last, const std::vector<size_t>& columns);
void MarkBest(const std::vector<Cell*>& cells);

// Takes out the columns of a group that hold no number in any row. True where one is left.
bool DropEmptyColumns(Table& table, const std::string& group);

}  // namespace hyper::eval

template <>
inline constexpr std::array hyper::kNamesOf<hyper::eval::TableForm> = {"text", "markdown", "csv",
                                                                       "json", "latex"};

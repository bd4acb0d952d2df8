#include "src/eval/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/eval/tables/table_forms.h"

namespace hyper::eval {
namespace {

// Whether a cell is one of numbers, known or not.
bool IsNumber(const Cell& cell) { return cell.value || cell.low; }

}  // namespace

bool Known(const std::optional<double>& value) { return value && std::isfinite(*value); }

std::string Rounded(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

std::string Shown(const Cell& cell, std::string_view plus_minus) {
  if (Known(cell.low) && Known(cell.high)) {
    return Rounded(*cell.low, cell.decimals) + " to " + Rounded(*cell.high, cell.decimals);
  }
  if (!Known(cell.value)) {
    return IsNumber(cell) ? "-" : cell.text;
  }
  std::string shown = Rounded(*cell.value, cell.decimals);
  if (Known(cell.spread)) {
    shown += fmt::format(" {} {}", plus_minus, Rounded(*cell.spread, cell.decimals));
  }
  return shown;
}

std::string FlatName(const Column& column) {
  return column.group.empty() ? column.name : column.group + " " + column.name;
}

std::vector<bool> NumberColumns(const Table& table) {
  std::vector<bool> numbers(table.columns.size(), false);
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (const auto& row : table.rows) {
      if (!IsNumber(row[i]) && row[i].text.empty()) {
        continue;
      }
      numbers[i] = IsNumber(row[i]);
      break;
    }
  }
  return numbers;
}

bool AnyGroup(const Table& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const Column& column) { return !column.group.empty(); });
}

std::string RenderTable(const Table& table, TableForm form) {
  switch (form) {
    case TableForm::kMarkdown:
      return MarkdownForm(table);
    case TableForm::kCsv:
      return CsvForm(table);
    case TableForm::kJson:
      return JsonForm(table);
    case TableForm::kLatex:
      return LatexForm(table);
    case TableForm::kTerminal:
      break;
  }
  return TerminalForm(table);
}

std::string RenderTables(const std::vector<Table>& tables, TableForm form) {
  const bool list = form == TableForm::kJson && tables.size() != 1;
  std::string text;
  for (const Table& table : tables) {
    text += text.empty() ? "" : (list ? "," : "\n");
    text += RenderTable(table, form);
  }
  return list ? "[\n" + text + "]\n" : text;
}

void MarkBest(Table& table, size_t first, size_t last, const std::vector<size_t>& columns) {
  for (const size_t column : columns) {
    std::vector<Cell*> cells;
    for (size_t row = first; row < last; ++row) {
      cells.push_back(&table.rows[row][column]);
    }
    MarkBest(cells);
  }
}

void MarkBest(const std::vector<Cell*>& cells) {
  // Means over questions in another order differ in their last digits.
  constexpr double kEqual = 1e-9;
  double best = -std::numeric_limits<double>::infinity();
  for (const Cell* cell : cells) {
    if (Known(cell->value)) {
      best = std::max(best, *cell->value);
    }
  }
  std::vector<Cell*> leaders;
  for (Cell* cell : cells) {
    if (Known(cell->value) && *cell->value > best - kEqual) {
      leaders.push_back(cell);
    }
  }
  if (leaders.size() == 1) {
    leaders.front()->best = true;
  }
}

bool DropEmptyColumns(Table& table, const std::string& group) {
  bool left = false;
  for (size_t i = table.columns.size(); i-- > 0;) {
    if (table.columns[i].group != group) {
      continue;
    }
    const bool used = std::any_of(table.rows.begin(), table.rows.end(),
                                  [i](const auto& row) { return Known(row[i].value); });
    left = left || used;
    if (used) {
      continue;
    }
    const auto place = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + place);
    for (auto& row : table.rows) {
      row.erase(row.begin() + place);
    }
  }
  return left;
}

}  // namespace hyper::eval

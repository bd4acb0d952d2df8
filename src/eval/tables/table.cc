#include "src/eval/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace hyper::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlusMinus = "\u00b1";

bool Known(const std::optional<double>& value) { return value && std::isfinite(*value); }

std::string Rounded(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

// Whether a cell is one of numbers, known or not.
bool IsNumber(const Cell& cell) { return cell.value || cell.low; }

// "88.0", "88.0 +- 2.0" with `plus_minus` between, "80.0 to 90.0", or the text.
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

// Columns of a UTF-8 text on a terminal, one per character: enough for names and numbers.
size_t Width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string FlatName(const Column& column) {
  return column.group.empty() ? column.name : column.group + " " + column.name;
}

// Numbers stand to the right; a column is one of numbers when its first known cell is.
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

std::string Padded(const std::string& text, size_t width, bool right) {
  const std::string blanks(width - std::min(width, Width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

// Lines of cells, padded to common widths; the bars are put by `left`, `between`, `right`.
class Grid {
 public:
  explicit Grid(std::vector<bool> to_right) : to_right_(std::move(to_right)) {}

  void Add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }

  std::vector<size_t> Widths() const {
    std::vector<size_t> widths(to_right_.size(), 0);
    for (const auto& line : lines_) {
      for (size_t i = 0; i < line.size(); ++i) {
        widths[i] = std::max(widths[i], Width(line[i]));
      }
    }
    return widths;
  }

  std::string Line(size_t number, const std::vector<size_t>& widths, const char* left,
                   const char* between, const char* right) const {
    std::string text = left;
    for (size_t i = 0; i < widths.size(); ++i) {
      text += (i == 0 ? "" : between) + Padded(lines_[number][i], widths[i], to_right_[i]);
    }
    text += right;
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  }

  size_t size() const { return lines_.size(); }

 private:
  std::vector<bool> to_right_;
  std::vector<std::vector<std::string>> lines_;
};

std::string Terminal(const Table& table) {
  Grid grid(NumberColumns(table));
  const bool groups = AnyGroup(table);
  if (groups) {
    std::vector<std::string> heads;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& group = table.columns[i].group;
      heads.push_back(i > 0 && table.columns[i - 1].group == group ? "" : group);
    }
    grid.Add(std::move(heads));
  }
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    names.push_back(column.name);
  }
  grid.Add(std::move(names));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const Cell& cell : row) {
      cells.push_back(Shown(cell, kPlusMinus) + (cell.best ? "*" : ""));
    }
    grid.Add(std::move(cells));
  }
  const std::vector<size_t> widths = grid.Widths();
  size_t total = 0;
  for (const size_t width : widths) {
    total += width + 2;
  }
  std::string text = table.title + "\n";
  for (size_t line = 0; line < grid.size(); ++line) {
    text += grid.Line(line, widths, "", "  ", "");
    if (line == (groups ? 1U : 0U)) {
      text += std::string(total - 2, '-') + "\n";
    }
  }
  for (const std::string& note : table.notes) {
    text += note + "\n";
  }
  return text;
}

std::string MarkdownEscaped(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string Markdown(const Table& table) {
  const std::vector<bool> numbers = NumberColumns(table);
  Grid grid(numbers);
  std::vector<std::string> names;
  std::vector<std::string> rule;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    names.push_back(MarkdownEscaped(FlatName(table.columns[i])));
    rule.emplace_back(numbers[i] ? "--:" : "---");
  }
  grid.Add(std::move(names));
  grid.Add(std::move(rule));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) {
      const std::string shown = MarkdownEscaped(Shown(cell, kPlusMinus));
      cells.push_back(cell.best ? "**" + shown + "**" : shown);
    }
    grid.Add(std::move(cells));
  }
  const std::vector<size_t> widths = grid.Widths();
  std::string text = "**" + table.title + "**\n\n";
  for (size_t line = 0; line < grid.size(); ++line) {
    text += grid.Line(line, widths, "| ", " | ", " |");
  }
  for (const std::string& note : table.notes) {
    text += "\n" + note + "\n";
  }
  return text;
}

std::string FullNumber(const std::optional<double>& value) {
  return Known(value) ? fmt::format("{}", *value) : std::string();
}

// What CSV and JSON hold of a column: the cells themselves, spreads, ranges.
struct Parts {
  bool plain = false;
  bool spread = false;
  bool range = false;
};

std::vector<Parts> PartsOf(const Table& table) {
  std::vector<Parts> parts(table.columns.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const auto& row : table.rows) {
      const Cell& cell = row[i];
      parts[i].spread = parts[i].spread || cell.spread;
      parts[i].range = parts[i].range || cell.low;
      parts[i].plain = parts[i].plain || cell.value || !cell.text.empty();
    }
    parts[i].plain = parts[i].plain || !parts[i].range;
  }
  return parts;
}

std::string Csv(const Table& table) {
  const std::vector<Parts> parts = PartsOf(table);
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) {
      text += (i == 0 ? "" : ",") + CsvField(fields[i]);
    }
    text += "\n";
  };
  std::vector<std::string> heads;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = FlatName(table.columns[i]);
    if (parts[i].plain) {
      heads.push_back(name);
    }
    if (parts[i].spread) {
      heads.push_back(name + " std");
    }
    if (parts[i].range) {
      heads.insert(heads.end(), {name + " low", name + " high"});
    }
  }
  add_line(heads);
  for (const auto& row : table.rows) {
    std::vector<std::string> fields;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Cell& cell = row[i];
      if (parts[i].plain) {
        fields.push_back(cell.value ? FullNumber(cell.value) : cell.text);
      }
      if (parts[i].spread) {
        fields.push_back(FullNumber(cell.spread));
      }
      if (parts[i].range) {
        fields.insert(fields.end(), {FullNumber(cell.low), FullNumber(cell.high)});
      }
    }
    add_line(fields);
  }
  return text;
}

Json NumberOrNull(const std::optional<double>& value) {
  return Known(value) ? Json(*value) : Json(nullptr);
}

// The number of a cell, or its text. Counts are whole numbers.
Json PlainJson(const Cell& cell) {
  if (!cell.value) {
    return cell.low ? Json(nullptr) : Json(cell.text);
  }
  const bool count =
      cell.decimals == 0 && Known(cell.value) && *cell.value == std::rint(*cell.value);
  return count ? Json(static_cast<int64_t>(*cell.value)) : NumberOrNull(cell.value);
}

std::string JsonForm(const Table& table) {
  const std::vector<Parts> parts = PartsOf(table);
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string name = FlatName(table.columns[i]);
      if (parts[i].plain) {
        object[name] = PlainJson(row[i]);
      }
      if (row[i].spread) {
        object[name + " std"] = NumberOrNull(row[i].spread);
      }
      if (row[i].low) {
        object[name + " low"] = NumberOrNull(row[i].low);
        object[name + " high"] = NumberOrNull(row[i].high);
      }
    }
    rows.push_back(std::move(object));
  }
  const Json value = {
      {"name", table.name}, {"title", table.title}, {"rows", rows}, {"notes", table.notes}};
  return value.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

std::string LatexEscaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\textbackslash{}";
        break;
      case '~':
        escaped += "\\textasciitilde{}";
        break;
      case '^':
        escaped += "\\textasciicircum{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        escaped += '\\';
        [[fallthrough]];
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string LatexCell(const Cell& cell) {
  if (!Known(cell.value)) {
    const std::string text = LatexEscaped(Shown(cell, ""));
    return cell.best ? "\\textbf{" + text + "}" : text;
  }
  const std::string number = Rounded(*cell.value, cell.decimals);
  std::string text = cell.best ? "$\\mathbf{" + number + "}" : "$" + number;
  if (Known(cell.spread)) {
    text += " \\;(\\pm\\;" + Rounded(*cell.spread, cell.decimals) + ")";
  }
  return text + "$";
}

// The head over groups of columns and the rules below it, as in the paper's tables.
std::string LatexGroups(const Table& table) {
  std::string heads;
  std::string rules;
  for (size_t i = 0; i < table.columns.size();) {
    size_t end = i + 1;
    const std::string& group = table.columns[i].group;
    while (end < table.columns.size() && !group.empty() && table.columns[end].group == group) {
      ++end;
    }
    heads += i == 0 ? "" : " & ";
    if (!group.empty()) {
      heads += fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", end - i, LatexEscaped(group));
      rules += fmt::format("\\cmidrule(lr){{{}-{}}}", i + 1, end);
    }
    i = end;
  }
  return heads + " \\\\\n" + rules + "\n";
}

std::string Latex(const Table& table) {
  std::string text = "\\begin{table}[t]\n\\centering\n\\caption{" + LatexEscaped(table.title) +
                     "}\n\\label{tab:" + table.name + "}\n\\begin{tabular}{";
  for (const bool number : NumberColumns(table)) {
    text += number ? 'r' : 'l';
  }
  text += "}\n\\toprule\n";
  if (AnyGroup(table)) {
    text += LatexGroups(table);
  }
  const auto add_line = [&](const auto& cells, auto render) {
    for (size_t i = 0; i < cells.size(); ++i) {
      text += (i == 0 ? "" : " & ") + render(cells[i]);
    }
    text += " \\\\\n";
  };
  add_line(table.columns, [](const Column& column) { return LatexEscaped(column.name); });
  text += "\\midrule\n";
  for (const auto& row : table.rows) {
    add_line(row, LatexCell);
  }
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : table.notes) {
    text += "\\par\\footnotesize " + LatexEscaped(note) + "\n";
  }
  return text + "\\end{table}\n";
}

}  // namespace

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') {
      quoted += '"';
    }
    quoted += c;
  }
  return quoted + "\"";
}

Cell Cell::Text(std::string text) {
  Cell cell;
  cell.text = std::move(text);
  return cell;
}

Cell Cell::Number(double value, int decimals) {
  Cell cell;
  cell.value = value;
  cell.decimals = decimals;
  return cell;
}

Cell Cell::Spread(double value, double spread, int decimals) {
  Cell cell = Number(value, decimals);
  cell.spread = spread;
  return cell;
}

Cell Cell::Range(double low, double high, int decimals) {
  Cell cell;
  cell.low = low;
  cell.high = high;
  cell.decimals = decimals;
  return cell;
}

std::optional<TableForm> ParseTableForm(const std::string& name) {
  if (name == "text") {
    return TableForm::kTerminal;
  }
  if (name == "markdown") {
    return TableForm::kMarkdown;
  }
  if (name == "csv") {
    return TableForm::kCsv;
  }
  if (name == "json") {
    return TableForm::kJson;
  }
  if (name == "latex") {
    return TableForm::kLatex;
  }
  return std::nullopt;
}

std::string RenderTable(const Table& table, TableForm form) {
  switch (form) {
    case TableForm::kMarkdown:
      return Markdown(table);
    case TableForm::kCsv:
      return Csv(table);
    case TableForm::kJson:
      return JsonForm(table);
    case TableForm::kLatex:
      return Latex(table);
    case TableForm::kTerminal:
      break;
  }
  return Terminal(table);
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

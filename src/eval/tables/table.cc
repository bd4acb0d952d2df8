#include "src/eval/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace hyper::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlusMinus = "\u00b1";

bool Known(const std::optional<double>& value) { return value && std::isfinite(*value); }

std::string Rounded(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

// "88.0", "88.0 +- 2.0" with `plus_minus` between, or the text.
std::string Shown(const Cell& cell, std::string_view plus_minus) {
  if (!Known(cell.value)) return cell.value ? "-" : cell.text;
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
      if (!row[i].value && row[i].text.empty()) continue;
      numbers[i] = row[i].value.has_value();
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
      for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
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
  for (const Column& column : table.columns) names.push_back(column.name);
  grid.Add(std::move(names));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (const Cell& cell : row) cells.push_back(Shown(cell, kPlusMinus) + (cell.best ? "*" : ""));
    grid.Add(std::move(cells));
  }
  const std::vector<size_t> widths = grid.Widths();
  size_t total = 0;
  for (const size_t width : widths) total += width + 2;
  std::string text = table.title + "\n";
  for (size_t line = 0; line < grid.size(); ++line) {
    text += grid.Line(line, widths, "", "  ", "");
    if (line == (groups ? 1U : 0U)) text += std::string(total - 2, '-') + "\n";
  }
  for (const std::string& note : table.notes) text += note + "\n";
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
  for (const std::string& note : table.notes) text += "\n" + note + "\n";
  return text;
}

std::string FullNumber(const std::optional<double>& value) {
  return Known(value) ? fmt::format("{}", *value) : std::string();
}

std::string Csv(const Table& table) {
  std::vector<bool> spreads(table.columns.size(), false);
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) spreads[i] = spreads[i] || row[i].spread.has_value();
  }
  std::string text;
  const auto add = [&](const std::string& field, bool first) {
    text += (first ? "" : ",") + CsvField(field);
  };
  for (size_t i = 0; i < table.columns.size(); ++i) {
    add(FlatName(table.columns[i]), i == 0);
    if (spreads[i]) add(FlatName(table.columns[i]) + " std", false);
  }
  text += "\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      add(row[i].value ? FullNumber(row[i].value) : row[i].text, i == 0);
      if (spreads[i]) add(FullNumber(row[i].spread), false);
    }
    text += "\n";
  }
  return text;
}

Json NumberOrNull(const std::optional<double>& value) {
  return Known(value) ? Json(*value) : Json(nullptr);
}

std::string JsonForm(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string name = FlatName(table.columns[i]);
      object[name] = row[i].value ? NumberOrNull(row[i].value) : Json(row[i].text);
      if (row[i].spread) object[name + " std"] = NumberOrNull(row[i].spread);
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
    const std::string text = LatexEscaped(cell.value ? "-" : cell.text);
    return cell.best ? "\\textbf{" + text + "}" : text;
  }
  const std::string number = Rounded(*cell.value, cell.decimals);
  std::string text = cell.best ? "$\\mathbf{" + number + "}" : "$" + number;
  if (Known(cell.spread)) text += " \\;(\\pm\\;" + Rounded(*cell.spread, cell.decimals) + ")";
  return text + "$";
}

// The head over groups of columns and the rules below it, as in the paper's tables.
std::string LatexGroups(const Table& table) {
  std::string heads;
  std::string rules;
  for (size_t i = 0; i < table.columns.size();) {
    size_t end = i + 1;
    const std::string& group = table.columns[i].group;
    while (end < table.columns.size() && !group.empty() && table.columns[end].group == group) ++end;
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
  for (const bool number : NumberColumns(table)) text += number ? 'r' : 'l';
  text += "}\n\\toprule\n";
  if (AnyGroup(table)) text += LatexGroups(table);
  const auto add_line = [&](const auto& cells, auto render) {
    for (size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : " & ") + render(cells[i]);
    text += " \\\\\n";
  };
  add_line(table.columns, [](const Column& column) { return LatexEscaped(column.name); });
  text += "\\midrule\n";
  for (const auto& row : table.rows) add_line(row, LatexCell);
  text += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : table.notes) {
    text += "\\par\\footnotesize " + LatexEscaped(note) + "\n";
  }
  return text + "\\end{table}\n";
}

}  // namespace

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
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

std::optional<TableForm> ParseTableForm(const std::string& name) {
  if (name == "text") return TableForm::kTerminal;
  if (name == "markdown") return TableForm::kMarkdown;
  if (name == "csv") return TableForm::kCsv;
  if (name == "json") return TableForm::kJson;
  if (name == "latex") return TableForm::kLatex;
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
    std::optional<double> best;
    for (size_t row = first; row < last; ++row) {
      const std::optional<double>& value = table.rows[row][column].value;
      if (Known(value) && (!best || *value > *best)) best = value;
    }
    for (size_t row = first; row < last; ++row) {
      Cell& cell = table.rows[row][column];
      cell.best = best && Known(cell.value) && *cell.value == *best;
    }
  }
}

}  // namespace hyper::eval

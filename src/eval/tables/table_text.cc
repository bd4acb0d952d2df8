// Tables as people read them: on a terminal and in Markdown.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/utf8.h"
#include "src/eval/tables/table_forms.h"

namespace hyper::eval {
namespace {

constexpr std::string_view kPlusMinus = "\u00b1";

// Columns of a UTF-8 text on a terminal, one per character: enough for names and numbers.
size_t Width(std::string_view text) { return base::CountCharacters(text); }

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

std::string MarkdownEscaped(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string TerminalForm(const Table& table) {
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

std::string MarkdownForm(const Table& table) {
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

}  // namespace hyper::eval

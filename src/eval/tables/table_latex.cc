// Tables for papers.
#include <fmt/format.h>

#include <string>

#include "src/eval/tables/table_forms.h"

namespace hyper::eval {
namespace {

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

}  // namespace

std::string LatexForm(const Table& table) {
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

}  // namespace hyper::eval

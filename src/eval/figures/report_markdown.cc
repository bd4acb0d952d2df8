#include <fmt/format.h>

#include "src/eval/figures/report.h"

namespace hyper::eval {
namespace {

std::string FencedLines(const std::vector<std::string>& lines) {
  std::string text = "```\n";
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text + "```\n\n";
}

std::string TablesOf(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    text += table.rows.empty() ? "" : RenderTable(table, TableForm::kMarkdown) + "\n";
  }
  return text;
}

std::string FigurePart(const ReportFigure& figure) {
  std::string text = fmt::format(
      "## {}\n\n",
      figure.number == "-" ? figure.title : "Figure " + figure.number + ": " + figure.title);
  if (!figure.missing.empty()) {
    return text + "Not drawn: " + figure.missing + "\n\n";
  }
  text += figure.figure.finding + "\n\n";
  if (!figure.picture.empty()) {
    text += fmt::format("![{}]({})\n\n", figure.title, figure.picture);
  }
  for (const std::string& note : figure.figure.notes) {
    text += note + "\n\n";
  }
  if (!figure.numbers.empty()) {
    text += fmt::format("[Numbers]({})\n\n", figure.numbers);
  }
  return text + FencedLines({figure.command});
}

}  // namespace

std::string ReportMarkdown(const std::vector<ReportStudy>& studies) {
  std::string text;
  for (const ReportStudy& study : studies) {
    text += "# " + study.name + "\n\n" + TablesOf(study.tables);
    for (const ReportFigure& figure : study.figures) {
      text += FigurePart(figure);
    }
    text += "## Settings and commands\n\n" + FencedLines(study.commands) + TablesOf(study.settings);
  }
  return text;
}

}  // namespace hyper::eval

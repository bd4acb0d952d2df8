#include <fmt/format.h>

#include <array>
#include <string_view>

#include "src/eval/figures/report.h"

namespace hyper::eval {
namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 100em; padding: 0 1em;
  color: #111; background: #fff; }
h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: left; }
th { cursor: pointer; border-bottom: 2px solid #888; }
th:hover { background: #eef; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1em 0; overflow-x: auto; }
figcaption { font-weight: bold; margin-bottom: .4em; }
.studies { display: flex; flex-wrap: wrap; gap: 2em; align-items: flex-start; }
.studies > section { flex: 1 1 28em; min-width: 0; }
svg { max-width: 100%; height: auto; }
.note, .missing { color: #555; font-size: 90%; }
pre { background: #f5f5f5; padding: .6em; overflow-x: auto; }
)";

constexpr const char* kScript = R"(
document.addEventListener("click", (event) => {
  const head = event.target.closest("th");
  if (!head) return;
  const body = head.closest("table").tBodies[0];
  const column = head.cellIndex;
  const down = head.dataset.order !== "down";
  for (const other of head.parentNode.cells) delete other.dataset.order;
  head.dataset.order = down ? "down" : "up";
  const key = (row) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const rows = [...body.rows].sort((a, b) => {
    const x = key(a), y = key(b);
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    const order = typeof x === "number" ? y - x : x.localeCompare(y);
    return down ? order : -order;
  });
  body.append(...rows);
});
)";

// The picture without its prolog, its ids made its own: several pictures of a page may not share
// any.
std::string Inlined(const std::string& svg, const std::string& prefix) {
  constexpr std::array<std::string_view, 6> kStarts = {"id=\"",   "id='",  "href=\"#",
                                                       "href='#", "url(#", "url('#"};
  const size_t first = svg.find("<svg");
  if (first == std::string::npos) {
    return "";
  }
  std::string text;
  for (size_t at = first; at < svg.size(); ++at) {
    text += svg[at];
    for (const std::string_view start : kStarts) {
      if (text.ends_with(start)) {
        text += prefix;
      }
    }
  }
  return text;
}

std::string FigureSection(const ReportFigure& figure, const std::string& prefix) {
  if (!figure.missing.empty()) {
    return "<p class=\"missing\">Not drawn: " + HtmlText(figure.missing) + "</p>\n";
  }
  std::string text = "<p>" + HtmlText(figure.figure.finding) + "</p>\n";
  text += figure.svg.empty() ? std::string(
                                   "<p class=\"missing\">No picture: gnuplot is not "
                                   "installed.</p>\n")
                             : Inlined(figure.svg, prefix) + "\n";
  for (const std::string& note : figure.figure.notes) {
    text += "<p class=\"note\">" + HtmlText(note) + "</p>\n";
  }
  return text + "<details><summary>numbers</summary><pre>" + HtmlText(FigureCsv(figure.figure)) +
         "</pre></details>\n<pre>" + HtmlText(figure.command) + "</pre>\n";
}

// A part of every study, side by side under a common head.
template <class Part>
std::string SideBySide(const std::vector<ReportStudy>& studies, const std::string& head,
                       Part part) {
  std::string text = "<h2>" + HtmlText(head) + "</h2>\n<div class=\"studies\">\n";
  for (size_t i = 0; i < studies.size(); ++i) {
    text += "<section>\n";
    if (studies.size() > 1) {
      text += "<h3>" + HtmlText(studies[i].name) + "</h3>\n";
    }
    text += part(studies[i], i) + "</section>\n";
  }
  return text + "</div>\n";
}

std::string AllTables(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    text += table.rows.empty() ? "" : HtmlTable(table);
  }
  return text;
}

}  // namespace

std::string ReportHtml(const std::vector<ReportStudy>& studies) {
  std::string names;
  for (const ReportStudy& study : studies) {
    names += (names.empty() ? "" : ", ") + study.name;
  }
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>{0}</title>\n"
      "<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n",
      HtmlText(names), kStyle);
  text += SideBySide(studies, "Tables",
                     [](const ReportStudy& study, size_t) { return AllTables(study.tables); });
  for (size_t i = 0; !studies.empty() && i < studies.front().figures.size(); ++i) {
    const ReportFigure& first = studies.front().figures[i];
    const std::string head =
        first.number == "-" ? first.title : "Figure " + first.number + ": " + first.title;
    text += SideBySide(studies, head, [i](const ReportStudy& study, size_t place) {
      return FigureSection(study.figures[i], fmt::format("s{}f{}-", place, i));
    });
  }
  text += SideBySide(studies, "Settings and commands", [](const ReportStudy& study, size_t) {
    std::string commands;
    for (const std::string& command : study.commands) {
      commands += command + "\n";
    }
    return "<pre>" + HtmlText(commands) + "</pre>\n" + AllTables(study.settings);
  });
  return text + "<script>" + kScript + "</script>\n</body></html>\n";
}

}  // namespace hyper::eval

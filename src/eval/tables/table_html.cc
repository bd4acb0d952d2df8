// A table as HTML.
#include <fmt/format.h>

#include "src/base/utf8.h"
#include "src/eval/tables/table_forms.h"

namespace hyper::eval {

std::string HtmlText(const std::string& text) {
  std::string escaped;
  for (const char c : base::ValidUtf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string HtmlTable(const Table& table) {
  const std::vector<bool> numbers = NumberColumns(table);
  std::string text = "<figure class=\"table\"><figcaption>" + HtmlText(table.title) +
                     "</figcaption>\n<table><thead><tr>";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    text += fmt::format("<th{}>{}</th>", numbers[i] ? " class=\"number\"" : "",
                        HtmlText(FlatName(table.columns[i])));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const Cell& cell = row[i];
      const std::string shown = HtmlText(Shown(cell, "\u00B1"));
      const std::optional<double>& key = Known(cell.value) ? cell.value : cell.low;
      text += "<td";
      text += numbers[i] ? " class=\"number\"" : "";
      text += Known(key) ? fmt::format(" data-value=\"{}\"", *key) : "";
      text += ">" + (cell.best ? "<b>" + shown + "</b>" : shown) + "</td>";
    }
    text += "</tr>\n";
  }
  text += "</tbody></table>\n";
  for (const std::string& note : table.notes) {
    text += "<p class=\"note\">" + HtmlText(note) + "</p>\n";
  }
  return text + "</figure>\n";
}

}  // namespace hyper::eval

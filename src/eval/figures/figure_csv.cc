#include <fmt/format.h>

#include <cmath>

#include "src/eval/figures/figure.h"
#include "src/eval/tables/table.h"

namespace hyper::eval {
namespace {

std::string NumberField(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string CategoryOf(const FigurePanel& panel, const FigurePoint& point) {
  const bool named = point.x >= 0 && point.x < static_cast<double>(panel.categories.size());
  return named ? panel.categories[static_cast<size_t>(point.x)] : std::string();
}

}  // namespace

std::string FigureCsv(const Figure& figure) {
  std::string text = "panel,series,x axis,x,category,y axis,y,low,high\n";
  for (const FigurePanel& panel : figure.panels) {
    for (const FigureSeries& series : panel.series) {
      for (const FigurePoint& point : series.points) {
        text += CsvField(panel.title) + "," + CsvField(series.name) + "," +
                CsvField(panel.x.label) + "," + NumberField(point.x) + "," +
                CsvField(CategoryOf(panel, point)) + "," + CsvField(panel.y.label) + "," +
                NumberField(point.y) + "," + NumberField(point.low) + "," +
                NumberField(point.high) + "\n";
      }
    }
  }
  return text;
}

}  // namespace hyper::eval

#include "src/eval/figures/figure_json.h"

#include <cmath>

namespace hyper::eval {
namespace {

const char* NameOf(SeriesStyle style) {
  switch (style) {
    case SeriesStyle::kLine:
      return "line";
    case SeriesStyle::kLinePoints:
      return "line_points";
    case SeriesStyle::kPoints:
      return "points";
    case SeriesStyle::kSteps:
      return "steps";
    case SeriesStyle::kBars:
      return "bars";
    case SeriesStyle::kStack:
      return "stack";
    case SeriesStyle::kGuide:
      return "guide";
  }
  return "";
}

Json NumberJson(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json AxisJson(const FigureAxis& axis) {
  return {{"label", axis.label},
          {"low", NumberJson(axis.low.value_or(kNaN))},
          {"high", NumberJson(axis.high.value_or(kNaN))},
          {"log", axis.log}};
}

Json PanelJson(const FigurePanel& panel) {
  Json all = Json::array();
  for (const FigureSeries& series : panel.series) {
    Json points = Json::array();
    for (const FigurePoint& point : series.points) {
      points.push_back({{"x", NumberJson(point.x)},
                        {"y", NumberJson(point.y)},
                        {"low", NumberJson(point.low)},
                        {"high", NumberJson(point.high)}});
    }
    all.push_back(
        {{"name", series.name}, {"style", NameOf(series.style)}, {"points", std::move(points)}});
  }
  return {{"title", panel.title},
          {"x", AxisJson(panel.x)},
          {"y", AxisJson(panel.y)},
          {"categories", panel.categories},
          {"series", std::move(all)}};
}

}  // namespace

Json FigureJson(const FigureSpec& spec, const Result<Figure>& figure) {
  Json object = {{"number", spec.number}, {"name", spec.name}, {"title", spec.title}};
  if (!figure) {
    object["missing"] = figure.error().message;
    return object;
  }
  object["finding"] = figure->finding;
  object["notes"] = figure->notes;
  object["csv"] = FigureCsv(*figure);
  object["panels"] = Json::array();
  for (const FigurePanel& panel : figure->panels) {
    object["panels"].push_back(PanelJson(panel));
  }
  return object;
}

}  // namespace hyper::eval

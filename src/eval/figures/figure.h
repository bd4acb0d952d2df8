// A figure as plain data: what its picture shows, and nothing of how it is drawn. All functions
// here are pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/eval/metrics/metrics.h"

namespace hyper::eval {

struct FigurePoint {
  double x = kNaN;  // in a panel with categories: the place of one, from 0
  double y = kNaN;
  double low = kNaN;  // ends of the error; NaN: unknown
  double high = kNaN;
};

enum class SeriesStyle {
  kLine,        // with a band of its error
  kLinePoints,  // the same with a mark at each point
  kPoints,      // marks alone, with error bars
  kSteps,       // a histogram's outline; points are centres of bins of equal width
  kBars,        // a bar beside those of other series, with error bars
  kStack,       // a bar on top of those of earlier series
  kGuide,       // a thin grey line that is no measurement
};

struct FigureSeries {
  std::string name;
  SeriesStyle style = SeriesStyle::kLine;
  std::vector<FigurePoint> points;
};

struct FigureAxis {
  std::string label;  // with its unit
  std::optional<double> low = {};
  std::optional<double> high = {};
  bool log = false;
};

struct FigurePanel {
  std::string title;
  FigureAxis x;
  FigureAxis y;
  std::vector<std::string> categories;  // names along x; empty: x is a number
  std::vector<FigureSeries> series;
};

struct Figure {
  std::string name;                // of its files: "fig01-paths"
  std::string title;               // above the picture
  std::string finding;             // what the data says, in one line
  std::vector<std::string> notes;  // what bands are, which rows were taken
  std::vector<FigurePanel> panels;
};

// Every point as a line of CSV, below the head
// "panel,series,x axis,x,category,y axis,y,low,high". Unknown numbers are empty fields.
std::string FigureCsv(const Figure& figure);

// A script for gnuplot 5.2 and later that holds the data. It writes NAME.svg; with the variable
// `format` set to "pdf" or "png" before, that form, and with `folder` set ("figures/") there.
std::string GnuplotScript(const Figure& figure);

}  // namespace hyper::eval

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "src/base/utf8.h"
#include "src/eval/figures/figure.h"

namespace hyper::eval {
namespace {

// Okabe and Ito's palette for all kinds of colour vision, without its yellow, which is too light
// for lines on white. Dashes, marks and hatches differ with the colours, for prints without any.
constexpr std::array<const char*, 7> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                 "#E69F00", "#56B4E9", "#000000"};
constexpr std::array<const char*, 5> kDashes = {"solid", "(12,6)", "(3,4)", "(12,4,3,4)", "(6,3)"};
constexpr std::array<int, 8> kMarks = {7, 5, 9, 13, 6, 4, 8, 12};
constexpr std::array<const char*, 6> kFills = {"solid 0.75", "pattern 4", "pattern 2",
                                               "pattern 5",  "pattern 1", "solid 0.25"};

constexpr int kPanelWidth = 460;  // pixels of PNG and SVG
constexpr int kOnlyPanelWidth = 640;
constexpr int kPanelHeight = 400;
constexpr int kTitleHeight = 40;
constexpr double kPixelsPerInch = 72;
constexpr double kGroupWidth = 0.8;     // of the bars of a category
constexpr size_t kLongCategories = 36;  // characters that fit below a panel side by side

// A string of gnuplot; nothing in single quotes is substituted.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : base::OneLine(text)) {
    quoted += c == '\'' ? "''" : std::string(1, c);
  }
  return quoted + "'";
}

std::string DataNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.10g}", value) : std::string("NaN");
}

template <size_t kCount, class Value>
const Value& Cycled(const std::array<Value, kCount>& values, size_t place) {
  return values[place % kCount];
}

bool IsBar(const FigureSeries& series) {
  return series.style == SeriesStyle::kBars || series.style == SeriesStyle::kStack;
}

bool HasErrors(const FigureSeries& series) {
  return std::any_of(series.points.begin(), series.points.end(), [](const FigurePoint& point) {
    return std::isfinite(point.low) && std::isfinite(point.high);
  });
}

// How far the errors of a histogram are moved, so that those of two series stand side by side.
double ErrorShift(const FigureSeries& series, size_t style) {
  constexpr double kShareOfBin = 0.15;
  const double bin = series.points.size() > 1 ? series.points[1].x - series.points[0].x : 0;
  return (style % 2 == 0 ? -kShareOfBin : kShareOfBin) * bin;
}

// Bars from the column `low` to the next one, as arrows with flat heads: gnuplot's own error bars
// leave a gap for a mark.
std::string ErrorBars(const std::string& x, int low, const std::string& colour) {
  return fmt::format(
      " using {0}:{1}:(0):(${2}-${1}) with vectors heads size graph 0.008,90 lw 1{3} notitle", x,
      low, low + 1, colour);
}

// The upper end of a panel's y, where it starts at zero: above all errors.
double TopOf(const FigurePanel& panel, const std::vector<double>& stacked) {
  constexpr double kRoom = 1.06;
  double top = 0;
  for (const FigureSeries& series : panel.series) {
    for (const FigurePoint& point : series.points) {
      const double high = series.style == SeriesStyle::kStack ? point.y : point.high;
      top = std::fmax(top, std::fmax(point.y, high));  // NaN counts for nothing
    }
  }
  for (const double height : stacked) {
    top = std::max(top, height);
  }
  return top > 0 ? kRoom * top : 1;
}

// A panel while it is written: how far its stacks and groups of bars are.
struct PanelWriter {
  const FigurePanel& panel;
  std::string block;            // prefix of its data blocks
  std::vector<double> stacked;  // height of each category's stack so far
  double bars = 0;              // series of kBars
  double bar = 0;               // those before the present one
  std::vector<std::string> plots = {};
  std::string data = {};
};

// Lines "x y low high" or, of bars, "x y left right bottom top low high".
void AddData(const FigureSeries& series, const std::string& name, PanelWriter& writer) {
  writer.data += name + " << EOD\n";
  for (const FigurePoint& point : series.points) {
    std::vector<double> row = {point.x, point.y, point.low, point.high};
    if (series.style == SeriesStyle::kBars) {
      const double width = kGroupWidth / writer.bars;
      const double left = point.x - kGroupWidth / 2 + width * writer.bar;
      row = {left + width / 2, point.y, left, left + width, 0, point.y, point.low, point.high};
    } else if (series.style == SeriesStyle::kStack) {
      double& height = writer.stacked.at(static_cast<size_t>(point.x));
      row = {point.x,
             point.y,
             point.x - kGroupWidth / 2,
             point.x + kGroupWidth / 2,
             height,
             height + point.y,
             kNaN,
             kNaN};
      height += std::isfinite(point.y) ? point.y : 0;
    }
    for (size_t i = 0; i < row.size(); ++i) {
      writer.data += (i == 0 ? "" : " ") + DataNumber(row[i]);
    }
    writer.data += "\n";
  }
  writer.data += "EOD\n";
}

void AddPlots(const FigureSeries& series, size_t style, PanelWriter& writer) {
  const std::string data = fmt::format("${}_{}", writer.block, writer.plots.size());
  AddData(series, data, writer);
  const std::string title = " title " + Quoted(series.name);
  const std::string colour = fmt::format(" lc rgb '{}'", Cycled(kColours, style));
  const std::string line = fmt::format("{} lw 2 dt {}", colour, Cycled(kDashes, style));
  const std::string mark = fmt::format(" pt {} ps 0.8", Cycled(kMarks, style));
  const bool errors = HasErrors(series);
  const auto add = [&](const std::string& plot) { writer.plots.push_back(data + plot); };
  switch (series.style) {
    case SeriesStyle::kLine:
    case SeriesStyle::kLinePoints:
      if (errors) {
        add(" using 1:3:4 with filledcurves" + colour +
            " fs transparent solid 0.18 noborder notitle");
      }
      add(series.style == SeriesStyle::kLine ? " using 1:2 with lines" + line + title
                                             : " using 1:2 with linespoints" + line + mark + title);
      return;
    case SeriesStyle::kPoints:
      if (errors) {
        add(ErrorBars("1", 3, colour));
      }
      add(" using 1:2 with points" + colour + mark + title);
      return;
    case SeriesStyle::kSteps:
      add(" using 1:2 with histeps" + line + title);
      if (errors) {  // beside those of other series
        add(ErrorBars(fmt::format("($1+{})", DataNumber(ErrorShift(series, style))), 3, colour));
      }
      return;
    case SeriesStyle::kBars:
    case SeriesStyle::kStack:
      add(fmt::format(" using 1:2:3:4:5:6 with boxxyerror{} fs {} border lc rgb 'black'{}", colour,
                      Cycled(kFills, style), title));
      if (errors && series.style == SeriesStyle::kBars) {
        add(ErrorBars("1", 7, " lc rgb 'black'"));
      }
      return;
    case SeriesStyle::kGuide:
      add(" using 1:2 with lines lc rgb '#808080' lw 1.5 dt (4,4)" + title);
      return;
  }
}

// An axis on which all of a panel's numbers are equal, with some room around them: gnuplot needs a
// range.
FigureAxis WithRoom(FigureAxis axis, const FigurePanel& panel,
                    std::initializer_list<double FigurePoint::*> numbers) {
  double least = kNaN;
  double most = kNaN;
  for (const FigureSeries& series : panel.series) {
    for (const FigurePoint& point : series.points) {
      for (const auto number : numbers) {
        least = std::fmin(least, point.*number);  // NaN counts for nothing
        most = std::fmax(most, point.*number);
      }
    }
  }
  if (least == most && !axis.low && !axis.high) {
    const double room = axis.log ? least / 2 : 1;
    axis.low = least - room;
    axis.high = most + room;
  }
  return axis;
}

std::string RangeOf(const FigureAxis& axis) {
  return fmt::format("[{}:{}]", axis.low ? DataNumber(*axis.low) : "*",
                     axis.high ? DataNumber(*axis.high) : "*");
}

std::string Tics(const FigurePanel& panel) {
  if (panel.categories.empty()) {
    return "set xtics autofreq norotate\n";
  }
  size_t length = 0;
  std::string tics;
  for (size_t i = 0; i < panel.categories.size(); ++i) {
    length += panel.categories[i].size() + 2;
    tics += (i == 0 ? "" : ", ") + Quoted(panel.categories[i]) + fmt::format(" {}", i);
  }
  return fmt::format("set xtics {} ({})\n",
                     length > kLongCategories ? "rotate by 35 right" : "norotate", tics);
}

// Whether a number of the panel, or the end of its error, is negative.
bool GoesBelowZero(const FigurePanel& panel) {
  return std::any_of(panel.series.begin(), panel.series.end(), [](const FigureSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const FigurePoint& point) { return std::fmin(point.y, point.low) < 0; });
  });
}

std::string PanelScript(const FigurePanel& panel, size_t number) {
  PanelWriter writer{panel, fmt::format("panel{}", number),
                     std::vector<double>(panel.categories.size(), 0)};
  writer.bars = static_cast<double>(
      std::count_if(panel.series.begin(), panel.series.end(),
                    [](const FigureSeries& series) { return series.style == SeriesStyle::kBars; }));
  size_t style = 0;
  for (const FigureSeries& series : panel.series) {
    AddPlots(series, style, writer);
    writer.bar += series.style == SeriesStyle::kBars ? 1 : 0;
    style += series.style == SeriesStyle::kGuide ? 0 : 1;
  }
  const bool bars = std::any_of(panel.series.begin(), panel.series.end(), IsBar);
  std::string text = writer.data + "set title " + Quoted(panel.title) + "\nset xlabel " +
                     Quoted(panel.x.label) + " offset 0,0.3\nset ylabel " + Quoted(panel.y.label) +
                     "\n";
  text += panel.x.log ? "set logscale x 2\n" : "unset logscale x\n";
  text += Tics(panel);
  const std::string x_range =
      panel.categories.empty()
          ? RangeOf(WithRoom(panel.x, panel, {&FigurePoint::x}))
          : fmt::format("[-0.6:{}]", static_cast<double>(panel.categories.size()) - 0.4);
  FigureAxis y = WithRoom(panel.y, panel, {&FigurePoint::y, &FigurePoint::low, &FigurePoint::high});
  const bool below = GoesBelowZero(panel);
  if (bars && !y.low && !below) {
    y.low = 0;
  }
  text += bars && below ? "set xzeroaxis lt 1 lc rgb 'black'\n" : "unset xzeroaxis\n";
  if (y.low == 0.0 && !y.high) {
    y.high = TopOf(panel, writer.stacked);
  }
  const bool free = panel.categories.empty() && !panel.x.low && !panel.x.log;
  text += free ? "set offsets graph 0.04, graph 0.04, 0, 0\n" : "unset offsets\n";
  text += fmt::format("set xrange {}\nset yrange {}\nplot \\\n", x_range, RangeOf(y));
  for (size_t i = 0; i < writer.plots.size(); ++i) {
    text += "  " + writer.plots[i] + (i + 1 < writer.plots.size() ? ", \\\n" : "\n");
  }
  return text;
}

}  // namespace

std::string GnuplotScript(const Figure& figure) {
  const size_t panels = figure.panels.size();
  const size_t columns = panels <= 3 ? panels : (panels == 4 ? 2 : 3);
  const size_t rows = (panels + columns - 1) / columns;
  const int width = panels == 1 ? kOnlyPanelWidth : kPanelWidth * static_cast<int>(columns);
  const int height = kPanelHeight * static_cast<int>(rows) + kTitleHeight;
  std::string text =
      "# " + base::OneLine(figure.title) + "\n# " + base::OneLine(figure.finding) +
      "\nif (!exists('format')) format = 'svg'\nif (!exists('folder')) folder = ''\n";
  text += fmt::format(
      "if (format eq 'svg') {{ set terminal svg size {0},{1} font 'Helvetica,13' background "
      "'#ffffff' noenhanced }}\n"
      "if (format eq 'png') {{ set terminal pngcairo size {0},{1} font 'Helvetica,10' background "
      "'#ffffff' noenhanced }}\n"
      "if (format eq 'pdf') {{ set terminal pdfcairo size {2:.2f}in,{3:.2f}in font 'Helvetica,12' "
      "noenhanced }}\n",
      width, height, width / kPixelsPerInch, height / kPixelsPerInch);
  text += "set output folder.'" + figure.name + ".'.format\n";
  text +=
      "set termoption noenhanced\nset datafile missing 'NaN'\nset border 3\n"
      "set xtics nomirror\nset ytics nomirror\nset grid ytics lc rgb '#dddddd' lt 1 lw 0.5\n"
      "set key outside bottom center horizontal samplen 3 height 1\n";
  text += fmt::format("set multiplot layout {},{} title {}\n", rows, columns, Quoted(figure.title));
  for (size_t i = 0; i < panels; ++i) {
    text += PanelScript(figure.panels[i], i);
  }
  return text + "unset multiplot\nunset output\n";
}

}  // namespace hyper::eval

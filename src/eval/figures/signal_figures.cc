// The figure of signals by which a vote may tell right paths from wrong ones: ROC.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr int kRocSteps = 20;

// A number by which right paths may be told from wrong ones.
struct Signal {
  const char* name;
  double (*of)(const MaterialItem& item, size_t path);
};

double TailConfidence(const MaterialItem& item, size_t path) {
  const std::vector<double>& curve = item.curves[path];
  ValueSum sum;
  for (size_t i = curve.size() - curve.size() / 4; i < curve.size(); ++i) {
    if (std::isfinite(curve[i])) {
      sum.Add(curve[i]);
    }
  }
  return sum.count > 0 ? sum.sum / sum.count : kNaN;
}

constexpr std::array kSignals = {
    Signal{"mean confidence", [](const MaterialItem& item,
                                 size_t path) { return item.item.paths[path].mean_confidence; }},
    Signal{"lowest window", [](const MaterialItem& item,
                               size_t path) { return item.item.paths[path].lowest_window; }},
    Signal{"tail confidence", TailConfidence},
    Signal{"length", [](const MaterialItem& item,
                        size_t path) { return static_cast<double>(item.item.paths[path].tokens); }},
};

// Values of complete paths of a verdict; of one repeat, or of all where `repeat` is negative.
std::vector<double> SignalValues(const RunMaterial& run, const Signal& signal,
                                 StoredVerdict verdict, int repeat) {
  std::vector<double> values;
  for (const MaterialItem& item : run.items) {
    for (size_t path = 0; path < item.path_verdicts.size(); ++path) {
      const bool counts = (repeat < 0 || item.item.key.repeat == repeat) &&
                          item.path_verdicts[path] == verdict && IsComplete(item.item.paths[path]);
      const double value = counts ? signal.of(item, path) : kNaN;
      if (std::isfinite(value)) {
        values.push_back(value);
      }
    }
  }
  return values;
}

bool HasBothVerdicts(const RunMaterial& run) {
  return !SignalValues(run, kSignals[0], StoredVerdict::kRight, -1).empty() &&
         !SignalValues(run, kSignals[0], StoredVerdict::kWrong, -1).empty();
}

// The share of right values at or above the threshold that a share `false_rate` of the wrong ones
// reaches, linearly between the corners of the ROC curve.
double TrueRate(std::vector<double> right, std::vector<double> wrong, double false_rate) {
  std::sort(right.rbegin(), right.rend());
  std::sort(wrong.rbegin(), wrong.rend());
  std::set<double, std::greater<>> thresholds(right.begin(), right.end());
  thresholds.insert(wrong.begin(), wrong.end());
  double last_x = 0;
  double last_y = 0;
  size_t passed_right = 0;
  size_t passed_wrong = 0;
  for (const double threshold : thresholds) {
    while (passed_right < right.size() && right[passed_right] >= threshold) {
      ++passed_right;
    }
    while (passed_wrong < wrong.size() && wrong[passed_wrong] >= threshold) {
      ++passed_wrong;
    }
    const double x = static_cast<double>(passed_wrong) / static_cast<double>(wrong.size());
    const double y = static_cast<double>(passed_right) / static_cast<double>(right.size());
    if (x > false_rate) {
      return last_y + (y - last_y) * (false_rate - last_x) / (x - last_x);
    }
    last_x = x;
    last_y = y;
  }
  return last_y;
}

FigureSeries RocSeries(const RunMaterial& run, const Signal& signal, double area) {
  FigureSeries series{fmt::format("{} (area {:.2f})", signal.name, area), SeriesStyle::kLine, {}};
  std::vector<std::pair<std::vector<double>, std::vector<double>>> repeats;
  for (int repeat = 0; repeat < run.repeats; ++repeat) {
    auto right = SignalValues(run, signal, StoredVerdict::kRight, repeat);
    auto wrong = SignalValues(run, signal, StoredVerdict::kWrong, repeat);
    if (!right.empty() && !wrong.empty()) {
      repeats.emplace_back(std::move(right), std::move(wrong));
    }
  }
  for (int step = 0; step <= kRocSteps; ++step) {
    const double rate = static_cast<double>(step) / kRocSteps;
    std::vector<std::vector<ValueSum>> rates;
    for (const auto& [right, wrong] : repeats) {
      rates.push_back({{TrueRate(right, wrong, rate), 1}});
    }
    series.points.push_back(PointOf(kToPercent * rate, Scaled(EstimateMean(rates), kToPercent)));
  }
  return series;
}

}  // namespace

Result<Figure> RocFigure(const StudyMaterial& material) {
  const std::vector<const RunMaterial*> rows =
      FirstOfMethods(material, kMostPanels, HasBothVerdicts);
  if (rows.empty()) {
    return NotInStudy("no row has right and wrong paths with stored confidences");
  }
  Figure figure;
  for (const RunMaterial* run : rows) {
    FigurePanel panel{run->run().label,
                      {"wrong paths kept (%)", 0, kToPercent, false},
                      {"right paths kept (%)", 0, kToPercent, false},
                      {},
                      {{"chance", SeriesStyle::kGuide, {{0, 0}, {kToPercent, kToPercent}}}}};
    std::string best;
    double largest = 0;
    for (const Signal& signal : kSignals) {
      const double area = RocArea(SignalValues(*run, signal, StoredVerdict::kRight, -1),
                                  SignalValues(*run, signal, StoredVerdict::kWrong, -1));
      if (!std::isfinite(area)) {
        continue;
      }
      panel.series.push_back(RocSeries(*run, signal, area));
      if (area > largest) {
        largest = area;
        best = signal.name;
      }
    }
    figure.finding +=
        fmt::format("{}{}: {} tells right paths from wrong ones best (area {:.2f})",
                    figure.finding.empty() ? "" : "; ", run->run().label, best, largest);
    figure.panels.push_back(std::move(panel));
  }
  figure.finding += ".";
  figure.notes = {"Paths that came to their end; bands only where there are several repeats.",
                  "Tail confidence: the mean over the last quarter of a path."};
  return figure;
}

}  // namespace hyper::eval

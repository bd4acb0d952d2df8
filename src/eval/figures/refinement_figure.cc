// The figure of ways to refine tokens: 11.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr int kDecisionPlaces = 10;

enum class Refinement { kTwoPass, kIndependent, kNone };
constexpr std::array kRefinementNames = {"two-pass", "independent draws", "none"};

// Share of a row's generated tokens that several routes made.
double RefinedShare(const RunMaterial& run) {
  double refined = 0;
  double generated = 0;
  for (const MaterialItem& item : run.items) {
    refined += static_cast<double>(item.item.ledger.refined);
    generated += static_cast<double>(item.item.ledger.generated);
  }
  return generated > 0 ? refined / generated : 0;
}

// Whether a row refines so: it has refined tokens, and its option says by what sampling. A row that
// refines none is one of independent paths.
bool Refines(const RunMaterial& run, Refinement way) {
  if (way == Refinement::kNone) {
    return RefinedShare(run) == 0 && HasIndependentPaths(run);
  }
  const bool two_pass = OptionOf(run.run(), "two-pass") == "true";
  return RefinedShare(run) > 0 && two_pass == (way == Refinement::kTwoPass);
}

// The row that refines so most, of equal ones the first; null where there is none.
const RunMaterial* RowThatRefines(const StudyMaterial& material, Refinement way) {
  const RunMaterial* found = nullptr;
  for (const RunMaterial& run : material.runs) {
    if (Refines(run, way) && (found == nullptr || RefinedShare(run) > RefinedShare(*found))) {
      found = &run;
    }
  }
  return found;
}

FigureSeries ConfidenceAlong(const RunMaterial& run, const std::string& name) {
  FigureSeries series{name, SeriesStyle::kLine, {}};
  for (size_t place = 0; place < kCurvePlaces; ++place) {
    const Estimate estimate = EstimatePaths(run, [place](const MaterialItem& item, size_t path) {
      const bool counts = !item.curves[path].empty() && IsComplete(item.item.paths[path]);
      return counts ? item.curves[path][place] : kNaN;
    });
    series.points.push_back(PointOf((static_cast<double>(place) + 0.5) / kCurvePlaces, estimate));
  }
  return series;
}

FigureSeries DiversityAlong(const RunMaterial& run, const std::string& name) {
  FigureSeries series{name, SeriesStyle::kLine, {}};
  for (size_t place = 0; place < kDecisionPlaces; ++place) {
    const Estimate estimate = EstimateItems(run, [place](const MaterialItem& item, ValueSum& sum) {
      std::vector<float> diversity;
      for (const DecisionRecord& decision : item.item.decisions) {
        diversity.push_back(static_cast<float>(decision.raw.diversity));
      }
      const double value = NormalisedCurve(diversity, kDecisionPlaces)[place];
      if (std::isfinite(value)) {
        sum.Add(value);
      }
    });
    series.points.push_back(
        PointOf((static_cast<double>(place) + 0.5) / kDecisionPlaces, estimate));
  }
  return series;
}

// The mean over the last quarter of a series.
double TailMean(const FigureSeries& series) {
  ValueSum sum;
  for (size_t i = series.points.size() - series.points.size() / 4; i < series.points.size(); ++i) {
    if (std::isfinite(series.points[i].y)) {
      sum.Add(series.points[i].y);
    }
  }
  return sum.count > 0 ? sum.sum / sum.count : kNaN;
}

}  // namespace

Result<Figure> RefinementFigure(const StudyMaterial& material) {
  if (RowThatRefines(material, Refinement::kTwoPass) == nullptr ||
      RowThatRefines(material, Refinement::kIndependent) == nullptr) {
    return NotInStudy(
        "it takes a row that refines by two-pass sampling and one by independent draws; record "
        "them: --methods hyper,hyper-roe-sampling,roe");
  }
  Figure figure;
  FigurePanel confidence{"confidence",
                         {"position in the path (share of its length)", 0, 1, false},
                         {"confidence (nats)"},
                         {},
                         {}};
  FigurePanel diversity{"diversity",
                        {"decision (share of an answer's decisions)", 0, 1, false},
                        {"diversity D of the pool"},
                        {},
                        {}};
  for (size_t way = 0; way < kRefinementNames.size(); ++way) {
    const RunMaterial* run = RowThatRefines(material, static_cast<Refinement>(way));
    if (run == nullptr) {
      continue;
    }
    const std::string name = fmt::format("{} ({})", kRefinementNames[way], run->run().label);
    confidence.series.push_back(ConfidenceAlong(*run, name));
    diversity.series.push_back(DiversityAlong(*run, name));
    figure.finding +=
        fmt::format("{}{}: {:.2f} nats over the last quarter", figure.finding.empty() ? "" : "; ",
                    name, TailMean(confidence.series.back()));
    const double tail = TailMean(diversity.series.back());
    figure.finding += std::isfinite(tail) ? fmt::format(", diversity {:.3f}", tail) : "";
  }
  figure.finding += ".";
  figure.notes = {"The row of each kind that refines most; diversity only of rows with decisions."};
  figure.panels = {std::move(confidence), std::move(diversity)};
  return figure;
}

}  // namespace hyper::eval

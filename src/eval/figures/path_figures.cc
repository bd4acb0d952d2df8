// Figures of right and wrong paths: 1, 2, 4 and 7.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/core/quantile.h"
#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr size_t kMostRows = 6;  // lines in a panel
constexpr int kLengthBins = 16;
constexpr const char* kNothingPruned =
    "no row has pruned paths beside right and wrong ones that survived; record one: --methods "
    "hyper,deepconf";
constexpr size_t kQuarter = kCurvePlaces / 4;

// Powers of two up to the number of paths, and that number.
std::vector<int> PathCounts(int paths) {
  std::vector<int> counts;
  for (int count = 1; count < paths; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(paths);
  return counts;
}

// The mean over questions of an estimator at k.
template <class Estimator>
Estimate AtPaths(const RunMaterial& run, Estimator estimator) {
  std::vector<std::vector<double>> shares(static_cast<size_t>(run.repeats));
  for (size_t i = 0; i < run.samples.size(); ++i) {
    const auto repeat = static_cast<size_t>(run.items[i].item.key.repeat);
    shares.at(repeat).push_back(estimator(run.samples[i]).value_or(kNaN));
  }
  return Scaled(EstimateShare(shares), kToPercent);
}

std::string PathsFinding(const std::string& label, const FigureSeries& existence,
                         const FigureSeries& accuracy) {
  const FigurePoint& last = accuracy.points.back();
  const FigurePoint& before = accuracy.points[accuracy.points.size() - 2];
  return fmt::format(
      "{}: from 1 path to {:g} the probability that a right one is there goes from {} to {} %, the "
      "accuracy of the vote from {} to {} %; the step from {:g} to {:g} adds {} points of "
      "accuracy.",
      label, last.x, Short(existence.points.front().y), Short(existence.points.back().y),
      Short(accuracy.points.front().y), Short(last.y), before.x, last.x, Short(last.y - before.y));
}

// Whether the row has confidences along right paths and along wrong ones.
bool HasCurves(const RunMaterial& run) {
  bool right = false;
  bool wrong = false;
  for (const MaterialItem& item : run.items) {
    for (size_t path = 0; path < item.curves.size(); ++path) {
      const bool curve = !item.curves[path].empty() && IsComplete(item.item.paths[path]);
      right = right || (curve && item.path_verdicts[path] == StoredVerdict::kRight);
      wrong = wrong || (curve && item.path_verdicts[path] == StoredVerdict::kWrong);
    }
  }
  return right && wrong;
}

FigureSeries CurveOfPaths(const RunMaterial& run, StoredVerdict verdict, const std::string& name) {
  FigureSeries series{name, SeriesStyle::kLine, {}};
  for (size_t place = 0; place < kCurvePlaces; ++place) {
    const Estimate estimate = EstimatePaths(run, [&](const MaterialItem& item, size_t path) {
      const bool counts = item.path_verdicts[path] == verdict && !item.curves[path].empty() &&
                          IsComplete(item.item.paths[path]);
      return counts ? item.curves[path][place] : kNaN;
    });
    const double x = (static_cast<double>(place) + 0.5) / kCurvePlaces;
    series.points.push_back(PointOf(x, estimate));
  }
  return series;
}

// Mean height of points [first, first + count) of `a` above those of `b`.
double MeanGap(const FigureSeries& a, const FigureSeries& b, size_t first, size_t count) {
  double sum = 0;
  for (size_t i = first; i < first + count; ++i) {
    sum += a.points[i].y - b.points[i].y;
  }
  return sum / static_cast<double>(count);
}

// Some paths of a row.
struct PathChoice {
  const RunMaterial* run = nullptr;
  bool (*chosen)(const StoredPath&) = nullptr;
  std::string title;
};

Estimate MeanLength(const PathChoice& choice, StoredVerdict verdict) {
  return EstimatePaths(*choice.run, [&](const MaterialItem& item, size_t path) {
    const StoredPath& stored = item.item.paths[path];
    return item.path_verdicts[path] == verdict && choice.chosen(stored)
               ? static_cast<double>(stored.tokens)
               : kNaN;
  });
}

int CountPaths(const PathChoice& choice, StoredVerdict verdict) {
  int count = 0;
  for (const MaterialItem& item : choice.run->items) {
    for (size_t path = 0; path < item.path_verdicts.size(); ++path) {
      count += item.path_verdicts[path] == verdict && choice.chosen(item.item.paths[path]) ? 1 : 0;
    }
  }
  return count;
}

// Share of the paths of that verdict in each stretch of lengths.
FigureSeries LengthHistogram(const PathChoice& choice, StoredVerdict verdict,
                             const std::string& name, double bin_tokens) {
  FigureSeries series{
      fmt::format("{} ({} paths)", name, CountPaths(choice, verdict)), SeriesStyle::kSteps, {}};
  for (int bin = 0; bin < kLengthBins; ++bin) {
    const Estimate estimate =
        EstimatePaths(*choice.run, [&](const MaterialItem& item, size_t path) {
          const StoredPath& stored = item.item.paths[path];
          if (item.path_verdicts[path] != verdict || !choice.chosen(stored)) {
            return kNaN;
          }
          return static_cast<int>(stored.tokens / bin_tokens) == bin ? 1.0 : 0.0;
        });
    series.points.push_back(PointOf((bin + 0.5) * bin_tokens, Scaled(estimate, kToPercent)));
  }
  return series;
}

bool IsPruned(const StoredPath& path) { return path.status == PathStatus::kPruned; }
bool Survived(const StoredPath& path) { return IsComplete(path) && !path.warmup; }
bool IsWarmup(const StoredPath& path) { return IsComplete(path) && path.warmup; }

// Whether a row has pruned paths, and right and wrong ones that survived.
bool Prunes(const RunMaterial& run) {
  const bool prunes = std::any_of(run.items.begin(), run.items.end(), [](const MaterialItem& item) {
    return std::any_of(item.item.paths.begin(), item.item.paths.end(), IsPruned);
  });
  const PathChoice survivors{&run, Survived, ""};
  return prunes && CountPaths(survivors, StoredVerdict::kRight) > 0 &&
         CountPaths(survivors, StoredVerdict::kWrong) > 0;
}

// The paths that a pruning row would have had without pruning: those of a row of independent paths
// of the same suite and model, else the row's own warm-up.
PathChoice BeforePruning(const StudyMaterial& material, const RunMaterial& pruned) {
  for (const RunMaterial* run : IndependentRows(material)) {
    if (run->run().suite == pruned.run().suite && run->run().model == pruned.run().model) {
      return {run, IsComplete, "before pruning: " + run->run().label};
    }
  }
  return {&pruned, IsWarmup, "before pruning: warm-up of " + pruned.run().label};
}

// Pools before and after pruning: that of BeforePruning, and the survivors of at most two rows.
std::vector<PathChoice> PruningChoices(const StudyMaterial& material) {
  std::vector<PathChoice> choices;
  for (const RunMaterial* run : FirstOfMethods(material, 2, Prunes)) {
    if (choices.empty()) {
      PathChoice before = BeforePruning(material, *run);
      if (CountPaths(before, StoredVerdict::kRight) + CountPaths(before, StoredVerdict::kWrong) ==
          0) {
        continue;  // it prunes without a warm-up: there is nothing to compare with
      }
      choices.push_back(std::move(before));
    }
    choices.push_back({run, Survived, "after pruning: " + run->run().label});
  }
  return choices;
}

// The median length of the paths of a choice, in tokens.
double MedianLengthOf(const PathChoice& choice) {
  std::vector<double> lengths;
  for (const MaterialItem& item : choice.run->items) {
    for (const StoredPath& path : item.item.paths) {
      if (choice.chosen(path)) {
        lengths.push_back(path.tokens);
      }
    }
  }
  return Quantile(std::move(lengths), 0.5);
}

// The width of a bin, in tokens, with which all lengths of the choices fit.
double BinWidth(const std::vector<PathChoice>& choices) {
  int longest = 0;
  for (const PathChoice& choice : choices) {
    for (const MaterialItem& item : choice.run->items) {
      for (const StoredPath& path : item.item.paths) {
        longest = std::max(longest, choice.chosen(path) ? path.tokens : 0);
      }
    }
  }
  return std::ceil((longest + 1.0) / kLengthBins);
}

}  // namespace

Result<Figure> PathsFigure(const StudyMaterial& material) {
  std::vector<const RunMaterial*> rows = IndependentRows(material);
  if (rows.empty()) {
    return NotInStudy("no row has several complete, independent paths; record one: --methods sc");
  }
  rows.resize(std::min(rows.size(), kMostRows));
  Figure figure;
  FigurePanel existence{"existence: a right path among k (pass@k)",
                        {kPathsAxis, {}, {}, /*log=*/true},
                        {"probability (%)"},
                        {},
                        {}};
  FigurePanel accuracy{"accuracy of the majority of k (maj@k)",
                       {kPathsAxis, {}, {}, /*log=*/true},
                       {kAccuracyAxis},
                       {},
                       {}};
  for (const RunMaterial* run : rows) {
    FigureSeries there{run->run().label, SeriesStyle::kLinePoints, {}};
    FigureSeries voted = there;
    for (const int k : PathCounts(run->samples.front().total())) {
      there.points.push_back(PointOf(k, AtPaths(*run, [k](const SampleCounts& item) {
                                       return PassAtK(item.total(), item.right, k);
                                     })));
      voted.points.push_back(PointOf(k, AtPaths(*run, [k](const SampleCounts& item) {
                                       return MajorityAtK(item.right, item.others, item.silent, k);
                                     })));
    }
    if (figure.finding.empty()) {
      figure.finding = PathsFinding(run->run().label, there, voted);
    }
    existence.series.push_back(std::move(there));
    accuracy.series.push_back(std::move(voted));
  }
  figure.panels = {std::move(existence), std::move(accuracy)};
  return figure;
}

Result<Figure> DivergenceFigure(const StudyMaterial& material) {
  const std::vector<const RunMaterial*> rows = FirstOfMethods(material, kMostPanels, HasCurves);
  if (rows.empty()) {
    return NotInStudy(
        "no row has stored confidences of right and of wrong paths; paths that are replayed from a "
        "pool have none, so record with --live");
  }
  Figure figure;
  for (const RunMaterial* run : rows) {
    FigurePanel panel{run->run().label,
                      {"position in the path (share of its length)", 0, 1, false},
                      {"confidence (nats)"},
                      {},
                      {CurveOfPaths(*run, StoredVerdict::kRight, "right paths"),
                       CurveOfPaths(*run, StoredVerdict::kWrong, "wrong paths")}};
    const double early = MeanGap(panel.series[0], panel.series[1], 0, kQuarter);
    const double late =
        MeanGap(panel.series[0], panel.series[1], kCurvePlaces - kQuarter, kQuarter);
    figure.finding += fmt::format(
        "{}{}: confidence of right paths minus that of wrong paths, {:+.2f} nats over the first "
        "quarter, {:+.2f} over the last",
        figure.finding.empty() ? "" : "; ", run->run().label, early, late);
    figure.panels.push_back(std::move(panel));
  }
  figure.finding += ".";
  figure.notes = {"Only paths that came to their end."};
  return figure;
}

Result<Figure> LongWrongFigure(const StudyMaterial& material) {
  const std::vector<PathChoice> choices = PruningChoices(material);
  if (choices.empty()) {
    return NotInStudy(kNothingPruned);
  }
  const double median = MedianLengthOf(choices.front());
  FigurePanel panel{
      fmt::format("paths longer than {:g} tokens", median),
      {"paths"},
      {"share that is wrong (%)", 0, kToPercent, false},
      {},
      {{"long paths", SeriesStyle::kBars, {}}, {"all paths", SeriesStyle::kBars, {}}}};
  Figure figure;
  for (const PathChoice& choice : choices) {
    const auto wrong = [&](double from) {
      return Scaled(
          EstimatePaths(*choice.run,
                        [&](const MaterialItem& item, size_t path) {
                          const StoredPath& stored = item.item.paths[path];
                          const StoredVerdict verdict = item.path_verdicts[path];
                          const bool counts = choice.chosen(stored) && stored.tokens > from &&
                                              (verdict == StoredVerdict::kRight ||
                                               verdict == StoredVerdict::kWrong);
                          return counts ? (verdict == StoredVerdict::kWrong ? 1.0 : 0.0) : kNaN;
                        }),
          kToPercent);
    };
    const auto place = static_cast<double>(panel.categories.size());
    panel.categories.push_back((place == 0 ? "before: " : "after: ") + choice.run->run().label);
    panel.series[0].points.push_back(PointOf(place, wrong(median)));
    panel.series[1].points.push_back(PointOf(place, wrong(-1)));
    figure.finding +=
        fmt::format("{}{}: {} % of the long paths are wrong, {} % of all",
                    figure.finding.empty() ? "" : "; ", choice.title,
                    Short(panel.series[0].points.back().y), Short(panel.series[1].points.back().y));
  }
  figure.finding += ".";
  figure.notes = {"Long: over the median length of the paths before pruning."};
  figure.panels.push_back(std::move(panel));
  return figure;
}

Result<Figure> LengthsFigure(const StudyMaterial& material) {
  const std::vector<PathChoice> choices = PruningChoices(material);
  if (choices.empty()) {
    return NotInStudy(kNothingPruned);
  }
  const double bin_tokens = BinWidth(choices);
  Figure figure;
  for (const PathChoice& choice : choices) {
    const double right = MeanLength(choice, StoredVerdict::kRight).mean;
    const double wrong = MeanLength(choice, StoredVerdict::kWrong).mean;
    figure.finding +=
        fmt::format("{}{}: right paths have {} tokens, wrong ones {}",
                    figure.finding.empty() ? "" : "; ", choice.title, Short(right), Short(wrong));
    figure.panels.push_back(
        {choice.title,
         {"length (tokens)", 0, kLengthBins * bin_tokens, false},
         {"share of these paths (%)", 0, {}, false},
         {},
         {LengthHistogram(choice, StoredVerdict::kRight, "right", bin_tokens),
          LengthHistogram(choice, StoredVerdict::kWrong, "wrong", bin_tokens)}});
  }
  figure.finding += ".";
  figure.notes = {"After pruning: paths that came to their end and are no warm-up."};
  return figure;
}

}  // namespace hyper::eval

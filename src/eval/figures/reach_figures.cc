// Figures of how soon: tokens to an accuracy, and the time from which an answer stayed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "hyper/types.h"
#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr size_t kMostTargets = 8;
// Targets are a whole number of these parts of accuracy 1; finer ones where few targets fit.
constexpr int kTargetParts[] = {20, 100};
constexpr double kRounding = 1e-9;
constexpr int kSettledPlaces = 20;

// Accuracy over tokens of a method, by tokens.
struct Reach {
  std::string name;
  std::vector<std::pair<double, double>> points;  // tokens, accuracy
};

// Whether a row's answers are the plain majority of paths that were decoded side by side.
bool IsMajority(const RunMaterial& run) {
  return run.run().method == "sc" && HasIndependentPaths(run) &&
         std::all_of(run.items.begin(), run.items.end(), [](const MaterialItem& item) {
           return item.item.vote_rule == NameOf(VoteRule::kMajority);
         });
}

// Rows of a model and suite by method. Of a majority of independent paths, the row with most of
// them, any number is a point: the majority of k of them, for their tokens.
std::vector<Reach> ReachOfMethods(const StudyMaterial& material, const StoredRun& like) {
  std::map<std::string, Reach> by_method;
  const RunMaterial* widest = nullptr;
  for (const RunMaterial& run : material.runs) {
    if (run.run().model != like.model || run.run().suite != like.suite) {
      continue;
    }
    Reach& reach = by_method[run.run().method];
    reach.name = run.run().method;
    reach.points.emplace_back(run.summary.effective_tokens, run.summary.accuracy.mean);
    const bool wider =
        widest == nullptr || run.samples.front().total() > widest->samples.front().total();
    widest = wider && IsMajority(run) ? &run : widest;
  }
  const int paths = widest == nullptr ? 0 : widest->samples.front().total();
  for (int k = 1; k < paths; ++k) {
    by_method[widest->run().method].points.emplace_back(
        widest->summary.effective_tokens * k / paths, MeanMajorityAtK(widest->samples, k));
  }
  std::vector<Reach> all;
  for (auto& [method, reach] : by_method) {
    std::sort(reach.points.begin(), reach.points.end());
    all.push_back(std::move(reach));
  }
  return all;
}

// Tokens for which a method reaches an accuracy: those of its first point that has it, linearly
// from the best one before. Nothing where none has.
std::optional<double> TokensTo(const Reach& reach, double target) {
  const std::pair<double, double>* best = nullptr;
  for (const auto& point : reach.points) {
    if (point.second >= target - kRounding) {
      return best == nullptr ? point.first
                             : best->first + (point.first - best->first) * (target - best->second) /
                                                 (point.second - best->second);
    }
    best = best == nullptr || point.second > best->second ? &point : best;
  }
  return std::nullopt;
}

double BestOf(const Reach& reach) {
  double best = 0;
  for (const auto& point : reach.points) {
    best = std::max(best, point.second);
  }
  return best;
}

// Accuracies worth asking for: above where some method begins, and reached by one; the highest.
std::vector<double> Targets(const std::vector<Reach>& all) {
  double first = 1;
  double most = 0;
  for (const Reach& reach : all) {
    first = std::min(first, reach.points.front().second);
    most = std::max(most, BestOf(reach));
  }
  std::vector<double> targets;
  for (const int parts : kTargetParts) {
    targets.clear();
    for (auto place = static_cast<int>(std::floor(most * parts + kRounding)); place > 0; --place) {
      const double target = static_cast<double>(place) / parts;
      if (target > first && targets.size() < kMostTargets) {
        targets.insert(targets.begin(), target);
      }
    }
    if (targets.size() > 1) {
      break;
    }
  }
  return targets;
}

// The panel of a model and suite; the finding is that of the highest accuracy that most reach.
FigurePanel TargetPanel(const StoredRun& like, const std::vector<Reach>& all,
                        const std::vector<double>& targets, std::string& finding) {
  FigurePanel panel{like.suite + ", " + like.model,
                    {kAccuracyAxis},
                    {"effective tokens per question", 0},
                    {},
                    {}};
  for (const double target : targets) {
    panel.categories.push_back(fmt::format("{:g}", kToPercent * target));
  }
  std::vector<int> reached(targets.size(), 0);
  for (const Reach& reach : all) {
    FigureSeries series{reach.name, SeriesStyle::kBars, {}};
    for (size_t i = 0; i < targets.size(); ++i) {
      const std::optional<double> tokens = TokensTo(reach, targets[i]);
      reached[i] += tokens ? 1 : 0;
      series.points.push_back({static_cast<double>(i), tokens.value_or(kNaN), kNaN, kNaN});
    }
    panel.series.push_back(std::move(series));
  }
  const auto most = std::max_element(reached.rbegin(), reached.rend());
  if (most == reached.rend()) {
    return panel;
  }
  const auto place = static_cast<size_t>(reached.rend() - most) - 1;
  std::string tokens;
  for (const Reach& reach : all) {
    if (const std::optional<double> needed = TokensTo(reach, targets[place])) {
      tokens += fmt::format("{}{} {:.0f}", tokens.empty() ? "" : ", ", reach.name, *needed);
    }
  }
  finding += fmt::format("{}{}: tokens to {:g} %: {}", finding.empty() ? "" : "; ", like.suite,
                         kToPercent * targets[place], tokens);
  return panel;
}

// The share of the longest path's length from which on the majority of the paths that have ended
// names the answer of the run; NaN where it has none, or a tie gave it another. A tie of paths
// changes nothing.
double SettledAt(const MaterialItem& item) {
  std::vector<const StoredPath*> ended;
  for (const StoredPath& path : item.item.paths) {
    if (IsComplete(path)) {
      ended.push_back(&path);
    }
  }
  std::stable_sort(ended.begin(), ended.end(),
                   [](const StoredPath* a, const StoredPath* b) { return a->tokens < b->tokens; });
  std::map<std::string, int> votes;
  std::string leader;
  double since = kNaN;
  for (const StoredPath* path : ended) {
    if (!path->answer) {
      continue;
    }
    const int count = ++votes[*path->answer];
    if (*path->answer != leader && (leader.empty() || count > votes[leader])) {
      leader = *path->answer;
      since = path->tokens;
    }
  }
  return leader.empty() || item.item.answer != leader ? kNaN : since / ended.back()->tokens;
}

}  // namespace

Result<Figure> TargetFigure(const StudyMaterial& material) {
  Figure figure;
  std::vector<std::pair<std::string, std::string>> drawn;
  for (const RunMaterial& run : material.runs) {
    const std::pair place(run.run().model, run.run().suite);
    if (std::find(drawn.begin(), drawn.end(), place) != drawn.end() ||
        drawn.size() == kMostPanels) {
      continue;
    }
    drawn.push_back(place);
    const std::vector<Reach> all = ReachOfMethods(material, run.run());
    const std::vector<double> targets = Targets(all);
    if (all.size() > 1 && !targets.empty()) {
      figure.panels.push_back(TargetPanel(run.run(), all, targets, figure.finding));
    }
  }
  if (figure.panels.empty()) {
    return NotInStudy("the study has one method only, or no method gains from more tokens");
  }
  figure.finding += ".";
  figure.notes = {
      "Between two rows of a method tokens are interpolated; a single row costs what it costs. "
      "Rows "
      "of independent paths are taken at every number of them. A method without a bar does not "
      "reach "
      "that accuracy."};
  return figure;
}

Result<Figure> SettledFigure(const StudyMaterial& material) {
  FigurePanel panel{"",
                    {"share of the longest path's length (%)", 0, kToPercent, false},
                    {"answers that no longer change (%)", 0, kToPercent, false},
                    {},
                    {}};
  Figure figure;
  for (const RunMaterial* run : FirstOfMethods(material, kMostPanels, IsMajority)) {
    FigureSeries series{run->run().label, SeriesStyle::kLine, {}};
    double half = kNaN;
    for (int place = 0; place <= kSettledPlaces; ++place) {
      const double share = static_cast<double>(place) / kSettledPlaces;
      const Estimate settled =
          Scaled(EstimateItems(*run,
                               [share](const MaterialItem& item, ValueSum& sum) {
                                 const double at = SettledAt(item);
                                 if (std::isfinite(at)) {
                                   sum.Add(at <= share ? 1 : 0);
                                 }
                               }),
                 kToPercent);
      half = std::isnan(half) && settled.mean >= kToPercent / 2 ? kToPercent * share : half;
      series.points.push_back(PointOf(kToPercent * share, settled));
    }
    if (std::isnan(half)) {
      continue;
    }
    figure.finding += fmt::format(
        "{}{}: half of the answers no longer change after {:g} % of the longest path's length",
        figure.finding.empty() ? "" : "; ", run->run().label, half);
    panel.series.push_back(std::move(series));
  }
  if (panel.series.empty() || figure.finding.empty()) {
    return NotInStudy("no row is a majority of independent paths; record one: --methods sc");
  }
  figure.finding += ".";
  figure.panels.push_back(std::move(panel));
  figure.notes = {
      "Paths side by side; the answer is that of most paths which have ended. Answers that a tie "
      "gave "
      "are left out."};
  return figure;
}

}  // namespace hyper::eval

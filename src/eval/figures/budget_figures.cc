// Figures of what rows cost: 8, and where the tokens went.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr double kLogFrom = 8;  // ratio of costs from which on their axis is logarithmic

// Rows of one model and one suite.
using Place = std::pair<std::string, std::string>;
using RowsOfPlace = std::vector<const RunMaterial*>;

std::map<Place, RowsOfPlace> ByPlace(const StudyMaterial& material) {
  std::map<Place, RowsOfPlace> places;
  for (const RunMaterial& run : material.runs) {
    places[{run.run().model, run.run().suite}].push_back(&run);
  }
  return places;
}

// Takes out rows with less than half of the questions of the largest, whose accuracies say nothing
// beside its, and names them in `notes`.
void DropBarelyBegun(RowsOfPlace& rows, std::vector<std::string>& notes) {
  int most = 0;
  for (const RunMaterial* run : rows) {
    most = std::max(most, run->summary.accuracy.questions);
  }
  std::erase_if(rows, [&](const RunMaterial* run) {
    const int questions = run->summary.accuracy.questions;
    const bool begun = 2 * questions < most;
    if (begun) {
      notes.push_back(
          fmt::format("Left out: {}, with {} of {} questions.", run->run().label, questions, most));
    }
    return begun;
  });
}

// Accuracy in percent against effective tokens; the error is that of the tables.
FigurePoint BudgetPoint(const RunSummary& summary) {
  const Accuracy& accuracy = summary.accuracy;
  Estimate estimate{accuracy.mean, accuracy.mean - accuracy.std_dev,
                    accuracy.mean + accuracy.std_dev};
  if (accuracy.repeats < 2) {
    estimate = {accuracy.mean, accuracy.interval.low, accuracy.interval.high};
  }
  return PointOf(summary.effective_tokens, Scaled(estimate, kToPercent));
}

// Whether the rows differ in nothing but how many paths they have.
bool DifferInWidth(const RowsOfPlace& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const RunMaterial* run) {
    const std::vector<std::string> names = Differences(rows.front()->run(), run->run());
    return names.empty() || names == std::vector<std::string>{"width"};
  });
}

// A series for each method, joined by lines where its rows differ in width alone.
std::vector<FigureSeries> SeriesOfMethods(const RowsOfPlace& rows) {
  std::vector<std::string> methods;
  std::map<std::string, RowsOfPlace> by_method;
  for (const RunMaterial* run : rows) {
    RowsOfPlace& same = by_method[run->run().method];
    if (same.empty()) {
      methods.push_back(run->run().method);
    }
    same.push_back(run);
  }
  std::vector<FigureSeries> all;
  for (const std::string& method : methods) {
    const RowsOfPlace& same = by_method[method];
    FigureSeries series{
        same.size() == 1 ? same[0]->run().label : method,
        same.size() > 1 && DifferInWidth(same) ? SeriesStyle::kLinePoints : SeriesStyle::kPoints,
        {}};
    for (const RunMaterial* run : same) {
      series.points.push_back(BudgetPoint(run->summary));
    }
    std::sort(series.points.begin(), series.points.end(),
              [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
    all.push_back(std::move(series));
  }
  return all;
}

// The rows that no other one beats: none is as accurate for fewer tokens, or more accurate for as
// many. By tokens.
RowsOfPlace Frontier(RowsOfPlace rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const RunMaterial* a, const RunMaterial* b) {
    return a->summary.effective_tokens < b->summary.effective_tokens ||
           (a->summary.effective_tokens == b->summary.effective_tokens &&
            a->summary.accuracy.mean > b->summary.accuracy.mean);
  });
  RowsOfPlace frontier;
  for (const RunMaterial* run : rows) {
    if (frontier.empty() || run->summary.accuracy.mean > frontier.back()->summary.accuracy.mean) {
      frontier.push_back(run);
    }
  }
  return frontier;
}

FigurePanel BudgetPanel(const Place& place, const RowsOfPlace& rows, const RowsOfPlace& frontier) {
  FigurePanel panel{place.second + ", " + place.first,
                    {"effective tokens per question"},
                    {kAccuracyAxis},
                    {},
                    {}};
  FigureSeries line{"frontier", SeriesStyle::kGuide, {}};
  for (const RunMaterial* run : frontier) {
    line.points.push_back(
        {run->summary.effective_tokens, kToPercent * run->summary.accuracy.mean, kNaN, kNaN});
  }
  if (line.points.size() > 1) {
    panel.series.push_back(std::move(line));
  }
  for (FigureSeries& series : SeriesOfMethods(rows)) {
    panel.series.push_back(std::move(series));
  }
  double least = rows.front()->summary.effective_tokens;
  double most = least;
  for (const RunMaterial* run : rows) {
    least = std::min(least, run->summary.effective_tokens);
    most = std::max(most, run->summary.effective_tokens);
  }
  panel.x.log = least > 0 && most / least > kLogFrom;
  return panel;
}

constexpr size_t kMostBars = 12;

// What a token was spent on; each token of a ledger's effective count belongs to one.
enum class Spent { kWarmup, kPool, kPruned, kTransient, kRoutes, kJudges };
constexpr std::array kSpentNames = {"warm-up",
                                    "pool",
                                    "paths pruned later",
                                    "continuations merged away",
                                    "extra routes",
                                    "judges, values, probes"};

Spent SpentBy(const StoredPath& path) {
  if (path.warmup) {
    return Spent::kWarmup;
  }
  if (path.status == PathStatus::kPruned) {
    return Spent::kPruned;
  }
  return path.status == PathStatus::kMerged ? Spent::kTransient : Spent::kPool;
}

// Effective tokens of an item that were spent so. What its paths do not account for, such as the
// tokens of an engine that does not list them, is the pool's.
double TokensSpent(const StoredItem& item, Spent spent) {
  const Ledger& ledger = item.ledger;
  if (spent == Spent::kRoutes) {
    return static_cast<double>(ledger.extra_routes);
  }
  if (spent == Spent::kJudges) {
    return static_cast<double>(ledger.judge + ledger.value + ledger.probe);
  }
  int64_t of_others = 0;
  int64_t tokens = 0;
  for (const StoredPath& path : item.paths) {
    if (path.kind == PathKind::kReasoning) {
      (SpentBy(path) == spent ? tokens : of_others) += path.tokens - path.fork_position;
    }
  }
  return static_cast<double>(spent == Spent::kPool ? ledger.generated - of_others : tokens);
}

}  // namespace

Result<Figure> BudgetFigure(const StudyMaterial& material) {
  Figure figure;
  for (auto& [place, rows] : ByPlace(material)) {
    DropBarelyBegun(rows, figure.notes);
    if (rows.size() < 2 || figure.panels.size() == kMostPanels) {
      continue;
    }
    const RowsOfPlace frontier = Frontier(rows);
    figure.panels.push_back(BudgetPanel(place, rows, frontier));
    std::string names;
    for (const RunMaterial* run : frontier) {
      names += fmt::format("{}{} ({} % for {:.0f} tokens)", names.empty() ? "" : ", ",
                           run->run().label, Short(kToPercent * run->summary.accuracy.mean),
                           run->summary.effective_tokens);
    }
    figure.finding += fmt::format("{}{}: {} of {} rows are on the frontier: {}",
                                  figure.finding.empty() ? "" : "; ", place.second, frontier.size(),
                                  rows.size(), names);
  }
  if (figure.panels.empty()) {
    return NotInStudy("the study has one row only; compare several methods or widths");
  }
  figure.finding += ".";
  return figure;
}

Result<Figure> TokensFigure(const StudyMaterial& material) {
  FigurePanel panel{"", {"row"}, {"effective tokens per question", 0}, {}, {}};
  std::vector<const RunMaterial*> rows;
  for (const RunMaterial& run : material.runs) {
    const bool spent =
        std::any_of(run.items.begin(), run.items.end(),
                    [](const MaterialItem& item) { return item.item.ledger.effective() > 0; });
    if (spent && rows.size() < kMostBars) {
      rows.push_back(&run);
      panel.categories.push_back(run.run().label);
    }
  }
  if (rows.empty()) {
    return NotInStudy("no row has spent a token");
  }
  Figure figure;
  double dearest = 0;
  for (size_t spent = 0; spent < kSpentNames.size(); ++spent) {
    FigureSeries series{kSpentNames[spent], SeriesStyle::kStack, {}};
    bool any = false;
    for (size_t row = 0; row < rows.size(); ++row) {
      const Estimate tokens =
          EstimateItems(*rows[row], [spent](const MaterialItem& item, ValueSum& sum) {
            sum.Add(TokensSpent(item.item, static_cast<Spent>(spent)));
          });
      any = any || tokens.mean > 0;
      series.points.push_back(PointOf(static_cast<double>(row), tokens));
    }
    if (any) {
      panel.series.push_back(std::move(series));
    }
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    double all = 0;
    const FigureSeries* most = nullptr;
    for (const FigureSeries& series : panel.series) {
      all += series.points[row].y;
      most = most == nullptr || series.points[row].y > most->points[row].y ? &series : most;
    }
    if (all > dearest && most != nullptr) {
      dearest = all;
      figure.finding = fmt::format(
          "{} spent most, {:.0f} effective tokens a question; its largest part is {} ({} %).",
          rows[row]->run().label, all, most->name, Short(kToPercent * most->points[row].y / all));
    }
  }
  figure.panels.push_back(std::move(panel));
  figure.notes = {"Lost attempts are not in it."};
  return figure;
}

}  // namespace hyper::eval

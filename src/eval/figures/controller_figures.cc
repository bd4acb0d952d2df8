// Figures of the controller's decisions: 5, 9 and 10.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr std::array kActive = {Action::kSingleToken, Action::kMultiToken, Action::kBranch};

bool HasDecisions(const RunMaterial& run) {
  return std::any_of(run.items.begin(), run.items.end(),
                     [](const MaterialItem& item) { return !item.item.decisions.empty(); });
}

// Questions of one suite and group.
std::string CategoryOfQuestion(const StoredQuestion& question) {
  return question.group.empty() ? question.suite : question.suite + " " + question.group;
}

struct DecisionCounts {
  int64_t decisions = 0;
  int64_t acted = 0;
};

DecisionCounts CountDecisions(const RunMaterial& run) {
  DecisionCounts counts;
  for (const MaterialItem& item : run.items) {
    for (const DecisionRecord& decision : item.item.decisions) {
      ++counts.decisions;
      counts.acted += decision.effect() != Action::kNone ? 1 : 0;
    }
  }
  return counts;
}

bool Acts(const RunMaterial& run) { return CountDecisions(run).acted > 0; }

// Categories that the items of a row belong to, in the order of their names.
std::map<std::string, size_t> Categories(const StudyMaterial& material, const RunMaterial& run) {
  std::map<std::string, size_t> places;
  for (const MaterialItem& item : run.items) {
    places[CategoryOfQuestion(material.questions[item.question])] = 0;
  }
  size_t next = 0;
  for (auto& [name, place] : places) {
    place = next++;
  }
  return places;
}

// Share of decisions of each category that an action changed the pool by.
Estimate ActionShare(const StudyMaterial& material, const RunMaterial& run,
                     const std::string& category, Action action) {
  return Scaled(
      EstimateItems(run,
                    [&](const MaterialItem& item, ValueSum& sum) {
                      if (CategoryOfQuestion(material.questions[item.question]) != category) {
                        return;
                      }
                      for (const DecisionRecord& decision : item.item.decisions) {
                        sum.Add(decision.effect() == action ? 1 : 0);
                      }
                    }),
      kToPercent);
}

FigurePanel ActionsPanel(const StudyMaterial& material, const RunMaterial& run) {
  FigurePanel panel{run.run().label, {"suite and group"}, {"share of decisions (%)", 0}, {}, {}};
  const std::map<std::string, size_t> places = Categories(material, run);
  for (const auto& [name, place] : places) {
    panel.categories.push_back(name);
  }
  for (const Action action : kActive) {
    FigureSeries series{NameOf(action), SeriesStyle::kBars, {}};
    for (const auto& [name, place] : places) {
      series.points.push_back(
          PointOf(static_cast<double>(place), ActionShare(material, run, name, action)));
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

// Share of an item's paths that are right; merged continuations do not count.
double RightShare(const MaterialItem& item) {
  ValueSum right;
  for (size_t path = 0; path < item.path_verdicts.size(); ++path) {
    if (item.item.paths[path].status != PathStatus::kMerged) {
      right.Add(item.path_verdicts[path] == StoredVerdict::kRight ? 1 : 0);
    }
  }
  return right.count > 0 ? right.sum / right.count : kNaN;
}

bool ActedOnce(const MaterialItem& item) {
  return std::any_of(item.item.decisions.begin(), item.item.decisions.end(),
                     [](const DecisionRecord& decision) { return decision.acted; });
}

// Of these items the easiest, and the hardest of another question: by the share of right paths,
// among equal ones by the number of decisions. Null where there are no two questions.
std::pair<const MaterialItem*, const MaterialItem*> EasyAndHardOf(
    std::vector<const MaterialItem*> items) {
  std::stable_sort(items.begin(), items.end(), [](const MaterialItem* a, const MaterialItem* b) {
    return std::pair(-RightShare(*a), a->item.decisions.size()) <
           std::pair(-RightShare(*b), b->item.decisions.size());
  });
  while (!items.empty() && items.back()->question == items.front()->question) {
    items.pop_back();
  }
  return items.empty() ? std::pair<const MaterialItem*, const MaterialItem*>()
                       : std::pair(items.front(), items.back());
}

// Those of a row's items in which a decision changed the pool; where these are not of two
// questions, of all with decisions.
std::pair<const MaterialItem*, const MaterialItem*> EasyAndHard(const RunMaterial& run) {
  std::vector<const MaterialItem*> decided;
  std::vector<const MaterialItem*> acted;
  for (const MaterialItem& item : run.items) {
    if (!item.item.decisions.empty()) {
      decided.push_back(&item);
    }
    if (ActedOnce(item)) {
      acted.push_back(&item);
    }
  }
  const auto best = EasyAndHardOf(std::move(acted));
  return best.first != nullptr ? best : EasyAndHardOf(std::move(decided));
}

FigurePanel TracePanel(const MaterialItem& item, const std::string& kind) {
  FigurePanel panel{
      fmt::format("{}: {} % of its paths right", kind, Short(kToPercent * RightShare(item))),
      {"position of the decision (tokens)", 0},
      {"running paths", 0},
      {},
      {{"paths", SeriesStyle::kGuide, {}}}};
  std::array<FigureSeries, kActionCount> marks;
  for (size_t action = 0; action < kActionCount; ++action) {
    marks[action] = {NameOf(static_cast<Action>(action)), SeriesStyle::kPoints, {}};
  }
  for (const DecisionRecord& decision : item.item.decisions) {
    const FigurePoint point{static_cast<double>(decision.position),
                            static_cast<double>(decision.paths_before), kNaN, kNaN};
    panel.series[0].points.push_back(point);
    marks.at(static_cast<size_t>(decision.effect())).points.push_back(point);
  }
  for (FigureSeries& series : marks) {
    panel.series.push_back(std::move(series));
  }
  return panel;
}

std::string ActionsIn(const MaterialItem& item) {
  int64_t acted = 0;
  for (const DecisionRecord& decision : item.item.decisions) {
    acted += decision.effect() != Action::kNone ? 1 : 0;
  }
  return fmt::format("{} of {} decisions", acted, item.item.decisions.size());
}

// The one action that a row allows, if it is one alone: by its option, or by its method.
std::string IsolatedAction(const RunMaterial& run) {
  const std::string& method = run.run().method;
  if (method == "single-token-only") {
    return NameOf(Action::kSingleToken);
  }
  if (method == "multi-token-only") {
    return NameOf(Action::kMultiToken);
  }
  const std::string allowed = OptionOf(run.run(), "actions");
  if (method == "hyper" && allowed == "none") {
    return NameOf(Action::kNone);
  }
  for (const Action action : kActive) {
    if (method == "hyper" && allowed == fmt::format("none,{}", NameOf(action))) {
      return NameOf(action);
    }
  }
  return "";
}

// Mean diversity and mean confidence over the decisions of each item.
FigureSeries ScatterOf(const RunMaterial& run, const std::string& name) {
  FigureSeries series{name, SeriesStyle::kPoints, {}};
  for (const MaterialItem& item : run.items) {
    ValueSum diversity;
    ValueSum confidence;
    for (const DecisionRecord& decision : item.item.decisions) {
      diversity.Add(decision.raw.diversity);
      confidence.Add(decision.raw.confidence);
    }
    if (diversity.count > 0) {
      series.points.push_back(
          {diversity.sum / diversity.count, confidence.sum / confidence.count, kNaN, kNaN});
    }
  }
  return series;
}

}  // namespace

Result<Figure> IsolatedFigure(const StudyMaterial& material) {
  Figure figure;
  FigurePanel panel{"", {"mean diversity D of the pool"}, {"mean confidence (nats)"}, {}, {}};
  std::string signal;  // confidences of other signals are no nats of this one
  for (const RunMaterial& run : material.runs) {
    const std::string action = IsolatedAction(run);
    const bool known =
        std::any_of(panel.series.begin(), panel.series.end(),
                    [&](const FigureSeries& series) { return series.name == action; });
    const std::string own_signal = OptionOf(run.run(), "confidence");
    const bool same = panel.series.empty() || own_signal == signal;
    if (action.empty() || known || !same || !HasDecisions(run)) {
      continue;
    }
    signal = own_signal;
    FigureSeries series = ScatterOf(run, action);
    ValueSum x;
    ValueSum y;
    for (const FigurePoint& point : series.points) {
      x.Add(point.x);
      y.Add(point.y);
    }
    figure.finding +=
        fmt::format("{}{}: diversity {:.3f}, confidence {:.2f} nats",
                    figure.finding.empty() ? "" : "; ", action, x.sum / x.count, y.sum / y.count);
    panel.series.push_back(std::move(series));
  }
  if (panel.series.size() < 2) {
    return NotInStudy(
        "fewer than two rows allow one action alone; record them: --methods "
        "single-token-only,multi-token-only --row branch=hyper:actions=branch");
  }
  figure.finding += ".";
  figure.notes = {"A point for each answer: means over its decisions."};
  figure.panels.push_back(std::move(panel));
  return figure;
}

Result<Figure> TracesFigure(const StudyMaterial& material) {
  const auto wanted = [](const RunMaterial& run) {
    return Acts(run) && EasyAndHard(run).first != nullptr;
  };
  const std::vector<const RunMaterial*> rows = FirstOfMethods(material, 1, wanted);
  if (rows.empty()) {
    return NotInStudy(
        "no row has decisions that changed its pool, on two questions; record one: --methods "
        "hyper");
  }
  const auto [easy, hard] = EasyAndHard(*rows[0]);
  Figure figure;
  figure.panels = {TracePanel(*easy, "easy"), TracePanel(*hard, "hard")};
  figure.finding = fmt::format("{}: {} changed the pool on the easy question, {} on the hard one.",
                               rows[0]->run().label, ActionsIn(*easy), ActionsIn(*hard));
  figure.notes = {
      fmt::format("{}, {} and {}: those with the largest and the smallest share of right "
                  "paths, among answers whose pool a decision changed if there are two.",
                  rows[0]->run().label, material.questions[easy->question].name,
                  material.questions[hard->question].name)};
  return figure;
}

Result<Figure> ActionsFigure(const StudyMaterial& material) {
  const std::vector<const RunMaterial*> rows = FirstOfMethods(material, kMostPanels, Acts);
  if (rows.empty()) {
    return NotInStudy("no row has a decision that changed its pool; record one: --methods hyper");
  }
  Figure figure;
  for (const RunMaterial* run : rows) {
    const DecisionCounts counts = CountDecisions(*run);
    figure.finding += fmt::format("{}{}: {} of {} decisions changed the pool ({} %)",
                                  figure.finding.empty() ? "" : "; ", run->run().label,
                                  counts.acted, counts.decisions,
                                  Short(kToPercent * static_cast<double>(counts.acted) /
                                        static_cast<double>(counts.decisions)));
    figure.panels.push_back(ActionsPanel(material, *run));
  }
  figure.finding += ".";
  figure.notes = {"An action counts where it changed the pool; the rest, up to 100 %, is None."};
  return figure;
}

}  // namespace hyper::eval

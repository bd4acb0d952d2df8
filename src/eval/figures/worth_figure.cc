// What an action is worth: rows that continue the same state with every action.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <utility>

#include "src/core/controller.h"
#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr std::array kExpanding = {Action::kSingleToken, Action::kMultiToken, Action::kBranch};
constexpr size_t kMostDecisions = 8;

// The rows of one forced decision, by the name of the action that was forced.
using Forced = std::map<std::string, const RunMaterial*>;

// What an action changed where it changed the pool, beside None at the same states.
struct Worth {
  std::vector<std::vector<ValueSum>> right;   // [repeat][question], in points
  std::vector<std::vector<ValueSum>> tokens;  // the same
  int states = 0;
};

std::map<int, Forced> ForcedRows(const StudyMaterial& material) {
  std::map<int, Forced> rows;
  for (const RunMaterial& run : material.runs) {
    const std::string decision = OptionOf(run.run(), "force-decision");
    const int number = decision.empty() ? -1 : std::atoi(decision.c_str());
    if (number >= 0) {
      rows[number].emplace(OptionOf(run.run(), "force-action"), &run);
    }
  }
  std::erase_if(rows, [](const auto& row) {
    return row.second.count(NameOf(Action::kNone)) == 0 || row.second.size() < 2;
  });
  return rows;
}

bool Acted(const MaterialItem& item, int step) {
  return std::any_of(
      item.item.decisions.begin(), item.item.decisions.end(),
      [step](const DecisionRecord& decision) { return decision.step == step && decision.acted; });
}

double Points(const MaterialItem& item) {
  return item.verdict == StoredVerdict::kRight ? kToPercent : 0;
}

// Adds what `action` did at decision `step` to each of `worths`.
void AddWorth(const Forced& rows, int step, Action action, size_t questions,
              std::initializer_list<Worth*> worths) {
  const auto other = rows.find(NameOf(action));
  if (other == rows.end()) {
    return;
  }
  std::map<std::pair<size_t, int>, const MaterialItem*> base;
  for (const MaterialItem& item : rows.at(NameOf(Action::kNone))->items) {
    base[{item.question, item.item.key.repeat}] = &item;
  }
  for (const MaterialItem& item : other->second->items) {
    const auto repeat = static_cast<size_t>(item.item.key.repeat);
    const auto same = base.find({item.question, item.item.key.repeat});
    if (same == base.end() || !Acted(item, step)) {
      continue;
    }
    const auto cost = [](const MaterialItem& of) {
      return static_cast<double>(of.item.ledger.effective());
    };
    for (Worth* worth : worths) {
      for (auto* sums : {&worth->right, &worth->tokens}) {
        sums->resize(std::max(sums->size(), repeat + 1), std::vector<ValueSum>(questions));
      }
      worth->right[repeat][item.question].Add(Points(item) - Points(*same->second));
      worth->tokens[repeat][item.question].Add(cost(item) - cost(*same->second));
      ++worth->states;
    }
  }
}

// Without the questions that have no such state: the error counts questions.
Estimate EstimateOf(std::vector<std::vector<ValueSum>> sums) {
  for (std::vector<ValueSum>& repeat : sums) {
    std::erase_if(repeat, [](const ValueSum& sum) { return sum.count == 0; });
  }
  return EstimateMean(sums);
}

}  // namespace

Result<Figure> WorthFigure(const StudyMaterial& material) {
  const std::map<int, Forced> rows = ForcedRows(material);
  FigurePanel right{"answers", {"decision"}, {"change in right answers (points)"}, {}, {}};
  FigurePanel tokens{"cost", {"decision"}, {"change in effective tokens"}, {}, {}};
  for (const auto& [decision, forced] : rows) {
    if (right.categories.size() < kMostDecisions) {
      right.categories.push_back(fmt::format("{}", decision));
    }
  }
  right.categories.emplace_back("all");
  tokens.categories = right.categories;
  Figure figure;
  int states = 0;
  for (const Action action : kExpanding) {
    FigureSeries gains{NameOf(action), SeriesStyle::kBars, {}};
    FigureSeries costs = gains;
    const auto add = [&](const Worth& worth) {
      const auto place = static_cast<double>(gains.points.size());
      gains.points.push_back(PointOf(place, EstimateOf(worth.right)));
      costs.points.push_back(PointOf(place, EstimateOf(worth.tokens)));
    };
    Worth all;
    for (const auto& [decision, forced] : rows) {
      Worth one;
      AddWorth(forced, decision, action, material.questions.size(), {&one, &all});
      if (gains.points.size() < kMostDecisions) {
        add(one);
      }
    }
    add(all);
    states += all.states;
    figure.finding += fmt::format(
        "{}{}: {} points and {} tokens in {} states", figure.finding.empty() ? "" : "; ",
        NameOf(action), Short(gains.points.back().y), Short(costs.points.back().y), all.states);
    right.series.push_back(std::move(gains));
    tokens.series.push_back(std::move(costs));
  }
  if (states == 0) {
    return NotInStudy(
        "no two rows continue the same state by None and by another action that changed the pool; "
        "record some: --row n=hyper:force-decision=8,force-action=none --row "
        "b=hyper:force-decision=8,force-action=branch");
  }
  figure.finding += ".";
  figure.panels = {std::move(right), std::move(tokens)};
  return figure;
}

}  // namespace hyper::eval

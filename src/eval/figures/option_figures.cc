// Figures over values of options: 12 and 13.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "src/eval/figures/figure_list.h"
#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr size_t kMostOptions = 3;
constexpr size_t kMostCategories = 12;

using Rows = std::vector<const RunMaterial*>;

// The number that an option's text is, if it is one.
std::optional<double> NumberOf(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional<double>(value) : std::nullopt;
}

// Rows that differ from the first in one option alone, with it; the largest such set of each
// option, those with most rows first. The width is Figure 8's, forced actions are WorthFigure's.
std::vector<std::pair<std::string, Rows>> OneOptionApart(const StudyMaterial& material) {
  std::map<std::string, Rows> largest;
  for (const RunMaterial& base : material.runs) {
    std::map<std::string, Rows> of_base;
    for (const RunMaterial& other : material.runs) {
      const std::vector<std::string> names = Differences(base.run(), other.run());
      const bool option = names.size() == 1 && names[0] != "width" &&
                          !names[0].starts_with("force-") &&
                          base.run().settings.count(names[0]) > 0;
      if (option) {
        Rows& rows = of_base[names[0]];
        if (rows.empty()) {
          rows.push_back(&base);
        }
        rows.push_back(&other);
      }
    }
    for (auto& [name, rows] : of_base) {
      if (rows.size() > largest[name].size()) {
        largest[name] = std::move(rows);
      }
    }
  }
  std::vector<std::pair<std::string, Rows>> options(largest.begin(), largest.end());
  std::stable_sort(options.begin(), options.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  options.resize(std::min(options.size(), kMostOptions));
  return options;
}

// Sorts rows by the value of an option: as numbers where all are, else as texts. True for numbers.
bool SortByOption(const std::string& name, Rows& rows) {
  const bool numbers = std::all_of(rows.begin(), rows.end(), [&](const RunMaterial* run) {
    return NumberOf(OptionOf(run->run(), name)).has_value();
  });
  std::stable_sort(rows.begin(), rows.end(), [&](const RunMaterial* a, const RunMaterial* b) {
    const std::string first = OptionOf(a->run(), name);
    const std::string second = OptionOf(b->run(), name);
    return numbers ? *NumberOf(first) < *NumberOf(second) : first < second;
  });
  return numbers;
}

Estimate AccuracyOf(const RunMaterial& run) {
  std::vector<std::vector<double>> right(static_cast<size_t>(run.repeats));
  for (const MaterialItem& item : run.items) {
    right.at(static_cast<size_t>(item.item.key.repeat))
        .push_back(item.verdict == StoredVerdict::kRight ? 1 : 0);
  }
  return Scaled(EstimateShare(right), kToPercent);
}

Estimate TokensOf(const RunMaterial& run) {
  return EstimateItems(run, [](const MaterialItem& item, ValueSum& sum) {
    sum.Add(static_cast<double>(item.item.ledger.effective()));
  });
}

FigurePanel OptionPanel(const std::string& name, const Rows& rows, bool numbers,
                        const std::string& axis, Estimate (*of)(const RunMaterial&)) {
  FigurePanel panel{name, {name}, {axis}, {}, {}};
  FigureSeries series{
      rows.front()->run().method, numbers ? SeriesStyle::kLinePoints : SeriesStyle::kPoints, {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string value = OptionOf(rows[i]->run(), name);
    if (!numbers) {
      panel.categories.push_back(value);
    }
    series.points.push_back(
        PointOf(numbers ? *NumberOf(value) : static_cast<double>(i), of(*rows[i])));
  }
  panel.series.push_back(std::move(series));
  return panel;
}

std::string SensitivityFinding(const std::string& name, const Rows& rows,
                               const FigurePanel& accuracy) {
  const std::vector<FigurePoint>& points = accuracy.series[0].points;
  const auto [least, most] =
      std::minmax_element(points.begin(), points.end(),
                          [](const FigurePoint& a, const FigurePoint& b) { return a.y < b.y; });
  if (!(most->y > least->y)) {
    return fmt::format("{}: accuracy {} % at every value", name, Short(least->y));
  }
  const auto value = [&](auto at) {
    return OptionOf(rows[static_cast<size_t>(at - points.begin())]->run(), name);
  };
  return fmt::format("{}: accuracy from {} % at {} to {} % at {}", name, Short(least->y),
                     value(least), Short(most->y), value(most));
}

// Whether the rows have more than one value of an option.
bool Varies(const Rows& rows, const std::string& option) {
  return std::any_of(rows.begin(), rows.end(), [&](const RunMaterial* run) {
    return OptionOf(run->run(), option) != OptionOf(rows.front()->run(), option);
  });
}

Estimate LengthOf(const StudyMaterial& material, const RunMaterial& run, const std::string& group,
                  StoredVerdict verdict) {
  return EstimatePaths(run, [&](const MaterialItem& item, size_t path) {
    const bool counts = material.questions[item.question].group == group &&
                        item.path_verdicts[path] == verdict && IsComplete(item.item.paths[path]);
    return counts ? static_cast<double>(item.item.paths[path].tokens) : kNaN;
  });
}

}  // namespace

Result<Figure> SensitivityFigure(const StudyMaterial& material) {
  std::vector<std::pair<std::string, Rows>> options = OneOptionApart(material);
  if (options.empty()) {
    return NotInStudy(
        "no two rows differ in one option alone; record some: --row T8=hyper:interval=8 --row "
        "T32=hyper:interval=32");
  }
  Figure figure;
  std::vector<FigurePanel> tokens;
  for (auto& [name, rows] : options) {
    const bool numbers = SortByOption(name, rows);
    figure.panels.push_back(OptionPanel(name, rows, numbers, kAccuracyAxis, AccuracyOf));
    tokens.push_back(OptionPanel(name, rows, numbers, "effective tokens per question", TokensOf));
    figure.finding +=
        (figure.finding.empty() ? "" : "; ") + SensitivityFinding(name, rows, figure.panels.back());
  }
  figure.finding += ".";
  figure.panels.insert(figure.panels.end(), tokens.begin(), tokens.end());
  return figure;
}

Result<Figure> LengthBiasFigure(const StudyMaterial& material) {
  const Rows rows = IndependentRows(material);
  if (rows.empty()) {
    return NotInStudy("no row has several complete, independent paths; record one: --methods sc");
  }
  FigurePanel panel{
      "complete paths, nothing pruned",
      {"suite, group, temperature"},
      {"mean length (tokens)", 0},
      {},
      {{"right paths", SeriesStyle::kBars, {}}, {"wrong paths", SeriesStyle::kBars, {}}}};
  const bool temperatures = Varies(rows, "temperature");
  int longer = 0;
  int both = 0;
  for (const RunMaterial* run : rows) {
    std::set<std::string> groups;
    for (const MaterialItem& item : run->items) {
      groups.insert(material.questions[item.question].group);
    }
    for (const std::string& group : groups) {
      if (panel.categories.size() == kMostCategories) {
        break;
      }
      const auto place = static_cast<double>(panel.categories.size());
      const Estimate right = LengthOf(material, *run, group, StoredVerdict::kRight);
      const Estimate wrong = LengthOf(material, *run, group, StoredVerdict::kWrong);
      panel.categories.push_back(
          run->run().suite + (group.empty() ? "" : " " + group) +
          (temperatures ? ", T " + OptionOf(run->run(), "temperature") : ""));
      panel.series[0].points.push_back(PointOf(place, right));
      panel.series[1].points.push_back(PointOf(place, wrong));
      both += std::isfinite(right.mean) && std::isfinite(wrong.mean) ? 1 : 0;
      longer += right.mean > wrong.mean ? 1 : 0;
    }
  }
  Figure figure;
  figure.finding =
      fmt::format("Right paths are longer than wrong ones in {} of {} groups.", longer, both);
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace hyper::eval

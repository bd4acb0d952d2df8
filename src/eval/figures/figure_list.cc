#include "src/eval/figures/figure_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "src/eval/figures/figure_parts.h"

namespace hyper::eval {
namespace {

constexpr std::array kFigures{
    FigureSpec{"1", "paths", "Existence and accuracy against the number of paths", PathsFigure},
    FigureSpec{"2", "divergence", "Confidence of right and wrong paths along their length",
               DivergenceFigure},
    FigureSpec{"3", "failures", "Right paths that were outvoted", FailuresFigure},
    FigureSpec{"4", "long-wrong", "Long but wrong paths before and after pruning", LongWrongFigure},
    FigureSpec{"5", "isolated", "Confidence and diversity under each action alone", IsolatedFigure},
    FigureSpec{"7", "lengths", "Lengths of right and wrong paths before and after pruning",
               LengthsFigure},
    FigureSpec{"8", "budget", "Accuracy against effective tokens", BudgetFigure},
    FigureSpec{"9", "traces", "Decisions on an easy and on a hard question", TracesFigure},
    FigureSpec{"10", "actions", "Actions of the controller by suite and group", ActionsFigure},
    FigureSpec{"11", "refinement", "Two-pass sampling of routes beside independent draws",
               RefinementFigure},
    FigureSpec{"12", "sensitivity", "Sensitivity to single options", SensitivityFigure},
    FigureSpec{"13", "length-bias", "Lengths of right and wrong paths by suite and temperature",
               LengthBiasFigure},
    FigureSpec{"-", "worth", "What each action is worth at the same states", WorthFigure},
    FigureSpec{"-", "tokens", "Where the tokens went", TokensFigure},
    FigureSpec{"-", "target", "Tokens to an accuracy", TargetFigure},
    FigureSpec{"-", "settled", "From when on answers no longer changed", SettledFigure},
    FigureSpec{"-", "reliability", "The winner's share of the vote as a probability of being right",
               ReliabilityFigure},
    FigureSpec{"-", "roc", "How well signals tell right paths from wrong ones", RocFigure},
};

bool HasNumber(const FigureSeries& series) {
  return std::any_of(series.points.begin(), series.points.end(),
                     [](const FigurePoint& point) { return std::isfinite(point.y); });
}

// Takes out series without a number, and panels that hold nothing but guides.
void DropEmptyPanels(Figure& figure) {
  for (FigurePanel& panel : figure.panels) {
    std::erase_if(panel.series, [](const FigureSeries& series) { return !HasNumber(series); });
  }
  std::erase_if(figure.panels, [](const FigurePanel& panel) {
    return std::all_of(panel.series.begin(), panel.series.end(), [](const FigureSeries& series) {
      return series.style == SeriesStyle::kGuide;
    });
  });
}

}  // namespace

std::span<const FigureSpec> FigureSpecs() { return kFigures; }

const FigureSpec* FindFigure(const std::string& name) {
  const auto at = std::find_if(kFigures.begin(), kFigures.end(), [&](const FigureSpec& spec) {
    return name == spec.name || (name == spec.number && name != "-");
  });
  return at != kFigures.end() ? at : nullptr;
}

Result<Figure> MakeFigure(const FigureSpec& spec, const StudyMaterial& material) {
  Result<Figure> figure = spec.make(material);
  if (!figure) {
    return figure;
  }
  DropEmptyPanels(*figure);
  if (figure->panels.empty()) {
    return NotInStudy("the study has no number for it");
  }
  const int number = std::atoi(spec.number);
  figure->name = number > 0 ? fmt::format("fig{:02}-{}", number, spec.name) : spec.name;
  figure->title = spec.title;
  figure->notes.emplace_back(kErrorNote);
  return figure;
}

}  // namespace hyper::eval

#include "src/core/controller.h"

#include <algorithm>
#include <cmath>

namespace hyper {
namespace {

void Raise(Maximum& maximum, const Maximum& seen) {
  const bool first = maximum.position < 0;
  if (std::isnan(seen.value) || (!first && seen.value <= maximum.value)) {
    return;
  }
  maximum = seen;
}

}  // namespace

void Observe(MaxStatistics& maxima, const PoolStatistics& statistics, int position, int paths) {
  if (paths == 0) {
    return;
  }
  Raise(maxima.confidence, {statistics.confidence, position, paths});
  Raise(maxima.entropy, {statistics.entropy, position, paths});
  Raise(maxima.diversity, {statistics.diversity, position, paths});
  Raise(maxima.variance, {statistics.variance, position, paths});
}

double NormaliseByMaximum(double value, double maximum) {
  if (!(maximum > 0) || !(value > 0)) {
    return 0;
  }
  const double ratio = value / maximum;
  return std::isnan(ratio) ? 0.0 : std::min(ratio, 1.0);
}

PoolStatistics Normalise(const PoolStatistics& statistics, const MaxStatistics& maxima) {
  PoolStatistics normalised = statistics;
  normalised.confidence = NormaliseByMaximum(statistics.confidence, maxima.confidence.value);
  normalised.entropy = NormaliseByMaximum(statistics.entropy, maxima.entropy.value);
  normalised.diversity = NormaliseByMaximum(statistics.diversity, maxima.diversity.value);
  normalised.variance = NormaliseByMaximum(statistics.variance, maxima.variance.value);
  return normalised;
}

ActionScores ScoreActions(const PoolStatistics& statistics) {
  const double c = statistics.confidence;
  const double h = statistics.entropy;
  const double d = statistics.diversity;
  const double v = statistics.variance;
  const double beta = statistics.consensus;
  ActionScores scores{};
  scores[static_cast<size_t>(Action::kNone)] = (c + (1 - h) + d) / 3;
  scores[static_cast<size_t>(Action::kSingleToken)] = ((1 - c) + h + (1 - beta)) / 3;
  scores[static_cast<size_t>(Action::kMultiToken)] = ((1 - d) + (1 - c) + v) / 3;
  scores[static_cast<size_t>(Action::kBranch)] = ((1 - d) + (1 - beta)) / 2;
  return scores;
}

Action ChooseAction(const ActionScores& scores, ActionSet allowed) {
  Action best = Action::kNone;
  for (size_t i = 1; i < scores.size(); ++i) {
    const Action action = static_cast<Action>(i);
    if (allowed.Has(action) && scores[i] > scores[static_cast<size_t>(best)]) {
      best = action;
    }
  }
  return best;
}

int ExpansionFactor(int width, int survivors) {
  if (width <= 0 || survivors <= 0) {
    return 1;
  }
  // (width - 1) / survivors + 1 is ceil(width / survivors) and cannot overflow.
  return (width - 1) / survivors + 1;
}

}  // namespace hyper

#include "src/core/controller.h"

#include <algorithm>
#include <cmath>

namespace hyper {
namespace {

void Raise(Maximum& maximum, double value, int64_t position, size_t pool_size) {
  const bool first = maximum.position < 0;
  if (std::isnan(value) || (!first && value <= maximum.value)) return;
  maximum = {value, position, pool_size};
}

}  // namespace

const char* ActionName(Action action) { return kActionNames[static_cast<size_t>(action)]; }

const char* PathStatusName(PathStatus status) {
  return kPathStatusNames[static_cast<size_t>(status)];
}

void MaxStatistics::Observe(const PoolStatistics& statistics, int64_t position) {
  if (statistics.paths == 0) return;
  Raise(confidence, statistics.mean_confidence, position, statistics.paths);
  Raise(entropy, statistics.mean_entropy, position, statistics.paths);
  Raise(diversity, statistics.diversity, position, statistics.paths);
  Raise(variance, statistics.confidence_variance, position, statistics.paths);
}

double NormaliseByMaximum(double value, double maximum) {
  if (!(maximum > 0) || !(value > 0)) return 0;
  const double ratio = value / maximum;
  return std::isnan(ratio) ? 0.0 : std::min(ratio, 1.0);
}

NormalisedStatistics Normalise(const PoolStatistics& statistics, const MaxStatistics& maxima) {
  NormalisedStatistics normalised;
  normalised.confidence = NormaliseByMaximum(statistics.mean_confidence, maxima.confidence.value);
  normalised.entropy = NormaliseByMaximum(statistics.mean_entropy, maxima.entropy.value);
  normalised.diversity = NormaliseByMaximum(statistics.diversity, maxima.diversity.value);
  normalised.variance = NormaliseByMaximum(statistics.confidence_variance, maxima.variance.value);
  normalised.consensus = statistics.consensus;
  return normalised;
}

ActionScores ScoreActions(const NormalisedStatistics& statistics) {
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
    if (allowed.Has(action) && scores[i] > scores[static_cast<size_t>(best)]) best = action;
  }
  return best;
}

int ExpansionFactor(int width, int survivors) {
  if (width <= 0 || survivors <= 0) return 1;
  // (width - 1) / survivors + 1 is ceil(width / survivors) and cannot overflow.
  return (width - 1) / survivors + 1;
}

}  // namespace hyper

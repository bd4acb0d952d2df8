// The expand-reduce controller: four scores and their argmax (Sec. 3.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hyper/records.h"
#include "src/core/pool_stats.h"

namespace hyper {

// The largest value of one statistic, with the position and pool size where it was first seen:
// late positions with one path left can dominate it.
struct Maximum {
  double value = 0;
  int64_t position = -1;  // -1: nothing seen
  size_t pool_size = 0;
};

// X_max of the four statistics that are normalised (App. A, eq. global-max-norm-app).
struct MaxStatistics {
  Maximum confidence;  // of C-bar
  Maximum entropy;     // of H
  Maximum diversity;   // of D
  Maximum variance;    // of Var(C)

  // Takes in one position of warm-up. NaN is ignored.
  void Observe(const PoolStatistics& statistics, int64_t position);
};

// The statistics that the scores use, each in [0, 1].
struct NormalisedStatistics {
  double confidence = 0;
  double entropy = 0;
  double diversity = 0;
  double variance = 0;
  double consensus = 0;  // beta, as it is
};

// min(value / maximum, 1). Source: eq. global-max-norm-app.
// Returns 0 where the maximum is 0 or either is not a number; never below 0. Pure.
double NormaliseByMaximum(double value, double maximum);

// NormaliseByMaximum of each statistic. Pure.
NormalisedStatistics Normalise(const PoolStatistics& statistics, const MaxStatistics& maxima);

// One score per action, indexed by Action; each in [0, 1].
using ActionScores = std::array<double, kActionCount>;

// Source: eqs. score-none, score-single, score-multi, score-branch. Pure.
ActionScores ScoreActions(const NormalisedStatistics& statistics);

// The allowed action with the highest score; the earlier one of equals. Pure.
Action ChooseAction(const ActionScores& scores, ActionSet allowed);

// r_t = ceil(width / survivors), how many continuations each survivor gets; 1 is no expansion.
// Source: Sec. 3.1, "Action set". Returns at least 1, also for an empty pool. Pure.
int ExpansionFactor(int width, int survivors);

}  // namespace hyper

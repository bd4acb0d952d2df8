// The expand-reduce controller: four scores and their argmax (Sec. 3.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hyper/records.h"

namespace hyper {

// Takes one position of warm-up, with the number of its paths, into the maxima. NaN is ignored, and
// so is a position without a path.
void Observe(MaxStatistics& maxima, const PoolStatistics& statistics, int position, int paths);

// min(value / maximum, 1). Source: eq. global-max-norm-app.
// Returns 0 where the maximum is 0 or either is not a number; never below 0. Pure.
double NormaliseByMaximum(double value, double maximum);

// NormaliseByMaximum of each statistic that has a maximum; the others as they are. Pure.
PoolStatistics Normalise(const PoolStatistics& statistics, const MaxStatistics& maxima);

// One score per action, indexed by Action; each in [0, 1].
using ActionScores = std::array<double, kActionCount>;

// Source: eqs. score-none, score-single, score-multi, score-branch.
//   statistics  normalised
// Pure.
ActionScores ScoreActions(const PoolStatistics& statistics);

// The allowed action with the highest score; the earlier one of equals. Pure.
Action ChooseAction(const ActionScores& scores, ActionSet allowed);

// r_t = ceil(width / survivors), how many continuations each survivor gets; 1 is no expansion.
// Source: Sec. 3.1, "Action set". Returns at least 1, also for an empty pool. Pure.
int ExpansionFactor(int width, int survivors);

}  // namespace hyper

// From paths to the statistics of core.
#pragma once

#include <vector>

#include "hyper/pool.h"
#include "hyper/records.h"

namespace hyper {

// The paths that a controller decides on: those that run, but for paths of a warm-up that run on
// beside the pool. Pure.
std::vector<PathId> ActivePaths(const Pool& pool);

// Statistics of the active paths at the current position (App. A). The suffixes compared are the
// last L tokens; as L is at most T, none begins before the last decision. Pure.
PoolStatistics StatisticsOf(const Pool& pool);

// The top lists that these statistics were computed from. Pure.
std::vector<DecisionRecord::Reading> ReadingsOf(const Pool& pool);

// The warm-up paths stepped together: statistics at each position, from 1 token on, and how many
// paths were that long. Needs Path::top_history. Pure.
std::vector<WarmupRecord::Position> WarmupPositions(const Pool& pool);

}  // namespace hyper

// From paths to the statistics of core, and from those to records.
#pragma once

#include "hyper/records.h"
#include "src/core/controller.h"
#include "src/core/pool_stats.h"

namespace hyper {

StatisticsRecord ToRecord(const PoolStatistics& statistics);
// D_dist and D_seq, which have no maximum of their own, are taken from `raw`.
StatisticsRecord ToRecord(const NormalisedStatistics& normalised, const StatisticsRecord& raw);
PoolStatistics ToCore(const StatisticsRecord& record);

}  // namespace hyper

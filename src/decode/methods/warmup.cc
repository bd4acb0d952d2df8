#include "src/decode/methods/warmup.h"

#include <vector>

#include "src/core/controller.h"
#include "src/core/quantile.h"
#include "src/core/threshold.h"
#include "src/decode/statistics.h"

namespace hyper {

void NoteMissingRoutes(Pool& pool) {
  const bool refines = pool.options().actions.Has(Action::kSingleToken);
  if (refines && pool.model().expert_count > 1 && !pool.capabilities().routing) {
    pool.Emit(NoticeRecord{"SingleToken is off: " + pool.capabilities().no_routing});
  }
}

bool WarmupOver(const Pool& pool) {
  const MethodOptions& options = pool.options();
  if (options.warmup_barrier || pool.running().empty()) {
    return pool.running().empty();
  }
  int ended = 0;
  for (const Path& path : pool.paths()) {
    ended += CameToItsEnd(path.status) ? 1 : 0;
  }
  const int usable = ended + static_cast<int>(pool.running().size());
  return ended >=
         WarmupNeeded(PlanWarmup(options.warmup, options.width, options.threshold), usable);
}

WarmupRecord SettleWarmup(Pool& pool) {
  const MethodOptions& options = pool.options();
  WarmupRecord record;
  record.positions = WarmupPositions(pool);
  int position = 0;
  for (const WarmupRecord::Position& at : record.positions) {
    Observe(record.maxima, at.statistics, ++position, at.paths);
  }
  if (options.threshold.kind == ThresholdRule::Kind::kOff) {
    return record;
  }
  std::vector<double> lowest;
  for (const Path& path : pool.paths()) {
    if (CameToItsEnd(path.status)) {
      lowest.push_back(path.lowest_window);
    }
  }
  const WarmupPlan plan = PlanWarmup(options.warmup, options.width, options.threshold);
  record.has_threshold = true;
  record.threshold = ComputeThreshold(plan.rule, lowest);
  pool.SetThreshold(record.threshold);
  return record;
}

double MedianLength(const Pool& pool) {
  std::vector<double> finished;
  std::vector<double> all;
  for (const Path& path : pool.paths()) {
    if (path.warmup) {
      all.push_back(path.length());
      if (path.status == PathStatus::kFinished) {
        finished.push_back(path.length());
      }
    }
  }
  const std::vector<double>& lengths = finished.empty() ? all : finished;
  return lengths.empty() ? 0 : Quantile(lengths, 0.5);
}

}  // namespace hyper

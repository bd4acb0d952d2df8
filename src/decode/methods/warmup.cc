#include "src/decode/methods/warmup.h"

#include <algorithm>
#include <vector>

#include "src/core/threshold.h"

namespace hyper {

Result<WarmupRecord> SettleWarmup(Pool& pool) {
  const MethodOptions& options = pool.options();
  WarmupRecord record = pool.WarmupStatistics();
  if (options.threshold.kind == ThresholdRule::Kind::kOff) {
    return record;
  }
  std::vector<double> lowest;
  for (const Path& path : pool.paths()) {
    if (path.status == PathStatus::kFinished || path.status == PathStatus::kLength) {
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
  std::vector<int> finished;
  std::vector<int> all;
  for (const Path& path : pool.paths()) {
    if (path.warmup) {
      all.push_back(path.length());
      if (path.status == PathStatus::kFinished) {
        finished.push_back(path.length());
      }
    }
  }
  std::vector<int>& lengths = finished.empty() ? all : finished;
  if (lengths.empty()) {
    return 0;
  }
  std::sort(lengths.begin(), lengths.end());
  const size_t half = lengths.size() / 2;
  return lengths.size() % 2 == 1 ? lengths[half] : (lengths[half - 1] + lengths[half]) / 2.0;
}

}  // namespace hyper

#include "src/decode/statistics.h"

#include <algorithm>
#include <span>
#include <vector>

#include "src/core/pool_stats.h"

namespace hyper {
namespace {

// What core needs of `path` after `length` of its tokens.
PathView ViewOf(const Path& path, int length, int suffix, const std::vector<TokenLogprob>& top) {
  const auto last = static_cast<size_t>(length - 1);
  const int begin = std::max(length - suffix, 0);
  PathView view;
  view.confidence = path.confidences[last];
  view.entropy = path.entropies[last];
  view.chosen = path.tokens[last];
  view.top = top;
  view.suffix = std::span(path.tokens)
                    .subspan(static_cast<size_t>(begin), static_cast<size_t>(length - begin));
  return view;
}

PoolStatistics Compute(const Pool& pool, std::span<const PathView> views) {
  return ComputePoolStatistics(views, pool.options().eta, pool.options().entropy_count);
}

}  // namespace

std::vector<PathId> ActivePaths(const Pool& pool) {
  std::vector<PathId> active = pool.running();
  std::erase_if(active, [&pool](PathId id) { return pool.path(id).warmup; });
  return active;
}

PoolStatistics StatisticsOf(const Pool& pool) {
  std::vector<PathView> views;
  const std::vector<PathId> active = ActivePaths(pool);
  views.reserve(active.size());
  for (const PathId id : active) {
    const Path& path = pool.path(id);
    if (path.length() > 0) {
      views.push_back(ViewOf(path, path.length(), SuffixTokens(pool.options()), path.top));
    }
  }
  return Compute(pool, views);
}

std::vector<DecisionRecord::Reading> ReadingsOf(const Pool& pool) {
  std::vector<DecisionRecord::Reading> readings;
  for (const PathId id : ActivePaths(pool)) {
    readings.push_back({id, pool.path(id).top});
  }
  return readings;
}

std::vector<WarmupRecord::Position> WarmupPositions(const Pool& pool) {
  int longest = 0;
  for (const Path& path : pool.paths()) {
    longest = std::max(longest, path.length());
  }
  std::vector<WarmupRecord::Position> positions;
  std::vector<PathView> views;
  for (int length = 1; length <= longest; ++length) {
    views.clear();
    for (const Path& path : pool.paths()) {
      if (path.length() >= length) {
        views.push_back(ViewOf(path, length, SuffixTokens(pool.options()),
                               path.top_history[static_cast<size_t>(length - 1)]));
      }
    }
    positions.push_back({Compute(pool, views), static_cast<int>(views.size())});
  }
  return positions;
}

}  // namespace hyper

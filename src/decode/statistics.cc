#include "src/decode/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hyper/pool.h"

namespace hyper {

StatisticsRecord ToRecord(const PoolStatistics& statistics) {
  StatisticsRecord record;
  record.confidence = statistics.mean_confidence;
  record.entropy = statistics.mean_entropy;
  record.consensus = statistics.consensus;
  record.distribution_diversity = statistics.distribution_diversity;
  record.sequence_diversity = statistics.sequence_diversity;
  record.diversity = statistics.diversity;
  record.variance = statistics.confidence_variance;
  return record;
}

StatisticsRecord ToRecord(const NormalisedStatistics& normalised, const StatisticsRecord& raw) {
  StatisticsRecord record;
  record.confidence = normalised.confidence;
  record.entropy = normalised.entropy;
  record.consensus = normalised.consensus;
  record.distribution_diversity = raw.distribution_diversity;
  record.sequence_diversity = raw.sequence_diversity;
  record.diversity = normalised.diversity;
  record.variance = normalised.variance;
  return record;
}

PoolStatistics ToCore(const StatisticsRecord& record) {
  PoolStatistics statistics;
  statistics.mean_confidence = record.confidence;
  statistics.mean_entropy = record.entropy;
  statistics.consensus = record.consensus;
  statistics.distribution_diversity = record.distribution_diversity;
  statistics.sequence_diversity = record.sequence_diversity;
  statistics.diversity = record.diversity;
  statistics.confidence_variance = record.variance;
  return statistics;
}

namespace {

// What core needs of `path` after `length` of its tokens; the suffix begins no earlier than
// `since`.
PathView ViewOf(const Path& path, int length, int suffix, int since,
                const std::vector<TokenLogprob>& top) {
  const auto last = static_cast<size_t>(length - 1);
  const int begin = std::max(length - suffix, std::min(since, length - 1));
  PathView view;
  view.confidence = path.confidences[last];
  view.entropy = path.entropies[last];
  view.chosen = path.tokens[last];
  view.top = top;
  view.suffix = std::span(path.tokens)
                    .subspan(static_cast<size_t>(begin), static_cast<size_t>(length - begin));
  return view;
}

WarmupRecord::Maximum ToRecord(const Maximum& maximum) {
  return {maximum.value, static_cast<int>(maximum.position), static_cast<int>(maximum.pool_size)};
}

}  // namespace

StatisticsRecord Pool::Statistics(int since) const {
  std::vector<PathView> views;
  views.reserve(running_.size());
  for (const PathId id : running_) {
    const Path& path = paths_[static_cast<size_t>(id)];
    if (path.length() > 0) {
      views.push_back(ViewOf(path, path.length(), SuffixTokens(config_.options), since, path.top));
    }
  }
  return ToRecord(ComputePoolStatistics(views, config_.options.eta, config_.options.entropy_count));
}

WarmupRecord Pool::WarmupStatistics() const {
  MaxStatistics maxima;
  int longest = 0;
  for (const Path& path : paths_) {
    longest = path.warmup ? std::max(longest, path.length()) : longest;
  }
  std::vector<PathView> views;
  for (int length = 1; length <= longest; ++length) {
    views.clear();
    for (const Path& path : paths_) {
      if (path.warmup && path.length() >= length) {
        views.push_back(ViewOf(path, length, SuffixTokens(config_.options), 0,
                               path.top_history[static_cast<size_t>(length - 1)]));
      }
    }
    maxima.Observe(ComputePoolStatistics(views, config_.options.eta, config_.options.entropy_count),
                   length);
  }
  WarmupRecord record;
  record.confidence = ToRecord(maxima.confidence);
  record.entropy = ToRecord(maxima.entropy);
  record.diversity = ToRecord(maxima.diversity);
  record.variance = ToRecord(maxima.variance);
  return record;
}

}  // namespace hyper

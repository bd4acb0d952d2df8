#include "src/core/pool_stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hyper {
namespace {

template <class Value>
double MeanOfKnown(std::span<const PathView> paths, Value value) {
  double sum = 0;
  size_t known = 0;
  for (const PathView& path : paths) {
    if (std::isnan(value(path))) {
      continue;
    }
    sum += value(path);
    ++known;
  }
  return known == 0 ? 0.0 : sum / static_cast<double>(known);
}

// Mean over pairs p < q: the factor 2 / (S (S - 1)) of eqs. Ddist-def-app and Dseq-def-app.
template <class Distance>
double MeanOverPairs(size_t count, Distance distance) {
  if (count < 2) {
    return 0;
  }
  double sum = 0;
  for (size_t p = 0; p + 1 < count; ++p) {
    for (size_t q = p + 1; q < count; ++q) {
      sum += distance(p, q);
    }
  }
  return 2 * sum / (static_cast<double>(count) * static_cast<double>(count - 1));
}

// P log(P / M), with 0 log 0 = 0.
double DivergenceTerm(double probability, double mixture) {
  return probability > 0 ? probability * std::log(probability / mixture) : 0.0;
}

}  // namespace

double MeanConfidence(std::span<const PathView> paths) {
  return MeanOfKnown(paths, [](const PathView& path) { return path.confidence; });
}

double MeanEntropy(std::span<const PathView> paths) {
  return MeanOfKnown(paths, [](const PathView& path) { return path.entropy; });
}

double ConfidenceVariance(std::span<const PathView> paths) {
  const double mean = MeanConfidence(paths);
  return MeanOfKnown(paths, [mean](const PathView& path) {
    return (path.confidence - mean) * (path.confidence - mean);
  });
}

double Consensus(std::span<const PathView> paths) {
  if (paths.empty()) {
    return 0;
  }
  std::vector<Token> tokens;
  tokens.reserve(paths.size());
  for (const PathView& path : paths) {
    tokens.push_back(path.chosen);
  }
  std::sort(tokens.begin(), tokens.end());
  size_t longest = 0;
  size_t run = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    run = i > 0 && tokens[i] == tokens[i - 1] ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  return static_cast<double>(longest) / static_cast<double>(tokens.size());
}

double JensenShannon(std::span<const TokenProbability> p, std::span<const TokenProbability> q) {
  if (p.empty() || q.empty()) {
    return 0;
  }
  double divergence = 0;
  size_t i = 0;
  size_t j = 0;
  while (i < p.size() || j < q.size()) {
    const bool take_p = j == q.size() || (i < p.size() && p[i].token <= q[j].token);
    const bool take_q = i == p.size() || (j < q.size() && q[j].token <= p[i].token);
    const double p_value = take_p ? p[i++].probability : 0.0;
    const double q_value = take_q ? q[j++].probability : 0.0;
    const double mixture = 0.5 * (p_value + q_value);
    divergence += 0.5 * DivergenceTerm(p_value, mixture) + 0.5 * DivergenceTerm(q_value, mixture);
  }
  return std::max(divergence, 0.0);
}

double DistributionDiversity(std::span<const PathView> paths, int k) {
  std::vector<std::vector<TokenProbability>> distributions;
  distributions.reserve(paths.size());
  for (const PathView& path : paths) {
    distributions.push_back(Renormalise(path.top, k));
  }
  return MeanOverPairs(paths.size(), [&](size_t p, size_t q) {
    return JensenShannon(distributions[p], distributions[q]);
  });
}

double SequenceDiversity(std::span<const PathView> paths) {
  return MeanOverPairs(paths.size(), [&](size_t p, size_t q) {
    const size_t longer = std::max(paths[p].suffix.size(), paths[q].suffix.size());
    if (longer == 0) {
      return 0.0;
    }
    return static_cast<double>(Levenshtein(paths[p].suffix, paths[q].suffix)) /
           static_cast<double>(longer);
  });
}

PoolStatistics ComputePoolStatistics(std::span<const PathView> paths, double eta, int k) {
  PoolStatistics statistics;
  statistics.confidence = MeanConfidence(paths);
  statistics.entropy = MeanEntropy(paths);
  statistics.consensus = Consensus(paths);
  statistics.distribution_diversity = DistributionDiversity(paths, k);
  statistics.sequence_diversity = SequenceDiversity(paths);
  statistics.diversity =
      eta * statistics.distribution_diversity + (1 - eta) * statistics.sequence_diversity;
  statistics.variance = ConfidenceVariance(paths);
  return statistics;
}

}  // namespace hyper

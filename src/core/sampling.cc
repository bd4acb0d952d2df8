#include "src/core/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace hyper {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// Longest top-k that SummarizeRow's sorted list is good for; a longer one is selected in bulk.
constexpr int kLongestList = 256;
// Weights are summed, and searched, block by block.
constexpr size_t kBlock = 1024;

// Whether a ranks before b: larger first, of equals the lower token.
bool Before(const SamplerCandidate& a, const SamplerCandidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// 1 / temperature, bounded so that a product with a logit difference of 0 stays 0.
float InverseTemperature(double temperature) {
  return static_cast<float>(std::min(1 / temperature, 1e30));
}

// Sum in eight lanes, which compilers turn into vector code.
double BlockSum(std::span<const float> weights) {
  std::array<double, 8> lanes{};
  size_t i = 0;
  for (; i + lanes.size() <= weights.size(); i += lanes.size()) {
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] += weights[i + lane];
    }
  }
  for (; i < weights.size(); ++i) {
    lanes[0] += weights[i];
  }
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

std::span<const float> BlockAt(std::span<const float> weights, size_t begin) {
  return weights.subspan(begin, std::min(kBlock, weights.size() - begin));
}

double Sum(std::span<const float> weights) {
  double sum = 0;
  for (size_t begin = 0; begin < weights.size(); begin += kBlock) {
    sum += BlockSum(BlockAt(weights, begin));
  }
  return sum;
}

// First token whose running sum of weights exceeds `target`; where rounding lets none, the last
// with a weight.
Token InvertDistribution(std::span<const float> weights, double target) {
  double sum = 0;
  size_t begin = 0;
  for (; begin + kBlock < weights.size(); begin += kBlock) {
    const double block = BlockSum(BlockAt(weights, begin));
    if (sum + block > target) {
      break;
    }
    sum += block;
  }
  for (size_t token = begin; token < weights.size(); ++token) {
    sum += weights[token];
    if (sum > target && weights[token] > 0) {
      return static_cast<Token>(token);
    }
  }
  const auto last = std::find_if(weights.rbegin(), weights.rend(), [](float w) { return w > 0; });
  return static_cast<Token>(weights.rend() - last) - 1;
}

// The k largest, by rank.
void KeepTopK(std::span<const float> logits, int k, const RowSummary& summary,
              std::vector<SamplerCandidate>& kept) {
  kept.clear();
  if (k <= kLongestList) {
    for (const TokenLogprob& entry : summary.top) {
      const float logit = logits[static_cast<size_t>(entry.token)];
      if (logit > kMinusInfinity) {
        kept.push_back({logit, 0, entry.token});
      }
    }
    return;
  }
  for (size_t token = 0; token < logits.size(); ++token) {
    if (logits[token] > kMinusInfinity) {
      kept.push_back({logits[token], 0, static_cast<Token>(token)});
    }
  }
  const size_t wanted = std::min(static_cast<size_t>(k), kept.size());
  const auto end = kept.begin() + static_cast<std::ptrdiff_t>(wanted);
  std::nth_element(kept.begin(), end, kept.end(), Before);
  kept.erase(end, kept.end());
  std::sort(kept.begin(), kept.end(), Before);
}

// Cuts ranked candidates after the first whose running sum reaches `mass`.
void CutAtMass(double mass, std::vector<SamplerCandidate>& ranked) {
  double sum = 0;
  for (size_t i = 0; i < ranked.size(); ++i) {
    sum += ranked[i].weight;
    if (sum >= mass) {
      ranked.resize(i + 1);
      return;
    }
  }
}

// Those of a whole row that weigh at least `least` (and anything at all), in token order.
double CollectWeights(std::span<const float> logits, std::span<const float> weights, float least,
                      std::vector<SamplerCandidate>& kept) {
  kept.clear();
  double sum = 0;
  for (size_t token = 0; token < weights.size(); ++token) {
    if (weights[token] < least || weights[token] == 0) {
      continue;
    }
    kept.push_back({logits[token], weights[token], static_cast<Token>(token)});
    sum += weights[token];
  }
  return sum;
}

// top-p over a whole row, by rank. The tokens above some weight are a first part of the ranking;
// the weight is lowered until they hold the mass, so that few are sorted.
void KeepTopP(std::span<const float> logits, std::span<const float> weights, double p,
              std::vector<SamplerCandidate>& kept) {
  const double mass = p * Sum(weights);
  float least = 1.0F / 32;
  while (CollectWeights(logits, weights, least, kept) < mass && least > 0) {
    least /= 32;
  }
  std::sort(kept.begin(), kept.end(), Before);
  CutAtMass(mass, kept);
}

// Candidates after temperature and top-k, and top-p with it: by rank where that matters.
void Filter(std::span<const float> logits, const SamplerSpec& spec, SamplerScratch& scratch) {
  std::vector<SamplerCandidate>& kept = scratch.candidates;
  const float max = scratch.summary.max;
  if (spec.top_k > 0) {
    KeepTopK(logits, spec.top_k, scratch.summary, kept);
    const double inverse = InverseTemperature(spec.temperature);
    double sum = 0;
    for (SamplerCandidate& candidate : kept) {
      const double distance = static_cast<double>(candidate.logit) - max;
      candidate.weight = static_cast<float>(std::exp(distance * inverse));
      sum += candidate.weight;
    }
    if (spec.top_p < 1) {
      CutAtMass(spec.top_p * sum, kept);
    }
  } else if (spec.top_p < 1) {
    KeepTopP(logits, scratch.weights, spec.top_p, kept);
  } else {
    CollectWeights(logits, scratch.weights, 0, kept);
  }
  // The largest weight is exp(0).
  std::erase_if(kept, [&](const SamplerCandidate& each) { return each.weight < spec.min_p; });
}

}  // namespace

Token MostProbableToken(std::span<const float> logits) {
  Token best = kNoToken;
  float largest = kMinusInfinity;
  for (size_t token = 0; token < logits.size(); ++token) {
    if (logits[token] > largest) {
      largest = logits[token];
      best = static_cast<Token>(token);
    }
  }
  return best;
}

Token SampleToken(std::span<const float> logits, const SamplerSpec& spec, double u,
                  SamplerScratch& scratch) {
  const int listed = spec.top_k > kLongestList ? 1 : std::max(spec.top_k, 1);
  SummarizeRow(logits, listed, scratch.summary);
  if (scratch.summary.degenerate) {
    return MostProbableToken(logits);
  }
  if (!(spec.temperature > 0)) {
    return scratch.summary.top.front().token;
  }
  if (spec.top_k <= 0) {
    scratch.weights.resize(logits.size());
    ExponentialWeights(logits, scratch.summary.max, InverseTemperature(spec.temperature),
                       scratch.weights);
    const bool unfiltered = spec.top_p >= 1 && spec.min_p <= 0;
    if (unfiltered) {
      return InvertDistribution(scratch.weights, u * Sum(scratch.weights));
    }
  }
  Filter(logits, spec, scratch);
  std::vector<SamplerCandidate>& kept = scratch.candidates;
  std::sort(kept.begin(), kept.end(),
            [](const SamplerCandidate& a, const SamplerCandidate& b) { return a.token < b.token; });
  scratch.weights.clear();
  for (const SamplerCandidate& candidate : kept) {
    scratch.weights.push_back(candidate.weight);
  }
  const Token drawn = InvertDistribution(scratch.weights, u * Sum(scratch.weights));
  return kept[static_cast<size_t>(drawn)].token;
}

}  // namespace hyper

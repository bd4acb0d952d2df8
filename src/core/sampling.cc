#include "src/core/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "src/core/logits.h"

namespace hyper {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

using Candidate = std::pair<float, Token>;  // a logit or weight, and its token

// Whether a ranks before b: larger first, of equals the lower token.
bool Before(const Candidate& a, const Candidate& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

// Inverse of 1 / temperature that keeps products with logit differences out of 0 x inf.
float InverseTemperature(double temperature) {
  return static_cast<float>(std::min(1 / temperature, 1e30));
}

// First index whose running sum of weights exceeds `target`; the last positive one where rounding
// lets none.
template <class Weights, class WeightOf>
size_t InvertDistribution(const Weights& weights, double target, WeightOf weight_of) {
  double sum = 0;
  size_t last_positive = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double weight = weight_of(weights[i]);
    if (weight > 0) last_positive = i;
    sum += weight;
    if (sum > target) return i;
  }
  return last_positive;
}

// Without filters: over the row itself.
Token DrawUnfiltered(std::span<const float> logits, float max, double temperature, double u,
                     SamplerScratch& scratch) {
  scratch.weights.resize(logits.size());
  ExponentialWeights(logits, max, InverseTemperature(temperature), scratch.weights);
  double total = 0;  // in the order of the walk below
  for (float weight : scratch.weights) total += weight;
  return static_cast<Token>(
      InvertDistribution(scratch.weights, u * total, [](float weight) { return weight; }));
}

// The k largest logits, in no order; all finite ones where k is 0.
void KeepTopK(std::span<const float> logits, int k, std::vector<Candidate>& kept) {
  kept.clear();
  const size_t wanted = k > 0 ? static_cast<size_t>(k) : logits.size();
  for (size_t token = 0; token < logits.size(); ++token) {
    if (!(logits[token] > kMinusInfinity)) continue;
    const Candidate candidate{logits[token], static_cast<Token>(token)};
    if (kept.size() < wanted) {
      kept.push_back(candidate);
      // From here on a heap with the least of the kept in front.
      if (k > 0 && kept.size() == wanted) std::make_heap(kept.begin(), kept.end(), Before);
    } else if (Before(candidate, kept.front())) {
      std::pop_heap(kept.begin(), kept.end(), Before);
      kept.back() = candidate;
      std::push_heap(kept.begin(), kept.end(), Before);
    }
  }
}

// Keeps the fewest candidates, from the largest down, that reach the share `p` of all.
void KeepTopP(double p, std::vector<Candidate>& kept) {
  double total = 0;
  for (const Candidate& candidate : kept) total += candidate.first;
  // A heap gives the largest one by one, so only as many are ordered as are kept.
  const auto after = [](const Candidate& a, const Candidate& b) { return Before(b, a); };
  std::make_heap(kept.begin(), kept.end(), after);
  double sum = 0;
  auto rest = kept.end();
  while (rest != kept.begin()) {
    std::pop_heap(kept.begin(), rest, after);
    --rest;
    sum += rest->first;
    if (sum >= p * total) break;
  }
  kept.erase(kept.begin(), rest);
}

void KeepMinP(double p, float largest, std::vector<Candidate>& kept) {
  std::erase_if(kept, [&](const Candidate& candidate) { return candidate.first < p * largest; });
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
  const Token best = MostProbableToken(logits);
  if (best == kNoToken || !(spec.temperature > 0)) return best;
  const float max = logits[static_cast<size_t>(best)];
  if (!std::isfinite(max)) return best;
  const bool filtered = spec.top_k > 0 || spec.top_p < 1 || spec.min_p > 0;
  if (!filtered) return DrawUnfiltered(logits, max, spec.temperature, u, scratch);

  std::vector<Candidate>& kept = scratch.candidates;
  KeepTopK(logits, spec.top_k, kept);
  const double inverse = InverseTemperature(spec.temperature);
  for (Candidate& candidate : kept) {
    const double distance = static_cast<double>(candidate.first) - max;
    candidate.first = static_cast<float>(std::exp(distance * inverse));
  }
  if (spec.top_p < 1) KeepTopP(spec.top_p, kept);
  if (spec.min_p > 0) KeepMinP(spec.min_p, 1.0F, kept);  // the largest weight is exp(0)
  std::sort(kept.begin(), kept.end(),
            [](const Candidate& a, const Candidate& b) { return a.second < b.second; });
  double total = 0;
  for (const Candidate& candidate : kept) total += candidate.first;
  const size_t drawn = InvertDistribution(
      kept, u * total, [](const Candidate& candidate) { return candidate.first; });
  return kept[drawn].second;
}

}  // namespace hyper

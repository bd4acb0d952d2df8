// Softmax of short lists, and its case of two: the share of one reply against another.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace hyper {

template <class Value>
struct ScaledWeights {
  std::vector<Value> weights;
  double total = 0;  // their sum
};

// Weights exp(value / temperature), scaled so that the largest is 1: shares are ratios, and nothing
// overflows.
//   values  any numbers; NaN weighs 0      temperature  > 0
// Returns all 0 where the largest value is not finite. Pure.
template <class Value>
ScaledWeights<Value> ScaledExponentials(std::span<const Value> values, double temperature) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Value value : values) {
    if (!std::isnan(value)) {
      largest = std::max(largest, static_cast<double>(value));
    }
  }
  ScaledWeights<Value> scaled{std::vector<Value>(values.size(), 0), 0};
  for (size_t i = 0; i < values.size() && std::isfinite(largest); ++i) {
    if (!std::isnan(values[i])) {
      const double weight = std::exp((static_cast<double>(values[i]) - largest) / temperature);
      scaled.weights[i] = static_cast<Value>(weight);
      scaled.total += weight;
    }
  }
  return scaled;
}

// softmax(values / temperature): weights that sum to 1; all 0 where the largest value is not
// finite. Arguments as above. Pure.
template <class Value>
std::vector<Value> Softmax(std::span<const Value> values, double temperature = 1) {
  auto [weights, total] = ScaledExponentials(values, temperature);
  for (Value& weight : weights) {
    weight = total > 0 ? static_cast<Value>(weight / total) : Value{0};
  }
  return std::move(weights);
}

// P(first) / (P(first) + P(second)) of two log-probabilities, such as P(True) out of those of "Yes"
// and "No". Returns NaN where neither is finite. Pure.
inline double ShareOfFirst(double first_logprob, double second_logprob) {
  const double larger = std::max(first_logprob, second_logprob);
  if (!std::isfinite(larger)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double first = std::exp(first_logprob - larger);
  return first / (first + std::exp(second_logprob - larger));
}

}  // namespace hyper

// Which paths of a question are unsure, by a mixture fitted to their mean token probabilities.
#pragma once

#include <span>
#include <vector>

namespace hyper {

// Fewest values that a mixture is fitted to: it has five parameters.
inline constexpr int kMixtureValues = 16;

struct Weibull {
  double shape = 1;  // k > 0
  double scale = 1;  // lambda > 0
};

// share * low + (1 - share) * high.
struct WeibullMixture {
  double share = 0.5;  // of `low`, in [0.2, 0.8]
  Weibull low;         // the component with the smaller mean, lambda Gamma(1 + 1/k)
  Weibull high;
};

// Log-density log k/lambda + (k - 1) log x/lambda - (x/lambda)^k. For x > 0. Pure.
double LogDensity(const Weibull& weibull, double x);

// Maximum likelihood fit by expectation maximisation, which starts from the lowest quarter, half
// and three quarters of the values; the best of the three ends is returned. The share stays in
// [0.2, 0.8], shapes in [0.01, 1000].
// Source: Zhou et al., "A Theoretical Study on Bridging Internal Probability and Self-Consistency
// for LLM Reasoning" (RPC, NeurIPS 2025), its reasoning pruning. Their program climbs once, from a
// start outside the range of probabilities; these starts end at a likelihood as high or higher.
//   values  > 0, at least two
// Pure; O(values) for each of at most 1500 steps.
WeibullMixture FitWeibullMixture(std::span<const double> values);

// RPC's reasoning pruning: a value is dropped where it more likely belongs to the lower component
// of the mixture and is below the mean of all values. All stay where there are fewer than
// kMixtureValues, or where all are equal.
//   values  > 0
// Pure.
std::vector<bool> KeptByMixture(std::span<const double> values);

}  // namespace hyper

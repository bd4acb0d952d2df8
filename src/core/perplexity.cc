#include "src/core/perplexity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace hyper {
namespace {

constexpr double kLeastShape = 0.01;
constexpr double kMostShape = 1000;
constexpr double kLeastShare = 0.2;
constexpr double kMostShare = 0.8;
constexpr int kMostSteps = 500;
constexpr double kEnoughGain = 1e-10;  // gain of a step in log-likelihood, relative

// Fitted values over the largest, so that no power of them overflows.
struct WeibullSample {
  std::vector<double> values;  // in (0, 1]
  std::vector<double> logs;
};

struct PowerSums {
  double power = 0;      // sum r x^k
  double power_log = 0;  // sum r x^k log x
};

PowerSums PowerSumsAt(const WeibullSample& sample, std::span<const double> weights, double shape) {
  PowerSums sums;
  for (size_t i = 0; i < sample.values.size(); ++i) {
    const double power = weights[i] * std::exp(shape * sample.logs[i]);
    sums.power += power;
    sums.power_log += power * sample.logs[i];
  }
  return sums;
}

// The weighted maximum likelihood estimate: k solves
//   sum r x^k log x / sum r x^k - 1/k = sum r log x / sum r,
// whose left side grows in k; then lambda^k = sum r x^k / sum r.
Weibull FitWeibull(const WeibullSample& sample, std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double mean_log =
      std::inner_product(weights.begin(), weights.end(), sample.logs.begin(), 0.0) / total;
  double below = kLeastShape;
  double above = kMostShape;
  for (int i = 0; i < 50; ++i) {
    const double shape = std::sqrt(below * above);
    const PowerSums sums = PowerSumsAt(sample, weights, shape);
    const bool large = sums.power_log / sums.power - 1 / shape > mean_log;
    (large ? above : below) = shape;
  }
  const double shape = std::sqrt(below * above);
  return {shape, std::pow(PowerSumsAt(sample, weights, shape).power / total, 1 / shape)};
}

double ExpectedValue(const Weibull& weibull) {
  return weibull.scale * std::tgamma(1 + 1 / weibull.shape);
}

// log of share * low(x) against (1 - share) * high(x).
double LogOdds(const WeibullMixture& mixture, double x) {
  return std::log(mixture.share / (1 - mixture.share)) + LogDensity(mixture.low, x) -
         LogDensity(mixture.high, x);
}

struct Climbed {
  WeibullMixture mixture;
  double likelihood = -HUGE_VAL;  // its logarithm
};

// Expectation maximisation from the values below `split` against the others.
Climbed Climb(const WeibullSample& sample, double split) {
  std::vector<double> lower(sample.values.size());  // probability of the lower component, by value
  std::transform(sample.values.begin(), sample.values.end(), lower.begin(),
                 [split](double value) { return value < split ? 0.99 : 0.01; });
  std::vector<double> upper(lower.size());
  Climbed now;
  for (int step = 0; step < kMostSteps; ++step) {
    std::transform(lower.begin(), lower.end(), upper.begin(), [](double part) { return 1 - part; });
    WeibullMixture& mixture = now.mixture;
    mixture.share = std::clamp(
        std::accumulate(lower.begin(), lower.end(), 0.0) / static_cast<double>(lower.size()),
        kLeastShare, kMostShare);
    mixture.low = FitWeibull(sample, lower);
    mixture.high = FitWeibull(sample, upper);
    const double before = std::exchange(now.likelihood, 0);
    for (size_t i = 0; i < lower.size(); ++i) {
      const double odds = LogOdds(mixture, sample.values[i]);
      lower[i] = 1 / (1 + std::exp(-odds));
      // log(share low + (1 - share) high), by the larger of the two.
      now.likelihood += std::log1p(std::exp(-std::abs(odds))) + std::max(odds, 0.0) +
                        std::log(1 - mixture.share) + LogDensity(mixture.high, sample.values[i]);
    }
    if (now.likelihood - before <= kEnoughGain * std::abs(now.likelihood)) {
      break;
    }
  }
  return now;
}

}  // namespace

double LogDensity(const Weibull& weibull, double x) {
  const double log_ratio = std::log(x / weibull.scale);
  return std::log(weibull.shape / weibull.scale) + (weibull.shape - 1) * log_ratio -
         std::exp(weibull.shape * log_ratio);
}

WeibullMixture FitWeibullMixture(std::span<const double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  WeibullSample sample;
  for (const double value : values) {
    sample.values.push_back(value / largest);
    sample.logs.push_back(std::log(value / largest));
  }
  std::vector<double> sorted = sample.values;
  std::sort(sorted.begin(), sorted.end());
  Climbed best;
  for (const size_t quarter : {1, 2, 3}) {
    const Climbed climbed = Climb(sample, sorted[sorted.size() * quarter / 4]);
    if (climbed.likelihood > best.likelihood) {
      best = climbed;
    }
  }
  WeibullMixture& mixture = best.mixture;
  mixture.low.scale *= largest;
  mixture.high.scale *= largest;
  if (ExpectedValue(mixture.low) > ExpectedValue(mixture.high)) {
    std::swap(mixture.low, mixture.high);
    mixture.share = 1 - mixture.share;
  }
  return mixture;
}

std::vector<bool> KeptByMixture(std::span<const double> values) {
  std::vector<bool> kept(values.size(), true);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (static_cast<int>(values.size()) < kMixtureValues || *least == *most) {
    return kept;
  }
  const WeibullMixture mixture = FitWeibullMixture(values);
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    kept[i] = values[i] >= mean || !(LogOdds(mixture, values[i]) > 0);
  }
  return kept;
}

}  // namespace hyper

#include "src/core/perplexity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace hyper {
namespace {

// Two separate groups; a narrow group beside a broad one.
const std::vector<double> kTwoGroups = {
    0.64,  0.738,  0.696,  0.718,  0.74,   0.675,  0.708,  0.7,    0.754,  0.742,
    0.71,  0.743,  0.7,    0.744,  0.777,  0.776,  0.84,   0.8555, 0.868,  0.8505,
    0.866, 0.8575, 0.873,  0.8885, 0.868,  0.8835, 0.899,  0.8815, 0.897,  0.8885,
    0.904, 0.9195, 0.8965, 0.912,  0.9275, 0.91,   0.9255, 0.917,  0.9325, 0.948};
const std::vector<double> kBroadAndNarrow = {
    0.31,   0.42,   0.47,   0.53,   0.56,   0.6,    0.64,   0.67,   0.71,  0.75,   0.86,   0.8653,
    0.8646, 0.8639, 0.8692, 0.8685, 0.8678, 0.8731, 0.8724, 0.8717, 0.877, 0.8763, 0.8756, 0.97};

// The likelihood by the formula as it is written.
double LogLikelihood(const std::vector<double>& values, double share, double k1, double lambda1,
                     double k2, double lambda2) {
  const auto density = [](double x, double k, double lambda) {
    return k / lambda * std::pow(x / lambda, k - 1) * std::exp(-std::pow(x / lambda, k));
  };
  double sum = 0;
  for (const double x : values) {
    sum += std::log(share * density(x, k1, lambda1) + (1 - share) * density(x, k2, lambda2));
  }
  return sum;
}

double LogLikelihood(const std::vector<double>& values, const WeibullMixture& fit) {
  return LogLikelihood(values, fit.share, fit.low.shape, fit.low.scale, fit.high.shape,
                       fit.high.scale);
}

std::vector<double> Dropped(const std::vector<double>& values) {
  const std::vector<bool> kept = KeptByMixture(values);
  std::vector<double> dropped;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!kept[i]) {
      dropped.push_back(values[i]);
    }
  }
  return dropped;
}

TEST(WeibullMixture, DensityIsThatOfTheFormula) {
  for (const double x : {0.2, 0.7, 0.95}) {
    EXPECT_NEAR(LogDensity({2.5, 0.8}, x), LogLikelihood({x}, 1, 2.5, 0.8, 1, 1), 1e-12);
  }
}

// The maximum as SciPy's differential evolution and Nelder-Mead find it.
TEST(WeibullMixture, FitsAsGlobalSearchDoes) {
  const WeibullMixture fit = FitWeibullMixture(kBroadAndNarrow);
  EXPECT_NEAR(fit.share, 0.467665, 1e-4);
  EXPECT_NEAR(fit.low.shape, 3.805435, 1e-3);
  EXPECT_NEAR(fit.low.scale, 0.672181, 1e-4);
  EXPECT_NEAR(fit.high.shape, 199.431, 0.05);
  EXPECT_NEAR(fit.high.scale, 0.872133, 1e-5);
  EXPECT_NEAR(LogLikelihood(kBroadAndNarrow, fit), 37.711879, 1e-4);
}

// No step to any side gains, whatever the unit.
TEST(WeibullMixture, IsAMaximum) {
  for (const double unit : {1.0, 1e-3, 40.0}) {
    std::vector<double> values = kTwoGroups;
    std::transform(values.begin(), values.end(), values.begin(),
                   [unit](double value) { return value * unit; });
    const WeibullMixture fit = FitWeibullMixture(values);
    const double best = LogLikelihood(values, fit);
    EXPECT_LT(fit.low.scale, 0.8 * unit);
    EXPECT_GT(fit.high.scale, 0.85 * unit);
    for (const double step : {0.97, 1.03}) {
      for (int at = 0; at < 5; ++at) {
        WeibullMixture other = fit;
        double* const fields[] = {&other.share, &other.low.shape, &other.low.scale,
                                  &other.high.shape, &other.high.scale};
        *fields[at] *= step;
        EXPECT_LT(LogLikelihood(values, other), best) << at << ' ' << step;
      }
    }
  }
}

TEST(WeibullMixture, ShareStaysInItsRange) {
  std::vector<double> values = {0.5};
  for (int i = 0; i < 40; ++i) {
    values.push_back(0.9 + 0.0001 * i);
  }
  EXPECT_NEAR(FitWeibullMixture(values).share, 0.2, 1e-12);
  for (double& value : values) {
    value = 1.4 - value;
  }
  EXPECT_NEAR(FitWeibullMixture(values).share, 0.8, 1e-12);
}

// 0.75 and 0.97 are likelier under the broad component, which has the smaller mean; but they are
// above the mean of all, 0.747.
TEST(KeptByMixture, DropsTheLowerComponentBelowTheMean) {
  EXPECT_EQ(Dropped(kBroadAndNarrow),
            (std::vector<double>{0.31, 0.42, 0.47, 0.53, 0.56, 0.6, 0.64, 0.67, 0.71}));
}

// Values of the higher component stay although they are below the mean, 0.824: SciPy's maximum
// has share 0.2 and scales 0.6529 and 0.8844.
TEST(KeptByMixture, TheMeanAloneDropsNothing) {
  std::vector<double> values = {0.612,  0.655,  0.633,  0.601,  0.648,  0.69,   0.793,  0.801,
                                0.806,  0.81,   0.83,   0.8401, 0.8412, 0.8423, 0.8524, 0.8535,
                                0.8546, 0.8647, 0.8658, 0.8669, 0.877,  0.8781, 0.8792, 0.8893,
                                0.8904, 0.8915, 0.9016, 0.9027, 0.9038, 0.9139, 0.915,  0.96};
  const std::vector<double> dropped = {0.612, 0.655, 0.633, 0.601, 0.648, 0.69};
  EXPECT_EQ(Dropped(values), dropped);
  // Fifteen values are too few for five parameters.
  values.erase(values.begin() + 9, values.end() - 6);
  ASSERT_EQ(values.size(), 15U);
  EXPECT_EQ(Dropped(values), std::vector<double>());
  values.push_back(0.9);
  EXPECT_FALSE(Dropped(values).empty());
}

TEST(KeptByMixture, EqualValuesAllStay) {
  EXPECT_EQ(Dropped(std::vector<double>(30, 0.7)), std::vector<double>());
  std::vector<double> nearly(30, 0.7);
  nearly.push_back(0.9);
  const std::vector<bool> kept = KeptByMixture(nearly);
  EXPECT_TRUE(kept.back());
}

}  // namespace
}  // namespace hyper

#include "src/core/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace hyper {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

std::vector<double> SoftmaxOf(const std::vector<double>& values, double temperature) {
  return Softmax(std::span(values), temperature);
}

TEST(Softmax, EqualsTheNaiveQuotient) {
  const std::vector<double> weights = SoftmaxOf({1, 3, 2.5}, 0.5);
  const double sum = std::exp(2.0) + std::exp(6.0) + std::exp(5.0);
  EXPECT_NEAR(weights[0], std::exp(2.0) / sum, 1e-15);
  EXPECT_NEAR(weights[1], std::exp(6.0) / sum, 1e-15);
  EXPECT_NEAR(weights[2], std::exp(5.0) / sum, 1e-15);
}

TEST(Softmax, KeepsTheUnknownOutAndTheLargeFinite) {
  EXPECT_EQ(SoftmaxOf({kNotANumber, 5, 5}, 1), (std::vector<double>{0, 0.5, 0.5}));
  EXPECT_EQ(SoftmaxOf({1000, -1000}, 1), (std::vector<double>{1, 0}));
  EXPECT_EQ(SoftmaxOf({-INFINITY, 0}, 1), (std::vector<double>{0, 1}));
  EXPECT_EQ(SoftmaxOf({kNotANumber, kNotANumber}, 1), (std::vector<double>{0, 0}));
  EXPECT_EQ(SoftmaxOf({INFINITY, 0}, 1), (std::vector<double>{0, 0}));
  EXPECT_TRUE(SoftmaxOf({}, 1).empty());
}

TEST(ShareOfFirst, IsStableAndUnknownOnlyWithoutEither) {
  EXPECT_DOUBLE_EQ(ShareOfFirst(std::log(0.3), std::log(0.1)), 0.75);
  EXPECT_DOUBLE_EQ(ShareOfFirst(-1000, -1000), 0.5);
  EXPECT_DOUBLE_EQ(ShareOfFirst(-INFINITY, -3), 0);
  EXPECT_TRUE(std::isnan(ShareOfFirst(-INFINITY, -INFINITY)));
}

}  // namespace
}  // namespace hyper

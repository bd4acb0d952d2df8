#include "src/core/quantile.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hyper {
namespace {

TEST(Quantile, InterpolatesAsNumpyDoes) {
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({1, 2, 3, 4, 5}, 0.05), 1.2);
  EXPECT_DOUBLE_EQ(Quantile({7}, 0.95), 7);
  EXPECT_DOUBLE_EQ(Quantile({1, 9}, 1.0), 9);
  EXPECT_TRUE(std::isnan(Quantile({}, 0.5)));
}

}  // namespace
}  // namespace hyper

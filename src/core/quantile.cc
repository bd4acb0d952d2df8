#include "src/core/quantile.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace hyper {

double Quantile(std::vector<double> sample, double q) {
  if (sample.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::sort(sample.begin(), sample.end());
  const double at = q * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (at - static_cast<double>(below)) * (sample[above] - sample[below]);
}

}  // namespace hyper

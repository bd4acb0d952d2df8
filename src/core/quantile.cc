#include "src/core/quantile.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace hyper {

double Quantile(std::vector<double> sample, double q) {
  std::sort(sample.begin(), sample.end());
  return SortedQuantile(sample, q);
}

double SortedQuantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace hyper

// Quantiles of a sample.
#pragma once

#include <span>
#include <vector>

namespace hyper {

// Linearly interpolated quantile, as numpy.quantile has it; 0.5 is the median.
//   sample  finite values in any order      q  in [0, 1]
// Returns NaN for an empty sample. Pure; O(n log n).
double Quantile(std::vector<double> sample, double q);

// The same of a sample in ascending order. Pure; O(1).
double SortedQuantile(std::span<const double> sorted, double q);

}  // namespace hyper

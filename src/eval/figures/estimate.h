// Means over questions with their errors, for the points of figures. All functions here are pure.
#pragma once

#include <vector>

#include "src/eval/metrics/metrics.h"

namespace hyper::eval {

// What the notes of every figure with errors say of them.
inline constexpr const char* kErrorNote =
    "Errors: one standard deviation over repeats; with one repeat, a 95 % interval over questions.";

// The values of one question in one repeat: their sum and how many they are.
struct ValueSum {
  double sum = 0;
  double count = 0;

  void Add(double value) {
    sum += value;
    count += 1;
  }
};

struct Estimate {
  double mean = kNaN;
  double low = kNaN;  // NaN: unknown
  double high = kNaN;
};

// The mean of all values of a repeat, averaged over the repeats that have any. Its error is the
// sample standard deviation over these. With one repeat it is 1.96 standard errors of a ratio whose
// independent units are questions (linearised: Q/(Q-1) sum (s_q - m n_q)^2 / (sum n_q)^2, Cochran,
// Sampling Techniques, 6.4); unknown for one question.
//   sums  [repeat][question]
Estimate EstimateMean(const std::vector<std::vector<ValueSum>>& sums);

// The same for shares in [0, 1], one a question; with one repeat Wilson's interval over questions.
//   shares  [repeat][question]
Estimate EstimateShare(const std::vector<std::vector<double>>& shares);

// All three times `factor`, which is positive.
Estimate Scaled(const Estimate& estimate, double factor);

}  // namespace hyper::eval

// Numbers out of graded answers: accuracy with its spread, intervals, estimators over samples,
// and tests between two methods. All functions are pure.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "hyper/evaluation.h"
#include "hyper/result.h"

namespace hyper::eval {

// Stands for "no figure" in results and cells of tables.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Mean of values; NaN for none.
double Mean(std::span<const double> values);

// Sample standard deviation, divided by n - 1; NaN for fewer than two values. This is the "std" of
// every table: the spread of accuracies over repeats, not an error of the mean.
double SampleStd(std::span<const double> values);

// Probability that at least one of k samples drawn without replacement out of n, c of them right,
// is right: 1 - C(n-c, k) / C(n, k) (unbiased estimator of pass@k, Chen et al. 2021).
// The existence probability of Sec. 2 is the same with k paths.
//   n >= 1, 0 <= c <= n, 1 <= k <= n. Errors: kInvalidArgument, k > n included: more samples than
// there are cannot be estimated.
Result<double> PassAtK(int n, int c, int k);

// Probability that the majority among k samples drawn without replacement is right (unbiased
// estimator of maj@k). A tie of t answers that the right one takes part in counts 1 / t.
//   right   samples with the right answer
//   others  samples of each other answer
//   silent  samples without an answer: they are drawn, but do not vote
//   k       in [1, right + sum of others + silent]. Errors: kInvalidArgument.
// O(k^2 * samples).
Result<double> MajorityAtK(int right, std::span<const int> others, int silent, int k);

struct Interval {
  double low = 0;
  double high = 0;
};

// Wilson's 95 % score interval of a share of right answers among `questions` independent ones.
// Right after the first question, where a bootstrap of equal values has no width. A share that is a
// mean over repeats varies less than that of single answers, so its interval is on the safe side.
//   share in [0, 1]; questions >= 1
Interval WilsonInterval(double share, int questions);

// Exact McNemar test: the two-sided binomial probability of a split at least as uneven as the
// `only_a` questions that only the one method answers right and the `only_b` that only the other
// does, if both were equally good. 1 where there are none.
double McNemarExact(int only_a, int only_b);

// Paired bootstrap between two methods over the same questions: the mean difference a - b, its
// percentile interval, and the two-sided share of resamples on the other side of zero.
struct PairedDifference {
  double mean = 0;
  Interval interval;
  double p_value = 1;  // twice the smaller share of resamples at or beyond zero, at most 1
};
//   a, b  one value per question, equally long. Errors: kInvalidArgument (lengths, none).
Result<PairedDifference> PairedBootstrap(std::span<const double> a, std::span<const double> b,
                                         double level, int resamples, uint64_t seed);

// The area under the ROC curve: the probability that a random one of `right` is larger than a
// random one of `wrong`, ties counted half (Mann-Whitney). NaN where one is empty.
double RocArea(const std::vector<double>& right, std::vector<double> wrong);

using hyper::Outcome;

// Accuracy of a method over questions and repeats. right / all; what is undecided or failed counts
// as wrong in `mean` and `low`, as right in `high`.
struct Accuracy {
  int questions = 0;
  int repeats = 0;
  std::vector<double> per_repeat;  // share of right answers
  double mean = 0;                 // over repeats
  double std_dev = 0;              // over repeats, n - 1; NaN for one repeat
  double low = 0;
  double high = 0;
  double open_share = 0;  // undecided or failed
  // Wilson's over questions, not over repeats: from that of `low` to that of `high`.
  Interval interval;
  bool comparable = true;  // open_share is at most 2 %
};

// Largest share of undecided and failed items that still makes a row comparable.
inline constexpr double kLargestOpenShare = 0.02;
inline constexpr int kBootstrapResamples = 10'000;

//   outcomes  [question][repeat]; every question has the same number of repeats, at least one.
// Errors: kInvalidArgument.
Result<Accuracy> Summarise(std::span<const std::vector<Outcome>> outcomes);

}  // namespace hyper::eval

#include "src/eval/figures/estimate.h"

#include <algorithm>
#include <cmath>

namespace hyper::eval {
namespace {

constexpr double kNormal95 = 1.96;

Estimate OverRepeats(const std::vector<double>& means) {
  const double mean = Mean(means);
  const double spread = SampleStd(means);
  return {mean, mean - spread, mean + spread};
}

Estimate OverQuestions(const std::vector<ValueSum>& sums) {
  double sum = 0;
  double count = 0;
  double questions = 0;
  for (const ValueSum& one : sums) {
    sum += one.sum;
    count += one.count;
    questions += one.count > 0 ? 1 : 0;
  }
  const double mean = sum / count;
  if (questions < 2) {
    return {mean, kNaN, kNaN};
  }
  double squares = 0;
  for (const ValueSum& one : sums) {
    const double residual = one.sum - mean * one.count;
    squares += residual * residual;
  }
  const double half = kNormal95 * std::sqrt(questions / (questions - 1) * squares) / count;
  return {mean, mean - half, mean + half};
}

}  // namespace

Estimate EstimateMean(const std::vector<std::vector<ValueSum>>& sums) {
  std::vector<double> means;
  const std::vector<ValueSum>* last = nullptr;
  for (const std::vector<ValueSum>& repeat : sums) {
    double sum = 0;
    double count = 0;
    for (const ValueSum& one : repeat) {
      sum += one.sum;
      count += one.count;
    }
    if (count > 0) {
      means.push_back(sum / count);
      last = &repeat;
    }
  }
  if (means.empty()) {
    return {};
  }
  return means.size() > 1 ? OverRepeats(means) : OverQuestions(*last);
}

Estimate EstimateShare(const std::vector<std::vector<double>>& shares) {
  std::vector<double> means;
  for (const std::vector<double>& repeat : shares) {
    if (!repeat.empty()) {
      means.push_back(Mean(repeat));
    }
  }
  if (means.size() != 1) {
    return means.empty() ? Estimate{} : OverRepeats(means);
  }
  size_t questions = 0;
  for (const std::vector<double>& repeat : shares) {
    questions += repeat.size();
  }
  const Interval interval = WilsonInterval(means[0], static_cast<int>(questions));
  return {means[0], interval.low, interval.high};
}

Estimate Scaled(const Estimate& estimate, double factor) {
  return {factor * estimate.mean, factor * estimate.low, factor * estimate.high};
}

}  // namespace hyper::eval

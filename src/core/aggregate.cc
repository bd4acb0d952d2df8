#include "src/core/aggregate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/logits.h"

namespace hyper {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Weights of the routes by the rule; unusable routes have confidence NaN.
std::vector<double> RouteWeightsOf(std::span<const double> confidences,
                                   const AggregateOptions& options) {
  if (options.rule == RouteAggregate::kConfidence) {
    return RouteConfidenceWeights(confidences, options.temperature);
  }
  std::vector<double> weights;
  double usable = 0;
  for (double confidence : confidences) {
    weights.push_back(std::isnan(confidence) ? 0.0 : 1.0);
    usable += weights.back();
  }
  for (double& weight : weights) weight = usable > 0 ? weight / usable : 0.0;
  return weights;
}

// log P averaged (kConfidence) or P averaged (kMeanProb) for one token, over the routes.
double Combine(std::span<const std::span<const float>> routes, std::span<const double> log_sums,
               std::span<const double> weights, RouteAggregate rule, size_t token) {
  double sum = 0;
  for (size_t k = 0; k < routes.size(); ++k) {
    if (weights[k] == 0) continue;
    const double log_probability = routes[k][token] - log_sums[k];
    sum += weights[k] *
           (rule == RouteAggregate::kMeanProb ? std::exp(log_probability) : log_probability);
  }
  return rule == RouteAggregate::kMeanProb ? std::log(sum) : sum;
}

}  // namespace

std::vector<double> RouteConfidenceWeights(std::span<const double> confidences,
                                           double temperature) {
  double largest = -std::numeric_limits<double>::infinity();
  for (double confidence : confidences) {
    if (!std::isnan(confidence)) largest = std::max(largest, confidence);
  }
  std::vector<double> weights;
  double total = 0;
  for (double confidence : confidences) {
    const double exponent = (confidence - largest) / temperature;
    weights.push_back(std::isnan(exponent) ? 0.0 : std::exp(exponent));
    total += weights.back();
  }
  for (double& weight : weights) weight = total > 0 ? weight / total : 0.0;
  return weights;
}

std::vector<double> AggregateRoutes(std::span<const std::span<const float>> routes,
                                    const AggregateOptions& options, std::span<float> out) {
  std::vector<double> log_sums;
  std::vector<double> confidences;
  RowSummary summary;
  for (const std::span<const float> route : routes) {
    SummarizeRow(route, options.k + 1, summary);
    const Token chosen = summary.top.empty() ? kNoToken : summary.top.front().token;
    log_sums.push_back(summary.log_sum_exp);
    confidences.push_back(summary.degenerate
                              ? std::numeric_limits<double>::quiet_NaN()
                              : TokenConfidence(summary.top, chosen, options.set, options.k));
  }
  const std::vector<double> weights = RouteWeightsOf(confidences, options);
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; })) {
    std::fill(out.begin(), out.end(), kNan);
    return weights;
  }
  for (size_t token = 0; token < out.size(); ++token) {
    out[token] = static_cast<float>(Combine(routes, log_sums, weights, options.rule, token));
  }
  SummarizeRow(out, 0, summary);
  for (float& value : out) value = static_cast<float>(value - summary.log_sum_exp);
  return weights;
}

}  // namespace hyper

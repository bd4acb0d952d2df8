#include "src/core/aggregate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/core/logits.h"
#include "src/core/softmax.h"

namespace hyper {
namespace {

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
  for (double& weight : weights) {
    weight = usable > 0 ? weight / usable : 0.0;
  }
  return weights;
}

// One block of tokens at a time, so that the sums over the routes stay in the cache.
constexpr size_t kTokenBlock = 1024;

// log of the weighted mean over the routes, for the tokens from `begin` on: of log P
// (kConfidence, thus the mean of the logs) or of P (kMeanProb).
void CombineBlock(std::span<const std::span<const float>> routes, std::span<const double> log_sums,
                  std::span<const double> weights, RouteAggregate rule, size_t begin,
                  std::span<float> out) {
  std::array<double, kTokenBlock> sums{};
  std::array<float, kTokenBlock> probabilities;
  for (size_t k = 0; k < routes.size(); ++k) {
    if (weights[k] == 0) {
      continue;
    }
    const std::span<const float> logits = routes[k].subspan(begin, out.size());
    if (rule == RouteAggregate::kMeanProb) {
      ExponentialWeights(logits, static_cast<float>(log_sums[k]), 1.0F, probabilities);
      for (size_t i = 0; i < out.size(); ++i) {
        sums[i] += weights[k] * probabilities[i];
      }
    } else {
      for (size_t i = 0; i < out.size(); ++i) {
        sums[i] += weights[k] * (logits[i] - log_sums[k]);
      }
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const bool mean_prob = rule == RouteAggregate::kMeanProb;
    out[i] = static_cast<float>(mean_prob ? std::log(sums[i]) : sums[i]);
  }
}

}  // namespace

std::vector<double> RouteConfidenceWeights(std::span<const double> confidences,
                                           double temperature) {
  return Softmax(confidences, temperature);
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
  std::vector<double> weights = RouteWeightsOf(confidences, options);
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; })) {
    std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
    return weights;
  }
  for (size_t begin = 0; begin < out.size(); begin += kTokenBlock) {
    CombineBlock(routes, log_sums, weights, options.rule, begin,
                 out.subspan(begin, std::min(kTokenBlock, out.size() - begin)));
  }
  SummarizeRow(out, 0, summary);
  for (float& value : out) {
    value = static_cast<float>(value - summary.log_sum_exp);
  }
  return weights;
}

}  // namespace hyper

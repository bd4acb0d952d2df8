// Reduction of the K routes' next-token distributions into one (Sec. 3.2, step 3).
#pragma once

#include <span>
#include <vector>

#include "hyper/engine.h"
#include "src/core/confidence.h"

namespace hyper {

struct AggregateOptions {
  RouteAggregate rule = RouteAggregate::kConfidence;
  double temperature = 1;  // of the softmax over route confidences, > 0
  ConfidenceSet set = ConfidenceSet::kAlternatives;
  int k = kHyperCandidates;  // candidates of a route's confidence
};

// Weights of the routes: softmax(c / temperature). Source: Sec. 3.2, step 3.
//   confidences  nats; NaN gets weight 0
// Returns weights that sum to 1; all 0 when every confidence is NaN. Pure.
std::vector<double> RouteConfidenceWeights(std::span<const double> confidences, double temperature);

// One row of log-probabilities out of K rows of logits, route 0 first.
//   kConfidence  renormalised sum over k of w_k log P_k, w = RouteConfidenceWeights, where a
//                route's own most probable token counts as its chosen one
//   kMeanProb    log of the mean of P_k (RoE)
// A route with NaN or nothing finite is left out; a token that one of the others rules out (-inf)
// is ruled out by kConfidence.
//   routes  K >= 1 rows of n_vocab logits      out  [n_vocab], may be one of the rows
// Returns the weights used, K of them; all 0 when no route is usable, and `out` is then NaN.
// Pure but for `out`; O(K n_vocab).
std::vector<double> AggregateRoutes(std::span<const std::span<const float>> routes,
                                    const AggregateOptions& options, std::span<float> out);

}  // namespace hyper

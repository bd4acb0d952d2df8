// Statistics of the pool of surviving paths at one position (App. A).
#pragma once

#include <cstddef>
#include <span>

#include "hyper/records.h"
#include "hyper/types.h"
#include "src/core/confidence.h"

namespace hyper {

// What the statistics need to know of one surviving path at one position.
struct PathView {
  double confidence = 0;              // c of eq. token-conf; NaN where unknown
  double entropy = 0;                 // h of eq. token-entropy-topk-app; NaN where unknown
  Token chosen = kNoToken;            // y, the token taken
  std::span<const TokenLogprob> top;  // most probable first
  std::span<const Token> suffix;      // the last L tokens, or all since the last decision
};

// Mean over the known (not NaN) values, 0 where there are none. Source: eqs. C-bar-app, H-def-app.
// The two names keep call sites readable. Pure.
double MeanConfidence(std::span<const PathView> paths);
double MeanEntropy(std::span<const PathView> paths);

// Population variance of the known confidences about their mean, 0 for fewer than two.
// Source: eq. varC-def-app. Pure.
double ConfidenceVariance(std::span<const PathView> paths);

// Largest share of paths that took the same token. Source: eq. beta-def-app.
// Returns a value in (0, 1], 0 for no path. Pure.
double Consensus(std::span<const PathView> paths);

// Jensen-Shannon divergence over the union of the supports. Source: eq. jsd-def-app.
//   p, q  by ascending token, each summing to 1 (see Renormalise)
// Returns nats in [0, ln 2]; 0 where one side is empty (unknown). Pure; O(|p| + |q|).
double JensenShannon(std::span<const TokenProbability> p, std::span<const TokenProbability> q);

// Mean pairwise JSD of the top-k renormalised distributions. Source: eq. Ddist-def-app.
// Returns nats in [0, ln 2]; 0 for fewer than two paths. Pure; O(S^2 k).
double DistributionDiversity(std::span<const PathView> paths, int k = kHyperCandidates);

// Levenshtein distance (insertions, deletions, substitutions cost 1), by Myers' bit-parallel
// recurrence in blocks of 64 (Myers 1999, Hyyro 2003). Any lengths.
// Pure; O(|a| |b| / 64).
size_t Levenshtein(std::span<const Token> a, std::span<const Token> b);

// Mean pairwise Levenshtein distance over the longer suffix. Source: eq. Dseq-def-app.
// Two empty suffixes are at distance 0. Returns a value in [0, 1]; 0 for fewer than two paths.
// Pure; O(S^2 L^2 / 64).
double SequenceDiversity(std::span<const PathView> paths);

// All statistics of a pool. Source: App. A; eq. D-def-app for D.
//   eta  weight of D_dist in D, [0, 1]      k  candidates of the distributions, >= 1
// Pure; dominated by the pairwise terms.
PoolStatistics ComputePoolStatistics(std::span<const PathView> paths, double eta = 0.4,
                                     int k = kHyperCandidates);

}  // namespace hyper

// ETS's choice of the frontier nodes that survive: a small integer program, solved by CBC.
#pragma once

#include <span>
#include <vector>

#include "hyper/result.h"

namespace hyper {

// One frontier: N nodes, their ancestors and what they say.
struct EtsProgram {
  std::vector<double> shares;               // [N] REBASE's allocation of each node over its sum
  std::vector<std::vector<int>> ancestors;  // [N] of each node, in [0, M), the root among them
  std::vector<int> clusters;                // [N] in [0, K); empty: no coverage term
  double cost_weight = 1.0;                 // lambda_c >= 0
  double coverage_weight = 1.5;             // lambda_s >= 0
};

// The objective of keeping some nodes, which is to be maximised:
//   sum of kept shares - lambda_c * (kept ancestors + kept nodes) / (M + N)
//                      + (lambda_s / K) * covered clusters
// Source: ETS (Hooper et al. 2025), eq. of Sec. 4, with its code's uniform cost per node. A
// lambda_c of 0 counts as a reward of 1e-4, as in that code: nodes that cost nothing are kept.
//   keep  [N]
// Pure.
double EtsObjective(const EtsProgram& program, const std::vector<bool>& keep);

// The nodes to keep: a maximum of EtsObjective over all choices of at least one node; equal input
// gives equal output.
// Errors: kUnavailable where the solver cannot be loaded, kInternal where it finds no optimum.
Result<std::vector<bool>> SolveEts(const EtsProgram& program);

}  // namespace hyper

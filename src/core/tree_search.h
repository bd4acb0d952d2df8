// Arithmetic of step-wise tree searches: REBASE's allocation, UCT, and the value updates of
// ReST-MCTS*. All functions are pure.
#pragma once

#include <span>
#include <vector>

namespace hyper {

// How a node's share of the children, B x softmax(R / T_b), becomes a whole number.
enum class ShareRounding {
  kRound,  // to the nearest, half away from zero, node by node (REBASE, the paper)
  kCeil,   // upwards, best node first, out of what is left (REBASE, the published code)
};

// Children of each frontier node under reward-balanced search.
// Source: REBASE (Wu et al. 2025), Sec. 3; kCeil as its code has it: the nodes in order of reward,
// n_i = ceil(B * e_i / sum of the remaining e), then B -= n_i. Of equal rewards the later node
// comes first there.
//   rewards      R per node, finite
//   budget       B >= 0, children to hand out
//   temperature  T_b > 0
// kCeil hands out exactly B. kRound may hand out a few more or less; where every share rounds to
// 0 the best node gets one child, so that a search never dies of rounding. O(n log n).
std::vector<int> RebaseShares(std::span<const double> rewards, int budget, double temperature,
                              ShareRounding rounding);

// A node of a search tree as UCT and back-propagation see it. Node 0 is the root.
struct SearchNode {
  int parent = -1;            // -1: the root
  std::vector<int> children;  // indices; empty: not expanded
  double value = 0;           // V
  int visits = 0;             // N
};

struct UctOptions {
  double exploration = 0.7;      // c
  double unvisited_bonus = 1.0;  // what stands for the second term of a node without visits
};

// V + c * sqrt(2 ln N_parent / N), or V + the bonus for a node without visits.
// Source: ReST-MCTS* (Zhang et al. 2024), selection.
//   parent_visits  >= 1 where the node has visits
double UctScore(const SearchNode& node, int parent_visits, const UctOptions& options);

// The child of nodes[parent] with the largest UctScore; -1 where it has none.
//   draw  in (0, 1), picks among children of exactly equal score
int BestChild(std::span<const SearchNode> nodes, int parent, const UctOptions& options,
              double draw);

// One more visit for `node` and each of its ancestors; the value of each that has visited children
// becomes their mean, weighted by visits. Source: ReST-MCTS*, back-propagation.
void Backpropagate(std::span<SearchNode> nodes, int node);

// Value of a child after its rollout: (1 - alpha) * value + alpha * best.
// Source: ReST-MCTS*, simulation.
//   best  largest value met in the rollout, 0 where there was none      alpha  in [0, 1]
double RolloutValue(double value, double best, double alpha);

// Brings a confidence into [0, 1] by two quantiles of a sample: clip((c - low) / (high - low), 0,
// 1). A sample without spread gives 1 at or above it, else 0; a NaN gives 0.
double RescaleConfidence(double confidence, double low, double high);

}  // namespace hyper

// Monte Carlo tree search as in ReST-MCTS* (Zhang et al. 2024): UCT selection, expansion into
// valued steps, a short greedy rollout from the best of them, back-propagation of the mean value.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "src/core/tree_search.h"
#include "src/decode/methods/step_tree.h"

namespace hyper {

// Departures from the published code, which both concern unfinished texts: only an ended path of
// value end-value or more ends the search (there a high value is trained to mean "solved"), and
// where no path of the tree ended, the node of the largest value is continued to its end (there
// another prompt asks for the answer).
class Mcts : public StepTreeMethod {
 public:
  Mcts(const MethodOptions& options, std::unique_ptr<StepReward> reward);

  // Leaves of the tree; rollouts are estimates and never vote.
  bool Votes(const Pool& pool, const Path& path) const override;

  // The tree that was searched; node_of(i) is the step of its i-th node.
  const std::vector<SearchNode>& tree() const { return tree_; }
  int node_of(int tree_node) const { return steps_[static_cast<size_t>(tree_node)]; }

 protected:
  Status Plant(Pool& pool) override;
  Status OnSteps(Pool& pool, const std::vector<int>& steps) override;

 private:
  enum class Stage { kExpansion, kRollout, kConclusion };

  // Rounds that decode nothing are gone through at once.
  Status NextRound(Pool& pool);
  Status OnExpansion(Pool& pool, const std::vector<int>& steps);
  Status OnRollout(Pool& pool, const std::vector<int>& steps);
  Status EndRollout(Pool& pool, int last);
  Status Conclude(Pool& pool);
  Status ContinueAlone(Pool& pool, int node);
  void AddChildren(Pool& pool, const std::vector<int>& steps);

  std::vector<SearchNode> tree_;
  std::vector<int> steps_;    // by node of the tree, its step
  std::vector<bool> barren_;  // by node of the tree: nothing follows it
  Stage stage_ = Stage::kExpansion;
  int rounds_ = 0;
  int expanded_ = 0;        // node of the tree in this round
  int rolled_ = 0;          // child that the rollout values
  int rollout_length_ = 0;  // steps so far
  double rollout_best_ = 0;
  std::set<PathId> rollouts_;
};

}  // namespace hyper

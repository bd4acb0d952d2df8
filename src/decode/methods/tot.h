// Tree of Thoughts (Yao et al. 2023): by levels (BFS), a beam of the best states; or in depth
// (DFS), the best state first, back from states that are worth too little.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/decode/methods/step_tree.h"

namespace hyper {

// Paths that ended stay in the beam with their value. The vote is over the final beam, each path
// once (the paper has no vote; its tasks score the states); in depth the best path found wins.
class TreeOfThoughts : public StepTreeMethod {
 public:
  TreeOfThoughts(const MethodOptions& options, std::unique_ptr<StepReward> reward)
      : StepTreeMethod(options, std::move(reward)) {}

  std::string VoteRule(const Pool& pool) const override;
  bool Votes(const Pool& pool, const Path& path) const override;

 protected:
  Status Plant(Pool& pool) override;
  Status OnSteps(Pool& pool, const std::vector<int>& steps) override;

 private:
  bool InDepth() const { return options().tree.search == SearchOrder::kDepth; }
  int Branches() const;
  Status OnLevel(Pool& pool, const std::vector<int>& steps);
  Status OnDepth(Pool& pool, const std::vector<int>& steps);
  // Enters the best state that is left.
  Status Descend(Pool& pool);
  // A step whose words a sibling wrote already is worth nothing.
  std::vector<int> WithoutRepeats(Pool& pool, const std::vector<int>& steps);

  std::vector<int> beam_;   // kept states; in depth: the states to enter, the next one last
  std::set<PathId> found_;  // paths that may vote
  int expansions_ = 0;
};

}  // namespace hyper

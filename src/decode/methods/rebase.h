// REBASE (Wu et al. 2025): every level's budget goes to its nodes in proportion to softmax(R /
// T_b).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/decode/methods/step_tree.h"

namespace hyper {

class Rebase : public StepTreeMethod {
 public:
  Rebase(const MethodOptions& options, std::unique_ptr<StepReward> reward);

 protected:
  Status Plant(Pool& pool) override;
  Status OnSteps(Pool& pool, const std::vector<int>& steps) override;
  // Children of each node of the frontier.
  virtual Result<std::vector<int>> Shares(Pool& pool, const std::vector<int>& frontier, int budget);

 private:
  int budget_;  // of the width, what finished paths have not used up
};

}  // namespace hyper

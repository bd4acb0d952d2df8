// ETS (Hooper et al. 2025): REBASE, but an integer program first picks the nodes that survive: much
// allocation, few nodes of the tree kept, many different steps.
#pragma once

#include <memory>
#include <vector>

#include "src/decode/methods/rebase.h"

namespace hyper {

class Ets : public Rebase {
 public:
  using Rebase::Rebase;

 protected:
  Result<std::vector<int>> Shares(Pool& pool, const std::vector<int>& frontier,
                                  int budget) override;

 private:
  // Of each frontier node the ancestors up to the root, numbered from 0.
  std::vector<std::vector<int>> AncestorsOf(const std::vector<int>& frontier) const;
  // Clusters of the frontier's last steps; empty where there is nothing to tell apart.
  std::vector<int> ClustersOf(Pool& pool, const std::vector<int>& frontier) const;
};

}  // namespace hyper

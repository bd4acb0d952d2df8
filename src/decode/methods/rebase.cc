#include "src/decode/methods/rebase.h"

#include <fmt/format.h>

#include "src/core/tree_search.h"

namespace hyper {

Rebase::Rebase(const MethodOptions& options, std::unique_ptr<StepReward> reward)
    : StepTreeMethod(options, std::move(reward)), budget_(options.width) {}

Status Rebase::Plant(Pool& pool) {
  const Result<std::vector<int>> children = Expand(pool, 0, budget_);
  return children ? Status() : children.error();
}

// A path that ended takes its place out of the width for good, so that at most `width` paths
// answer.
Status Rebase::OnSteps(Pool& pool, const std::vector<int>& steps) {
  std::vector<int> frontier;
  for (const int step : steps) {
    if (node(step).ended) {
      --budget_;
    } else if (AtDepthLimit(step)) {
      Prune(pool, step, fmt::format("{} steps without an end", node(step).depth));
    } else {
      frontier.push_back(step);
    }
  }
  if (frontier.empty() || budget_ <= 0) {
    Stop(pool, "the width is used up by finished paths");
    return {};
  }
  const Result<std::vector<int>> shares = Shares(pool, frontier, budget_);
  if (!shares) {
    return shares.error();
  }
  // The pruned go first: their lanes and cells are free for the children.
  for (size_t i = 0; i < frontier.size(); ++i) {
    if ((*shares)[i] == 0) {
      Prune(pool, frontier[i],
            fmt::format("value {:.3f} got none of {} continuations", node(frontier[i]).value,
                        budget_));
    }
  }
  for (size_t i = 0; i < frontier.size(); ++i) {
    if ((*shares)[i] > 0) {
      const Result<std::vector<int>> children = Expand(pool, frontier[i], (*shares)[i]);
      if (!children) {
        return children.error();
      }
    }
  }
  return {};
}

Result<std::vector<int>> Rebase::Shares(Pool& /*pool*/, const std::vector<int>& frontier,
                                        int budget) {
  std::vector<double> values;
  values.reserve(frontier.size());
  for (const int index : frontier) {
    values.push_back(node(index).value);
  }
  const TreeOptions& tree = options().tree;
  const double temperature = tree.balance_temperature > 0 ? tree.balance_temperature : 0.1;
  return RebaseShares(
      values, budget, temperature,
      tree.allocation == Allocation::kCeil ? ShareRounding::kCeil : ShareRounding::kRound);
}

}  // namespace hyper

#include "src/decode/methods/mcts.h"

#include <algorithm>
#include <string>

namespace hyper {
namespace {

constexpr int kBranches = 3;
constexpr int kRounds = 100;

UctOptions UctOf(const TreeOptions& tree) {
  UctOptions uct;
  uct.exploration = tree.exploration;
  return uct;
}

}  // namespace

Mcts::Mcts(const MethodOptions& options, std::unique_ptr<StepReward> reward)
    : StepTreeMethod(options, std::move(reward)), tree_(1), steps_{0}, barren_{false} {}

Status Mcts::Plant(Pool& pool) { return NextRound(pool); }

Status Mcts::NextRound(Pool& pool) {
  const int limit = options().tree.iterations > 0 ? options().tree.iterations : kRounds;
  stage_ = Stage::kExpansion;
  while (rounds_ < limit) {
    ++rounds_;
    expanded_ = 0;
    while (!tree_[static_cast<size_t>(expanded_)].children.empty()) {
      expanded_ = BestChild(tree_, expanded_, UctOf(options().tree), Draw(pool));
    }
    const auto at = static_cast<size_t>(expanded_);
    const int step = steps_[at];
    if (node(step).ended && tree_[at].value >= options().tree.end_value) {
      Stop(pool, "an answer of enough value was found");
      return {};
    }
    if (!node(step).ended && !barren_[at] && !AtDepthLimit(step)) {
      const int branches = options().tree.branches > 0 ? options().tree.branches : kBranches;
      const Result<std::vector<int>> children = Expand(pool, step, branches);
      if (!children) {
        return children.error();
      }
      if (!children->empty()) {
        return {};
      }
      barren_[at] = true;
    }
    Backpropagate(tree_, expanded_);
  }
  return Conclude(pool);
}

Status Mcts::OnSteps(Pool& pool, const std::vector<int>& steps) {
  switch (stage_) {
    case Stage::kExpansion:
      return OnExpansion(pool, steps);
    case Stage::kRollout:
      return OnRollout(pool, steps);
    case Stage::kConclusion:
      break;
  }
  if (steps.empty() || node(steps[0]).ended || AtDepthLimit(steps[0])) {
    Stop(pool, "the search is over");
    return {};
  }
  return ContinueAlone(pool, steps[0]);
}

// Equal steps are one child.
void Mcts::AddChildren(Pool& pool, const std::vector<int>& steps) {
  std::set<std::string> texts;
  for (const int step : steps) {
    if (!texts.insert(StepText(pool, step)).second) {
      Prune(pool, step, "a sibling wrote the same step");
      rollouts_.insert(node(step).path);  // where its path has ended, it does not vote twice
      continue;
    }
    const int child = static_cast<int>(tree_.size());
    tree_[static_cast<size_t>(expanded_)].children.push_back(child);
    SearchNode added;
    added.parent = expanded_;
    added.value = node(step).value;
    tree_.push_back(added);
    steps_.push_back(step);
    barren_.push_back(false);
  }
}

Status Mcts::OnExpansion(Pool& pool, const std::vector<int>& steps) {
  AddChildren(pool, steps);
  rolled_ = BestChild(tree_, expanded_, UctOf(options().tree), Draw(pool));
  if (rolled_ < 0) {
    barren_[static_cast<size_t>(expanded_)] = true;
    Backpropagate(tree_, expanded_);
    return NextRound(pool);
  }
  const int step = steps_[static_cast<size_t>(rolled_)];
  rollout_length_ = 0;
  rollout_best_ = node(step).ended ? node(step).value : 0.0;
  if (node(step).ended || options().tree.rollout_steps == 0 || AtDepthLimit(step)) {
    return EndRollout(pool, -1);
  }
  const Result<std::vector<int>> probe = Probe(pool, step);
  if (!probe) {
    return probe.error();
  }
  if (probe->empty()) {
    return EndRollout(pool, -1);
  }
  stage_ = Stage::kRollout;
  rollouts_.insert(node(probe->front()).path);
  return {};
}

Status Mcts::OnRollout(Pool& pool, const std::vector<int>& steps) {
  if (steps.empty()) {
    return EndRollout(pool, -1);
  }
  const int step = steps[0];
  rollout_best_ = std::max(rollout_best_, node(step).value);
  if (++rollout_length_ == options().tree.rollout_steps || node(step).ended || AtDepthLimit(step)) {
    return EndRollout(pool, step);
  }
  const Result<std::vector<int>> next = Expand(pool, step, 1);
  if (!next) {
    return next.error();
  }
  if (next->empty()) {
    return EndRollout(pool, step);
  }
  rollouts_.insert(node(next->front()).path);
  return {};
}

Status Mcts::EndRollout(Pool& pool, int last) {
  if (last >= 0) {
    Prune(pool, last, "its rollout is over");
  }
  SearchNode& child = tree_[static_cast<size_t>(rolled_)];
  child.value = RolloutValue(child.value, rollout_best_, options().tree.rollout_share);
  ++child.visits;
  Backpropagate(tree_, expanded_);
  return NextRound(pool);
}

Status Mcts::Conclude(Pool& pool) {
  int best = 0;
  bool answered = false;
  for (int i = 1; i < static_cast<int>(tree_.size()); ++i) {
    const auto at = static_cast<size_t>(i);
    answered |= node(steps_[at]).ended;
    if (best == 0 || tree_[at].value >= tree_[static_cast<size_t>(best)].value) {
      best = i;  // the later of equals
    }
  }
  if (answered || best == 0 || AtDepthLimit(steps_[static_cast<size_t>(best)])) {
    Stop(pool, "the search is over");
    return {};
  }
  stage_ = Stage::kConclusion;
  return ContinueAlone(pool, steps_[static_cast<size_t>(best)]);
}

Status Mcts::ContinueAlone(Pool& pool, int step) {
  const Result<std::vector<int>> next = Expand(pool, step, 1);
  return next ? Status() : next.error();
}

bool Mcts::Votes(const Pool& pool, const Path& path) const {
  return StepTreeMethod::Votes(pool, path) && rollouts_.count(path.id) == 0;
}

}  // namespace hyper

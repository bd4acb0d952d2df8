// Options of the step-wise methods: tot, mcts, rebase, ets and threadweaver. If a system's paper
// and code differ, the default is the paper's, and the help names the other.
#pragma once

#include <string>

#include "hyper/option_types.h"

#pragma GCC visibility push(default)
namespace hyper {

struct TreeOptions {
  // Steps.
  std::string delimiter = "\\n\\n";
  int step_tokens = 256;
  int steps = 0;
  // Value of a step.
  RewardKind reward = RewardKind::kConfidence;
  int judge_tokens = 256;
  int judge_calls = 0;
  // REBASE and ETS.
  double balance_temperature = 0;
  Allocation allocation = Allocation::kRound;
  double cost_weight = 1.0;
  double coverage_weight = 1.5;
  double cluster_distance = 0.05;
  // ToT and MCTS.
  SearchOrder search = SearchOrder::kBreadth;
  int branches = 0;
  int keep = 0;
  int iterations = 0;
  double end_value = 0.9;
  double prune_value = 0.0;
  double exploration = 0.7;
  int rollout_steps = 3;
  double rollout_share = 0.5;
  // ThreadWeaver.
  ParallelClose parallel_close = ParallelClose::kOrchestrator;
};

}  // namespace hyper
#pragma GCC visibility pop

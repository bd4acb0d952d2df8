// Options of the step-wise methods: tot, mcts, rebase, ets and threadweaver.
#pragma once

#include <string>

namespace hyper {

// Where text and code of a system differ the default is the paper's, and the help names the other.
struct TreeOptions {
  // Steps.
  std::string delimiter = "\\n\\n";
  int step_tokens = 256;
  int steps = 0;
  // Value of a step.
  std::string reward = "conf";
  int judge_tokens = 256;
  int judge_calls = 0;
  // REBASE and ETS.
  double balance_temperature = 0;
  std::string allocation = "round";
  double cost_weight = 1.0;
  double coverage_weight = 1.5;
  double cluster_distance = 0.05;
  // ToT and MCTS.
  std::string search = "bfs";
  int branches = 0;
  int keep = 0;
  int iterations = 0;
  double end_value = 0.9;
  double prune_value = 0.0;
  double exploration = 0.7;
  int rollout_steps = 3;
  double rollout_share = 0.5;
  // ThreadWeaver.
  std::string parallel_close = "orchestrator";

  // As MethodOptions::ForEach; `Info` is OptionInfo.
  template <class Info, class Self, class Visit>
  static void ForEach(Self& self, Visit&& visit) {
    visit(self.delimiter, Info{"step-delimiter", "", "text with \\n, \\t and \\\\",
                               "what ends a step of tot, mcts, rebase and ets"});
    visit(self.step_tokens,
          Info{"step-tokens", "", "1..65536", "tokens of one step at most; then the next begins"});
    visit(self.steps, Info{"steps", "", "0..65536",
                           "steps of one path at most (REBASE's code: 25); 0: no such limit"});
    visit(self.reward, Info{"reward", "R", "conf|ptrue|judge|prm",
                            "value of a step: its confidence, a P(True) probe, a judge's reply, or "
                            "a process reward model"});
    visit(self.judge_tokens, Info{"judge-tokens", "", "1..65536", "tokens of a judge's reply"});
    visit(self.judge_calls,
          Info{"judge-calls", "n_eval", "0..64", "judge's replies per step; 0: 3 in tot, else 1"});
    visit(self.balance_temperature,
          Info{"balance-temperature", "T_b", ">= 0",
               "softness of the shares; 0: rebase 0.1 (its code: 0.2), ets 0.2"});
    visit(self.allocation,
          Info{"allocation", "", "round|ceil",
               "rebase's shares as whole numbers: the paper's rounding, or its code's"});
    visit(self.cost_weight, Info{"cost-weight", "lambda_c", ">= 0", "ets: weight of kept nodes"});
    visit(self.coverage_weight,
          Info{"coverage-weight", "lambda_s", ">= 0", "ets: weight of covered clusters; 0: none"});
    visit(self.cluster_distance,
          Info{"cluster-distance", "", "0..1", "ets: steps closer than this are one cluster"});
    visit(self.search, Info{"search", "", "bfs|dfs", "tot: by levels, or in depth"});
    visit(self.branches,
          Info{"branches", "b", "0..4096", "continuations of an expanded step; 0: tot 5, mcts 3"});
    visit(self.keep, Info{"keep", "b", "0..4096", "tot: states kept per level; 0: 5"});
    visit(self.iterations, Info{"iterations", "", "0..1000000",
                                "expansions of mcts and of tot in depth at most; 0: 100"});
    visit(self.end_value, Info{"end-value", "", "0..1",
                               "mcts and tot in depth: an answer of this value ends the search"});
    visit(self.prune_value, Info{"prune-value", "v_th", "0..1",
                                 "tot in depth: states of at most this value are not entered"});
    visit(self.exploration, Info{"exploration", "c", ">= 0", "mcts: weight of exploration"});
    visit(self.rollout_steps, Info{"rollout-steps", "", "0..4096", "mcts: steps of a rollout"});
    visit(self.rollout_share,
          Info{"rollout-share", "alpha", "0..1", "mcts: weight of the rollout in a value"});
    visit(self.parallel_close,
          Info{"parallel-close", "", "orchestrator|model",
               "threadweaver: who writes </Parallel>: the orchestrator (paper) or the model"});
  }
};

}  // namespace hyper

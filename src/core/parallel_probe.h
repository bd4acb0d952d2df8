// How branches that are probed together end: outliers one by one, all once their majority is
// stable.
#pragma once

#include <span>
#include <vector>

namespace hyper {

struct ProbeRules {
  int stable = 40;   // T: steps after which a winner that stays is the answer, >= 1
  int patience = 7;  // steps in a row that a branch may differ from the winner, >= 1
  int warmup = 15;   // steps before the first branch is pruned, >= 0
};

// What one branch answers now.
struct ProbedBranch {
  int answer = -1;  // index of a group of equal answers; -1: none
  bool running = false;
};

// What the steps so far amount to.
struct ProbeState {
  int steps = 0;
  int stable = 0;          // steps in a row that the winner has stayed
  int winner = -1;         // of the last step; -1: nobody has answered
  std::vector<int> apart;  // by branch: steps in a row that it has differed from the winner
  std::vector<bool> pruned;
};

// The next step of Parallel-Probe. The winner is the answer of most branches that are not pruned;
// of equally frequent ones that of the earliest branch. From step `warmup` on a running branch that
// has differed from it in `patience` steps in a row is pruned, which leaves the winner as it is.
// Returns whether the winner has stayed for `stable` steps, so that the run may end.
// A branch without an answer neither votes nor differs; theirs counts it as an answer of its own.
// Source: Zheng et al., "Parallel-Probe: Towards Efficient Parallel Thinking via 2D Probing"
// (2026), and its program.
//   branches  by branch; later steps may have more
//   before    group of state.winner in this step's numbers; -1 where there is none
// Pure; O(branches squared).
bool StepParallelProbe(std::span<const ProbedBranch> branches, int before, const ProbeRules& rules,
                       ProbeState& state);

}  // namespace hyper

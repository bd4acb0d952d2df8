#include "src/core/parallel_probe.h"

#include <algorithm>

namespace hyper {
namespace {

// -1 where no branch that is left has answered.
int MostFrequent(std::span<const ProbedBranch> branches, const std::vector<bool>& pruned) {
  int winner = -1;
  int most = 0;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (pruned[i] || branches[i].answer < 0) {
      continue;
    }
    int votes = 0;
    for (size_t j = i; j < branches.size(); ++j) {
      votes += !pruned[j] && branches[j].answer == branches[i].answer ? 1 : 0;
    }
    if (votes > most) {
      most = votes;
      winner = branches[i].answer;
    }
  }
  return winner;
}

}  // namespace

bool StepParallelProbe(std::span<const ProbedBranch> branches, int before, const ProbeRules& rules,
                       ProbeState& state) {
  state.apart.resize(branches.size());
  state.pruned.resize(branches.size());
  const int winner = MostFrequent(branches, state.pruned);
  if (state.steps++ >= rules.warmup) {
    for (size_t i = 0; i < branches.size(); ++i) {
      const ProbedBranch& branch = branches[i];
      const bool differs = branch.running && branch.answer >= 0 && branch.answer != winner;
      state.apart[i] = differs ? state.apart[i] + 1 : 0;
      state.pruned[i] = state.pruned[i] || state.apart[i] >= rules.patience;
    }
  }
  state.stable = winner >= 0 && winner == before ? state.stable + 1 : 0;
  state.winner = winner;
  return state.stable >= rules.stable;
}

}  // namespace hyper

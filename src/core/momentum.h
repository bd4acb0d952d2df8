// When paths that are probed in rounds may end, and when more of them are opened, by how the
// confidence in the majority of the finished ones moves.
#pragma once

#include <vector>

namespace hyper {

struct MomentumRules {
  int first_paths = 5;     // that the run begins with
  int most_paths = 34;     // ever opened
  int warmup = 6;          // rounds before the first path is dropped, and before the run may end
  int patience = 8;        // rounds in a row that a path may differ from the majority
  int window = 5;          // rounds that the trend is taken over
  double weight = 0.5;     // of the newest confidence in the moving mean
  double level = 0.91;     // the run ends at this mean
  double slack = 0.025;    // by which the mean may have fallen over the window then
  int burst = 2;           // steps in a round of a path that agrees with the majority
  int opened = 2;          // paths opened at a time
  double trend = 0.025;    // more paths are opened where the mean has not risen by more
  int least_finished = 4;  // paths, before the run may end
};

// The rules by one number, how much to spend: from 0, a few paths, to 1, up to 64.
// Source: Zheng et al., "AutoTTS" (2026), its controller by confidence momentum, as its program has
// it; halves are rounded to even numbers.
//   beta  in [0, 1]
// Pure.
MomentumRules MomentumRulesOf(double beta);

struct MomentumState {
  int round = 0;               // of the present round, from 0
  double mean = 0;             // moving mean of the confidence
  std::vector<double> recent;  // that mean at the ends of the last rounds, the present one last
};

struct MomentumStep {
  bool stop = false;   // the run may end
  bool widen = false;  // rules.opened more paths are due
};

// A round takes the confidence into the mean twice: as it begins, and when its paths have taken
// their steps. The run may end where the mean is at the level and has not fallen by more than the
// slack; paths are opened where it is below the level and has not risen by more than the trend.
// Source: as MomentumRulesOf.
//   confidence  that the most frequent answer of the finished paths stays it, [0, 1]
//   finished    paths with an answer
// Pure.
void BeginMomentumRound(double confidence, const MomentumRules& rules, MomentumState& state);
MomentumStep EndMomentumRound(double confidence, int finished, const MomentumRules& rules,
                              MomentumState& state);

}  // namespace hyper

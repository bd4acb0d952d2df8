// How probable it is that a running path will change its answer, and whether the lead of a vote
// survives such changes.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace hyper {

// What is known of a path when it is asked: tokens so far, its confidence, how often its answer has
// changed, for how many probes in a row it has been the same (this one counted), and by how much
// the confidence has risen since the last probe.
inline constexpr size_t kSwitchFeatures = 5;
using SwitchFeatures = std::array<double, kSwitchFeatures>;

// Features of a path that is asked again.
//   before      what they were when it was asked last; null: it never was
//   tokens      of the path so far
//   confidence  of the path now
//   same        whether it gives the same answer as before; not read where `before` is null
// Source: Chen et al., "MARS" (2026), its features. Pure.
SwitchFeatures NextSwitchFeatures(const SwitchFeatures* before, int tokens, double confidence,
                                  bool same);

// P(switch) = s(scale * x + shift), x = intercept + sum slope (feature - mean) / deviation, with
// s(x) = 1 / (1 + exp(-x)).
struct SwitchModel {
  double intercept = 0;
  SwitchFeatures slopes{};
  SwitchFeatures means{};
  SwitchFeatures deviations{};
  double scale = 1;  // Platt's
  double shift = 0;
};

// Logistic regression over standardised features, by maximum likelihood with the penalty 0.01 per
// squared slope, and then Platt's scaling of its result on the same data.
// Source: Chen et al., "MARS" (2026), its model of switches, and its program.
//   switched  by state: whether the path's final answer is another one than at the probe
// Pure; O(states) for each of at most 200 steps.
SwitchModel FitSwitches(std::span<const SwitchFeatures> states, const std::vector<bool>& switched);

// Returns a value in [0, 1]. Pure.
double SwitchProbability(const SwitchModel& model, const SwitchFeatures& state);

// What one path answers now.
struct SwitchVote {
  int answer = -1;       // index of a group of equal answers; -1: none
  double weight = 1;     // of its vote, > 0
  double switching = 0;  // probability that its final answer is another one; 0 if it has ended
};

// The answer with the largest weight, the smallest index of equals; -1 where nobody has answered.
// Pure.
int LeaderOf(std::span<const SwitchVote> votes);

// Whether the leader keeps its lead against every other answer k, and against one that nobody has
// given, when each path's expected switch is taken as hostile:
//   V_L - V_k > sum_j q_j c_j,  c_j = 2 gamma w_j if j votes L, -w_j if j votes k, else gamma w_j;
// w_j for a path without an answer yet, of which nothing is known.
// Source: Chen et al., "MARS" (2026), its margin of the leader, without the term for deviations
// from the expectation.
//   gamma  how hostile: 1 is the worst case
// Pure; O(votes x answers).
bool IsSafeLead(std::span<const SwitchVote> votes, double gamma);

// The gamma that a question's own complete paths allow: the smallest of 1, 0.9, ..., 0 down to
// which the stop by IsSafeLead gives the same answer as with 1, plus 1 / sqrt(paths), in [0.5, 1].
// Source: Chen et al., "MARS" (2026), the calibration of its program.
//   probes  the votes of all these paths at each of their probes, in order; not empty
//   end     the answer that their vote ends with
// Pure.
double CalibrateGamma(std::span<const std::vector<SwitchVote>> probes, int end);

}  // namespace hyper

#include "src/core/momentum.h"

#include <algorithm>
#include <cmath>

namespace hyper {
namespace {

int RoundedHalfEven(double base, double slope, double beta) {
  return static_cast<int>(std::nearbyint(base + slope * beta));
}

double MovedMean(double mean, double confidence, double weight) {
  return (1 - weight) * mean + weight * confidence;
}

}  // namespace

MomentumRules MomentumRulesOf(double beta) {
  MomentumRules rules;
  rules.first_paths = RoundedHalfEven(2, 6, beta);
  rules.most_paths = RoundedHalfEven(4, 60, beta);
  rules.warmup = RoundedHalfEven(2, 8, beta);
  rules.patience = RoundedHalfEven(3, 9, beta);
  rules.window = RoundedHalfEven(2, 6, beta);
  rules.weight = 0.70 - 0.40 * beta;
  rules.level = 0.85 + 0.12 * beta;
  rules.slack = 0.04 - 0.03 * beta;
  rules.burst = RoundedHalfEven(1, 2, beta);
  rules.opened = RoundedHalfEven(1, 3, beta);
  rules.trend = 0.04 - 0.03 * beta;
  rules.least_finished = RoundedHalfEven(2, 3, beta);
  return rules;
}

void BeginMomentumRound(double confidence, const MomentumRules& rules, MomentumState& state) {
  state.mean = MovedMean(state.mean, confidence, rules.weight);
  state.recent.push_back(state.mean);
  if (static_cast<int>(state.recent.size()) > rules.window) {
    state.recent.erase(state.recent.begin());
  }
}

MomentumStep EndMomentumRound(double confidence, int finished, const MomentumRules& rules,
                              MomentumState& state) {
  state.mean = MovedMean(state.mean, confidence, rules.weight);
  state.recent.back() = state.mean;
  const double risen = state.recent.back() - state.recent.front();
  const int round = state.round++;
  MomentumStep step;
  step.stop = round >= rules.warmup && finished >= rules.least_finished &&
              state.mean >= rules.level && risen >= -rules.slack;
  step.widen =
      round >= std::max(1, rules.warmup / 2) && state.mean < rules.level && risen <= rules.trend;
  return step;
}

}  // namespace hyper

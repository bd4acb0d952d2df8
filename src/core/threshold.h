// Warm-up thresholds on window confidence, and the pruning test (Sec. 4.1, after DeepConf).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hyper/option_types.h"
#include "hyper/result.h"
#include "src/core/confidence.h"

namespace hyper {

// Reads "top:n", "percentile:q" or "off". Errors: kInvalidArgument. Pure.
Result<ThresholdRule> ParseThresholdRule(std::string_view text);

// The rule in the form that ParseThresholdRule reads. Pure.
std::string ThresholdRuleText(const ThresholdRule& rule);

// The pruning threshold. Source: Sec. 4.1 ("from the top-10 traces") and DeepConf's percentiles,
// the latter as numpy.percentile computes them.
//   lowest_windows  LowestWindow of each warm-up path; NaN and infinities are left out
// Returns a value in their unit; minus infinity, which prunes nothing, where no value is left or
// the rule is off. top:n with fewer than n values keeps all. Pure; O(n log n).
double ComputeThreshold(const ThresholdRule& rule, std::span<const double> lowest_windows);

// Whether a path is to be pruned: its window is full and the window's mean strictly below the
// threshold. Pure.
bool ShouldPrune(const ConfidenceWindow& window, double threshold);

// Size of the warm-up for a pool of at most `max_paths` paths, and the rule that goes with it.
struct WarmupPlan {
  int paths = 0;
  ThresholdRule rule;
};

// Warm-up in full where the pool holds at least two of it, else max(2, max_paths / 2) paths with n
// of top:n in proportion, rounded, at least 1. Source: design choice; the paper has 16 of 80 only.
//   initial_paths  N_init, >= 1      max_paths  S_max, >= 1
// Pure.
WarmupPlan PlanWarmup(int initial_paths, int max_paths, const ThresholdRule& rule);

// Warm-up paths that must have come to their end before the pool can start without the others: the
// n of top:n, three quarters of them for a percentile and where no threshold is wanted. Source:
// design choice (the paper waits for all).
//   usable  paths that came to their end or may still do so, of plan.paths; fewer need fewer, in
//           proportion
// At least 1. Pure.
int WarmupNeeded(const WarmupPlan& plan, int usable);

}  // namespace hyper

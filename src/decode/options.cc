#include "hyper/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "hyper/records.h"
#include "src/core/threshold.h"
#include "src/decode/names.h"

namespace hyper {
namespace {

Error OutOfRange(const char* name, const std::string& value, const char* range) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("--{} is {}, outside its range; it takes {}", name, value, range)};
}

// Collects the first violation.
class Checker {
 public:
  void Int(const char* name, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high) {
      Report(name, fmt::format("{}", value), fmt::format("{} to {}", low, high));
    }
  }
  // A finite number with low <= value <= high; strict ends where told.
  void Real(const char* name, double value, double low, double high, bool open_low = false,
            bool open_high = false) {
    const bool inside = std::isfinite(value) && (open_low ? value > low : value >= low) &&
                        (open_high ? value < high : value <= high);
    if (!inside) {
      Report(
          name, fmt::format("{}", value),
          fmt::format(
              "a number {} {}{}", open_low ? "above" : "from", low,
              std::isinf(high) ? "" : fmt::format("{} {}", open_high ? ", below" : " to", high)));
    }
  }
  void Word(const char* name, const std::string& value,
            std::initializer_list<std::string_view> words) {
    if (std::find(words.begin(), words.end(), value) == words.end()) {
      Report(name, "'" + value + "'", fmt::format("{}", fmt::join(words, ", ")));
    }
  }
  void Report(const char* name, const std::string& value, const std::string& range) {
    if (status_) {
      status_ = OutOfRange(name, value, range.c_str());
    }
  }
  Status status() const { return status_; }

 private:
  Status status_;
};

void CheckActions(Checker& check, const std::string& actions) {
  std::istringstream names(actions);
  int count = 0;
  for (std::string name; std::getline(names, name, ','); ++count) {
    check.Word("actions", name, {"none", "single_token", "multi_token", "branch"});
  }
  if (count == 0) {
    check.Report("actions", "empty", "at least one of none, single_token, multi_token, branch");
  }
}

void CheckTree(Checker& check, const TreeOptions& tree) {
  constexpr double kInfinity = INFINITY;
  if (!UnescapeDelimiter(tree.delimiter)) {
    check.Report("step-delimiter", "'" + tree.delimiter + "'",
                 "a text that is not empty, with \\n, \\t and \\\\ as its only escapes");
  }
  check.Int("step-tokens", tree.step_tokens, 1, 65536);
  check.Int("steps", tree.steps, 0, 65536);
  check.Word("reward", tree.reward, {"conf", "ptrue", "judge", "prm"});
  check.Int("judge-tokens", tree.judge_tokens, 1, 65536);
  check.Int("judge-calls", tree.judge_calls, 0, 64);
  check.Real("balance-temperature", tree.balance_temperature, 0, kInfinity);
  check.Word("allocation", tree.allocation, {"round", "ceil"});
  check.Real("cost-weight", tree.cost_weight, 0, kInfinity);
  check.Real("coverage-weight", tree.coverage_weight, 0, kInfinity);
  check.Real("cluster-distance", tree.cluster_distance, 0, 1);
  check.Word("search", tree.search, {"bfs", "dfs"});
  check.Int("branches", tree.branches, 0, 4096);
  check.Int("keep", tree.keep, 0, 4096);
  check.Int("iterations", tree.iterations, 0, 1000000);
  check.Real("end-value", tree.end_value, 0, 1);
  check.Real("prune-value", tree.prune_value, 0, 1);
  check.Real("exploration", tree.exploration, 0, kInfinity);
  check.Int("rollout-steps", tree.rollout_steps, 0, 4096);
  check.Real("rollout-share", tree.rollout_share, 0, 1);
  check.Word("parallel-close", tree.parallel_close, {"orchestrator", "model"});
}

}  // namespace

Result<MethodOptions> Preset(const std::string& name) {
  MethodOptions options;
  if (name == "paper") {
    return options;
  }
  if (name == "short") {
    options.width = 32;
    options.warmup = 8;
    options.threshold = "top:3";
    options.interval = 8;
    options.window = 8;
    options.sampler = SamplerSpec{0.8, 0, 1.0, 0.0};
    options.max_tokens = 400;
    options.tree.delimiter = "\\n";
    options.tree.step_tokens = 64;
    return options;
  }
  return Error{ErrorCode::kNotFound, "preset '" + name + "' is not known; take paper or short"};
}

Status Validate(const MethodOptions& options) {
  constexpr double kInfinity = INFINITY;
  Checker check;
  check.Int("width", options.width, 1, 4096);
  check.Int("warmup", options.warmup, 1, 4096);
  check.Real("lane-factor", options.lane_factor, 1, kInfinity);
  CheckActions(check, options.actions);
  check.Int("interval", options.interval, 1, 65536);
  check.Int("suffix", options.suffix, 0, 65536);
  check.Int("horizon", options.horizon, 0, options.interval);
  check.Real("eta", options.eta, 0, 1);
  check.Word("confidence-set", options.confidence_set, {"alternatives", "topk"});
  check.Int("confidence-count", options.confidence_count, 1, 64);
  check.Int("entropy-count", options.entropy_count, 1, 64);
  check.Int("window", options.window, 1, 1048576);
  if (options.threshold != "off" && !ParseThresholdRule(options.threshold)) {
    check.Report("threshold", "'" + options.threshold + "'",
                 "top:n with n >= 1, percentile:q with q from 0 to 100, or off");
  }
  check.Real("tau", options.tau, 0, kInfinity);
  check.Real("lambda", options.lambda, 0, kInfinity);
  check.Word("penalty", options.penalty, {"score", "softmax"});
  check.Word("weights", options.weights, {"noisy", "clean"});
  check.Word("aggregate", options.aggregate, {"confidence", "mean-prob"});
  check.Real("aggregate-temperature", options.aggregate_temperature, 0, kInfinity, true);
  check.Int("skip-first-layers", options.skip_first_layers, 0, 65536);
  check.Int("skip-last-layers", options.skip_last_layers, 0, 65536);
  check.Word("vote", options.vote,
             {"length_confidence", "majority", "confidence", "length", "deepconf",
              "importance_sampling", "weighted", "best", "borda"});
  check.Int("vote-top", options.vote_top, 1, 65536);
  check.Real("lambda-length", options.lambda_length, 0, kInfinity);
  check.Real("lambda-confidence", options.lambda_confidence, 0, kInfinity);
  check.Real("borda-power", options.borda_power, 0, kInfinity);
  check.Word("scorer", options.scorer,
             {"self-certainty", "mean", "tail", "bottom", "lowest", "p-true"});
  check.Real("keep-percent", options.keep_percent, 0, 100, true);
  check.Real("consensus", options.consensus, 0, 1);
  check.Int("routes", options.routes, 1, 256);
  check.Real("refine-from", options.refine_from, 0, 1);
  CheckTree(check, options.tree);
  check.Real("temperature", options.sampler.temperature, 0, kInfinity);
  check.Int("top-k", options.sampler.top_k, 0, INT32_MAX);
  check.Real("top-p", options.sampler.top_p, 0, 1, true);
  check.Real("min-p", options.sampler.min_p, 0, 1, false, true);
  check.Int("max-tokens", options.max_tokens, 1, 1048576);
  if (options.includes_warmup && PoolWidth(options) < 1) {
    check.Report("includes-warmup", "true",
                 fmt::format("a --width above the {} warm-up paths", WarmupCount(options)));
  }
  return check.status();
}

int WarmupCount(const MethodOptions& options) {
  return PlanWarmup(options.warmup, options.width, {}).paths;
}

int PoolWidth(const MethodOptions& options) {
  return options.includes_warmup ? options.width - WarmupCount(options) : options.width;
}

int LaneLimit(const MethodOptions& options) {
  const int scaled = static_cast<int>(std::ceil(options.lane_factor * options.width));
  return std::max(scaled, WarmupCount(options));
}

int SuffixTokens(const MethodOptions& options) {
  return options.suffix > 0 ? options.suffix : options.interval;
}

int HorizonTokens(const MethodOptions& options) {
  return options.horizon > 0 ? options.horizon : options.interval;
}

}  // namespace hyper

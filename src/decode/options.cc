#include "hyper/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "src/core/action_values.h"
#include "src/core/threshold.h"
#include "src/decode/names.h"

namespace hyper {
namespace {

constexpr const char* kPool = "Pool";
constexpr const char* kControl = "Controller";
constexpr const char* kConfidence = "Confidence and pruning";
constexpr const char* kSingleToken = "SingleToken";
constexpr const char* kVote = "Vote";
constexpr const char* kCompared = "Compared methods";
constexpr const char* kTree = "Trees of steps";
constexpr const char* kSampling = "Sampling and length";

Error OutOfRange(const char* name, const std::string& value, const std::string& takes) {
  return InvalidArgument(
      fmt::format("--{} is {}, outside its range; it takes {}", name, value, takes));
}

// What one option's own range cannot tell.
Status CheckTogether(const MethodOptions& options) {
  if (options.suffix > options.interval) {
    return OutOfRange("suffix", std::to_string(options.suffix),
                      fmt::format("0 to {}, the --interval: suffixes begin at the last decision",
                                  options.interval));
  }
  if (options.horizon > options.interval) {
    return OutOfRange("horizon", std::to_string(options.horizon),
                      fmt::format("0 to {}, the --interval", options.interval));
  }
  const Result<ActionValues> values = ParseActionValues(options.action_values);
  if (!values) {
    return OutOfRange("action-values", "'" + options.action_values + "'", values.error().message);
  }
  if (options.controller == ControllerRule::kValue && options.action_values.empty()) {
    return OutOfRange("controller", "value",
                      "--action-values beside it, or a profile that has them");
  }
  if (!UnescapeDelimiter(options.tree.delimiter)) {
    return OutOfRange("step-delimiter", "'" + options.tree.delimiter + "'",
                      "a text that is not empty, with \\n, \\t and \\\\ as its only escapes");
  }
  if (options.includes_warmup && PoolWidth(options) < 1) {
    return OutOfRange("includes-warmup", "true",
                      fmt::format("a --width above the {} warm-up paths", WarmupCount(options)));
  }
  return {};
}

}  // namespace

std::vector<Option> OptionsOf(MethodOptions& o) {
  TreeOptions& tree = o.tree;
  return {
      {o.width,
       {.name = "width",
        .symbol = "S_max",
        .help = "paths decoded side by side after warm-up",
        .brief_help = "width of the pool; warm-up paths come on top",
        .bounds = Between(1, 4096),
        .group = kPool,
        .brief = "32"}},
      {o.warmup,
       {.name = "warmup",
        .symbol = "N_init",
        .help = "warm-up paths; at most half the width, then top:n in proportion",
        .bounds = Between(1, 4096),
        .group = kPool,
        .read_by = kWarmup,
        .brief = "8"}},
      {o.includes_warmup,
       {.name = "includes-warmup",
        .help = "count the warm-up paths into the width",
        .group = kPool,
        .read_by = kPruning}},
      {o.warmup_barrier,
       {.name = "warmup-barrier",
        .help = "the pool waits for every warm-up path; off: for those that the threshold needs",
        .group = kPool,
        .read_by = kPruning,
        .words = {"off", "on"}}},
      {o.lane_factor,
       {.name = "lane-factor",
        .help = "lanes in use at once, as a multiple of the width",
        .bounds = From(1),
        .group = kPool}},
      {o.launch,
       {.name = "launch",
        .help = "independent paths start all at once, in waves (8, 8, 16, 32, ...), or one by one",
        .group = kPool,
        .read_by = kLaunch}},
      {o.actions,
       {.name = "actions",
        .help = "actions the controller may take; none is always one of them",
        .group = kControl,
        .read_by = kController,
        .takes = "a list of none, single_token, multi_token, branch"}},
      {o.interval,
       {.name = "interval",
        .symbol = "T",
        .help = "tokens between two decisions",
        .bounds = Between(1, 65536),
        .group = kControl,
        .brief = "8"}},
      {o.suffix,
       {.name = "suffix",
        .symbol = "L",
        .help = "tokens compared by edit distance, at most T; 0: T",
        .bounds = Between(0, 65536),
        .group = kControl,
        .read_by = kController}},
      {o.horizon,
       {.name = "horizon",
        .symbol = "m",
        .help = "tokens of a MultiToken expansion, at most T; 0: T",
        .bounds = Between(0, 65536),
        .group = kControl,
        .read_by = kController}},
      {o.eta,
       {.name = "eta",
        .symbol = "eta",
        .help = "share of the distribution part in the diversity",
        .bounds = Between(0, 1),
        .group = kControl,
        .read_by = kController}},
      {o.controller,
       {.name = "controller",
        .help = "what chooses an action: the paper's scores, or the gain of --action-values",
        .group = kControl,
        .read_by = kController}},
      {o.action_values,
       {.name = "action-values",
        .help = "gain and cost of the actions, for --controller value; a profile may have them",
        .group = kControl,
        .read_by = kController,
        .takes = "ACTION=COST,INTERCEPT,SLOPE,... by action, with a space between two"}},
      {o.force_decision,
       {.name = "force-decision",
        .help = "at this decision, from 0, take --force-action, and none later; -1: never",
        .bounds = Between(-1, 1048576),
        .group = kControl,
        .read_by = kController}},
      {o.force_action,
       {.name = "force-action",
        .help = "the action of --force-decision",
        .group = kControl,
        .read_by = kController}},
      {o.late_expansion,
       {.name = "late-expansion",
        .help = "multi_token and branch also expand paths with fewer tokens left than it takes",
        .group = kControl,
        .read_by = kController}},
      {o.keep_finished,
       {.name = "keep-finished",
        .help = "a continuation that ended within an expansion votes, kept or not",
        .group = kControl,
        .read_by = kController}},
      {o.confidence,
       {.name = "confidence",
        .symbol = "c",
        .help = "what a token's confidence is, for pruning, votes and the controller",
        .group = kConfidence,
        .alias = "confidence-set"}},
      {o.confidence_count,
       {.name = "confidence-count",
        .symbol = "k",
        .help = "candidates of the confidence alternatives and topk",
        .bounds = Between(1, 64),
        .group = kConfidence}},
      {o.entropy_count,
       {.name = "entropy-count",
        .symbol = "k",
        .help = "tokens of the top-k entropy and D_dist",
        .bounds = Between(1, 64),
        .group = kConfidence}},
      {o.window,
       {.name = "window",
        .help = "tokens of the sliding confidence window",
        .bounds = Between(1, 1048576),
        .group = kConfidence,
        .brief = "16"}},
      {o.threshold,
       {.name = "threshold",
        .symbol = "tau",
        .help = "pruning threshold from the warm-up's lowest windows",
        .group = kConfidence,
        .read_by = kPruning,
        .brief = "top:5",
        .takes = "top:n with n >= 1, percentile:q with q from 0 to 100, or off"}},
      {o.route.tau,
       {.name = "tau",
        .symbol = "tau",
        .help = "scale of the routing noise",
        .bounds = From(0),
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.lambda,
       {.name = "lambda",
        .symbol = "lambda",
        .help = "penalty on reusing an earlier route's experts",
        .bounds = From(0),
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.two_pass,
       {.name = "two-pass",
        .help = "two-pass expert sampling; false: RoE's",
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.penalty,
       {.name = "penalty",
        .symbol = "S",
        .help = "what the reuse penalty accumulates",
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.weights,
       {.name = "weights",
        .help = "mixing weights of the chosen experts",
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.aggregate,
       {.name = "aggregate",
        .help = "how K proposals become one",
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.aggregate_temperature,
       {.name = "aggregate-temperature",
        .help = "softness of the confidence weights",
        .bounds = Above(0),
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.skip_first_layers,
       {.name = "skip-first-layers",
        .help = "MoE layers kept clean at the start",
        .bounds = Between(0, 65536),
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.route.skip_last_layers,
       {.name = "skip-last-layers",
        .help = "MoE layers kept clean at the end",
        .bounds = Between(0, 65536),
        .group = kSingleToken,
        .read_by = kRefinement}},
      {o.vote.rule,
       {.name = "vote", .help = "rule that picks the answer; all are reported", .group = kVote}},
      {o.vote.candidates,
       {.name = "vote-top",
        .symbol = "K_a",
        .help = "answers with the most paths, which enter the vote",
        .bounds = Between(1, 65536),
        .group = kVote}},
      {o.vote.lambda_length,
       {.name = "lambda-length",
        .symbol = "lambda_len",
        .help = "weight of the length",
        .bounds = From(0),
        .group = kVote}},
      {o.vote.lambda_confidence,
       {.name = "lambda-confidence",
        .symbol = "lambda_conf",
        .help = "weight of the confidence",
        .bounds = From(0),
        .group = kVote}},
      {o.vote.tentative,
       {.name = "vote-tentative",
        .help = "answers from unfinished reasoning vote too",
        .group = kVote}},
      {o.vote.borda_power,
       {.name = "borda-power",
        .symbol = "p",
        .help = "exponent of the Borda vote",
        .bounds = From(0),
        .group = kVote}},
      {o.vote.temperature,
       {.name = "vote-temperature",
        .symbol = "T",
        .help = "softness of the cisc vote's weights",
        .bounds = Above(0),
        .group = kVote}},
      {o.vote_warmup,
       {.name = "vote-warmup",
        .help = "warm-up paths vote too",
        .group = kVote,
        .read_by = kController}},
      {o.vote_clones,
       {.name = "vote-clones",
        .help = "a fork that ends within T tokens votes beside the path it came from",
        .group = kVote,
        .read_by = kController}},
      {o.stop,
       {.name = "stop",
        .symbol = "P",
        .help = "end when the winner is sure to stay, or stays with this probability",
        .brief_help = "end when the vote is decided, such as 0.95 [auto: 0.99]",
        .group = kVote,
        .takes = "never, sure, or a probability above 0.5 and below 1"}},
      {o.scorer,
       {.name = "scorer",
        .help = "score of a whole path for bon and offline deepconf",
        .group = kCompared,
        .read_by = kScorer}},
      {o.keep_percent,
       {.name = "keep-percent",
        .symbol = "eta",
        .help = "share of best paths that vote in offline deepconf",
        .bounds = {0, 100, /*open_low=*/true},
        .group = kCompared,
        .read_by = kKeepBest}},
      {o.consensus,
       {.name = "consensus",
        .symbol = "tau",
        .help = "deepconf stops at this vote share of one answer; 0: never",
        .bounds = Between(0, 1),
        .group = kCompared,
        .read_by = kConsensus}},
      {o.routes,
       {.name = "routes",
        .symbol = "K",
        .help = "routes of each token in roe and roe-late",
        .bounds = Between(1, 256),
        .group = kCompared,
        .read_by = kFixedRoutes}},
      {o.refine_from,
       {.name = "refine-from",
        .help = "roe-late refines from this share of the median warm-up length",
        .bounds = Between(0, 1),
        .group = kCompared,
        .read_by = kLateRoutes}},
      {o.esc_window,
       {.name = "esc-window",
        .symbol = "w",
        .help = "esc stops after this many paths in a row with one answer",
        .bounds = Between(1, 4096),
        .group = kCompared,
        .read_by = kWindows}},
      {o.length_cap,
       {.name = "length-cap",
        .help = "sc-cap ends paths at this length; they have no vote",
        .bounds = Between(1, 1048576),
        .group = kCompared,
        .read_by = kCap,
        .brief = "96"}},
      {o.cmc_beta,
       {.name = "cmc-beta",
        .symbol = "beta",
        .help = "how much cmc spends, from a few paths at 0 to 64 at 1",
        .bounds = Between(0, 1),
        .group = kCompared,
        .read_by = kMomentum}},
      {o.mars_warmup,
       {.name = "mars-warmup",
        .help = "paths that mars runs to their ends first, to learn how replies change",
        .bounds = Between(1, 4096),
        .group = kCompared,
        .read_by = kSwitches,
        .brief = "8"}},
      {o.probe,
       {.name = "probe",
        .help = "ask running paths for their answers; where these disagree, --stop waits",
        .group = kCompared,
        .read_by = kProbes,
        .words = {"off", "on"}}},
      {o.probe_interval,
       {.name = "probe-interval",
        .help = "tokens of a path between two probes",
        .bounds = Between(1, 1048576),
        .group = kCompared,
        .read_by = kProbes,
        .brief = "16"}},
      {o.probe_tokens,
       {.name = "probe-tokens",
        .help = "tokens that are read of an answer at most; it ends with its brace or line",
        .bounds = Between(1, 4096),
        .group = kCompared,
        .read_by = kProbes}},
      {o.probe_text,
       {.name = "probe-text",
        .help = "what a probe appends, after an empty line, before it reads the answer",
        .group = kCompared,
        .read_by = kProbes}},
      {tree.delimiter,
       {.name = "step-delimiter",
        .help = "what ends a step of tot, mcts, rebase and ets",
        .group = kTree,
        .read_by = kSteps,
        .brief = "\\n",
        .takes = "text with \\n, \\t and \\\\"}},
      {tree.step_tokens,
       {.name = "step-tokens",
        .help = "most tokens of one step; then the next begins",
        .bounds = Between(1, 65536),
        .group = kTree,
        .read_by = kSteps,
        .brief = "64"}},
      {tree.steps,
       {.name = "steps",
        .help = "most steps of one path (REBASE's code: 25); 0: no limit",
        .bounds = Between(0, 65536),
        .group = kTree,
        .read_by = kSteps}},
      {tree.reward,
       {.name = "reward",
        .symbol = "R",
        .help = "value of a step: its confidence, a P(True) probe, a judge's reply, or a process "
                "reward model",
        .group = kTree,
        .read_by = kSteps}},
      {tree.judge_tokens,
       {.name = "judge-tokens",
        .help = "tokens of a judge's reply",
        .bounds = Between(1, 65536),
        .group = kTree,
        .read_by = kSteps}},
      {tree.judge_calls,
       {.name = "judge-calls",
        .symbol = "n_eval",
        .help = "judge's replies per step; 0: 3 in tot, else 1",
        .bounds = Between(0, 64),
        .group = kTree,
        .read_by = kSteps}},
      {tree.balance_temperature,
       {.name = "balance-temperature",
        .symbol = "T_b",
        .help = "softness of the shares; 0: rebase 0.1 (its code: 0.2), ets 0.2",
        .bounds = From(0),
        .group = kTree,
        .read_by = kShares}},
      {tree.allocation,
       {.name = "allocation",
        .help = "rebase's shares as whole numbers: the paper's rounding, or its code's",
        .group = kTree,
        .read_by = kShares}},
      {tree.cost_weight,
       {.name = "cost-weight",
        .symbol = "lambda_c",
        .help = "ets: weight of kept nodes",
        .bounds = From(0),
        .group = kTree,
        .read_by = kEts}},
      {tree.coverage_weight,
       {.name = "coverage-weight",
        .symbol = "lambda_s",
        .help = "ets: weight of covered clusters; 0: none",
        .bounds = From(0),
        .group = kTree,
        .read_by = kEts}},
      {tree.cluster_distance,
       {.name = "cluster-distance",
        .help = "ets: steps closer than this are one cluster",
        .bounds = Between(0, 1),
        .group = kTree,
        .read_by = kEts}},
      {tree.search,
       {.name = "search",
        .help = "tot: breadth-first, or depth-first",
        .group = kTree,
        .read_by = kTot}},
      {tree.branches,
       {.name = "branches",
        .symbol = "b",
        .help = "continuations of an expanded step; 0: tot 5, mcts 3",
        .bounds = Between(0, 4096),
        .group = kTree,
        .read_by = kTot | kMcts}},
      {tree.keep,
       {.name = "keep",
        .symbol = "b",
        .help = "tot: states kept per level; 0: 5",
        .bounds = Between(0, 4096),
        .group = kTree,
        .read_by = kTot}},
      {tree.iterations,
       {.name = "iterations",
        .help = "most expansions of mcts and of depth-first tot; 0: 100",
        .bounds = Between(0, 1000000),
        .group = kTree,
        .read_by = kTot | kMcts}},
      {tree.end_value,
       {.name = "end-value",
        .help = "mcts and depth-first tot: an answer of this value ends the search",
        .bounds = Between(0, 1),
        .group = kTree,
        .read_by = kTot | kMcts}},
      {tree.prune_value,
       {.name = "prune-value",
        .symbol = "v_th",
        .help = "depth-first tot: states of this value or less are not entered",
        .bounds = Between(0, 1),
        .group = kTree,
        .read_by = kTot}},
      {tree.exploration,
       {.name = "exploration",
        .symbol = "c",
        .help = "mcts: weight of exploration",
        .bounds = From(0),
        .group = kTree,
        .read_by = kMcts}},
      {tree.rollout_steps,
       {.name = "rollout-steps",
        .help = "mcts: steps of a rollout",
        .bounds = Between(0, 4096),
        .group = kTree,
        .read_by = kMcts}},
      {tree.rollout_share,
       {.name = "rollout-share",
        .symbol = "alpha",
        .help = "mcts: weight of the rollout in a value",
        .bounds = Between(0, 1),
        .group = kTree,
        .read_by = kMcts}},
      {tree.parallel_close,
       {.name = "parallel-close",
        .help = "threadweaver: who writes </Parallel>: the orchestrator (paper) or the model",
        .group = kTree,
        .read_by = kThreads}},
      {o.sampler.temperature,
       {.name = "temperature",
        .help = "sampling temperature; 0: most probable",
        .bounds = From(0),
        .group = kSampling,
        .brief = "0.8"}},
      {o.sampler.top_k,
       {.name = "top-k",
        .help = "keep the k most probable tokens; 0: all",
        .bounds = Between(0, 2147483647),
        .group = kSampling,
        .brief = "0"}},
      {o.sampler.top_p,
       {.name = "top-p",
        .help = "keep this much probability",
        .bounds = {0, 1, /*open_low=*/true},
        .group = kSampling,
        .brief = "1"}},
      {o.sampler.min_p,
       {.name = "min-p",
        .help = "drop tokens below this share of the best",
        .bounds = {0, 1, /*open_low=*/false, /*open_high=*/true},
        .group = kSampling,
        .brief = "0"}},
      {o.max_tokens,
       {.name = "max-tokens",
        .symbol = "T_max",
        .help = "tokens of one path at most",
        .brief_help = "longest path, in tokens",
        .bounds = Between(1, 1048576),
        .group = kSampling,
        .brief = "800"}},
      {o.loop_guard,
       {.name = "loop-guard",
        .help = "a path that repeats itself ends as degenerate",
        .group = kSampling,
        .brief = "on",
        .words = {"off", "on"}}},
  };
}

Result<MethodOptions> Preset(const std::string& name) {
  MethodOptions options;
  if (name != "auto" && name != "paper" && name != "short") {
    return Error{ErrorCode::kNotFound,
                 "preset '" + name + "' is not known; use auto, paper or short"};
  }
  for (Option& option : OptionsOf(options)) {
    if (name == "short" && *option.info().brief != '\0') {
      if (Status status = option.Set(option.info().brief); !status) {
        return status.error();
      }
    }
  }
  return options;
}

Status SetOption(MethodOptions& options, std::string_view name, std::string_view text) {
  std::vector<Option> table = OptionsOf(options);
  Option* option = FindOption(table, name);
  if (option == nullptr) {
    return InvalidArgument(
        fmt::format("option '{}' is not known; docs/options.md lists them", name));
  }
  return option->Set(text);
}

Status Validate(const MethodOptions& options) {
  MethodOptions copy = options;
  const Status ranges = CheckRanges(OptionsOf(copy));
  return ranges ? CheckTogether(options) : ranges;
}

int WarmupCount(const MethodOptions& options) {
  return PlanWarmup(options.warmup, options.width, {}).paths;
}

int PoolWidth(const MethodOptions& options) {
  return options.includes_warmup ? options.width - WarmupCount(options) : options.width;
}

int LaneLimit(const MethodOptions& options) {
  const int scaled = static_cast<int>(std::ceil(options.lane_factor * options.width));
  const WarmupPlan warmup = PlanWarmup(options.warmup, options.width, options.threshold);
  const int late = options.warmup_barrier ? 0 : warmup.paths - WarmupNeeded(warmup, warmup.paths);
  return std::max({scaled, warmup.paths, PoolWidth(options) + late});
}

int SuffixTokens(const MethodOptions& options) {
  return options.suffix > 0 ? options.suffix : options.interval;
}

int HorizonTokens(const MethodOptions& options) {
  return options.horizon > 0 ? options.horizon : options.interval;
}

RouteSpec RouteSpecOf(const MethodOptions& options, int routes) {
  RouteSpec spec = options.route;
  spec.routes = routes;
  spec.confidence_count = options.confidence_count;
  spec.confidence_set = options.confidence == ConfidenceSignal::kTopK
                            ? ConfidenceSet::kTopK
                            : ConfidenceSet::kAlternatives;
  return spec;
}

}  // namespace hyper

// How paths are decoded and voted on. What each option means, takes and is called stands in one
// table, the rows of src/decode/options.cc; flags, JSON, help, records and docs/options.md read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/engine.h"
#include "hyper/option.h"
#include "hyper/option_types.h"
#include "hyper/result.h"
#include "hyper/tree_options.h"
#include "hyper/types.h"

#pragma GCC visibility push(default)
namespace hyper {

// What a method can do; it reads the options of these features. See OptionInfo::read_by.
enum MethodFeature : uint32_t {
  kEvery = 1U << 0U,        // decodes paths and votes: every method
  kWarmup = 1U << 1U,       // decodes warm-up paths first
  kPruning = 1U << 2U,      // prunes by a threshold out of the warm-up
  kController = 1U << 3U,   // decides on actions
  kRefinement = 1U << 4U,   // refines tokens over expert routes
  kFixedRoutes = 1U << 5U,  // refines with the same K all along (RoE)
  kLateRoutes = 1U << 6U,   // from some position on
  kConsensus = 1U << 7U,    // stops where one answer has enough of the votes
  kScorer = 1U << 8U,       // scores whole paths by --scorer
  kKeepBest = 1U << 9U,     // lets the best of them vote
  kSteps = 1U << 10U,       // values steps of paths: the tree methods
  kShares = 1U << 11U,      // shares a budget out over steps: REBASE and ETS
  kEts = 1U << 12U,
  kTot = 1U << 13U,
  kMcts = 1U << 14U,
  kThreads = 1U << 15U,   // spawns threads (ThreadWeaver)
  kWeights = 1U << 16U,   // scores whole paths, as the rules weighted, best and borda take it
  kLaunch = 1U << 17U,    // starts independent paths by --launch
  kWindows = 1U << 18U,   // looks at windows of paths (ESC)
  kCap = 1U << 19U,       // cuts paths at --length-cap
  kProbes = 1U << 20U,    // may ask running paths for their answers
  kMomentum = 1U << 21U,  // opens and ends paths by the confidence's momentum (CMC)
  kSwitches = 1U << 22U,  // weighs replies by how probably they change (MARS)
};

// Options of a run. Defaults are the paper's (preset `paper`).
struct MethodOptions {
  // Pool.
  int width = 80;
  int warmup = 16;
  bool includes_warmup = false;
  bool warmup_barrier = true;
  double lane_factor = 1.65;
  LaunchOrder launch = LaunchOrder::kParallel;
  // Controller.
  ActionSet actions = ActionSet::All();
  int interval = 64;
  int suffix = 0;
  int horizon = 0;
  double eta = 0.4;
  ControllerRule controller = ControllerRule::kScores;
  std::string action_values;
  int force_decision = -1;
  Action force_action = Action::kNone;
  // Confidence and pruning.
  ConfidenceSignal confidence = ConfidenceSignal::kAlternatives;
  int confidence_count = 8;
  int entropy_count = 8;
  int window = 2048;
  ThresholdRule threshold;
  // SingleToken; its K and what its confidence counts are those of the run (RouteSpecOf).
  RouteSpec route;
  VoteOptions vote;
  StopRule stop;
  // The compared methods' own.
  PathScorer scorer = PathScorer::kSelfCertainty;
  double keep_percent = 10;
  double consensus = 0.95;
  int routes = 8;
  double refine_from = 0.84;
  int esc_window = 5;
  int length_cap = 16000;
  double cmc_beta = 0.5;
  int mars_warmup = 16;
  // Probes of running paths.
  bool probe = false;
  int probe_interval = 500;
  int probe_tokens = 20;
  std::string probe_text = "The answer is \\boxed{";
  TreeOptions tree;
  // Sampling and length.
  SamplerSpec sampler{0.6, 20, 0.95, 0.0};
  int max_tokens = 32768;
  bool loop_guard = false;
  // Where the paper leaves room, or where you may want something else.
  bool late_expansion = false;
  bool keep_finished = false;
  bool vote_warmup = true;
  bool vote_clones = true;
};

// The table: every option, bound to its field of `options`, in the order of --help.
std::vector<Option> OptionsOf(MethodOptions& options);

// Options of a named preset: "paper" (long traces), "short" (the bundled model's) or "auto": the
// paper's too, which ResolveRun fits to model and machine.
// Errors: kNotFound with the names there are. Pure.
Result<MethodOptions> Preset(const std::string& name);

// Sets the option of that name by its text. Errors: kInvalidArgument (no such option, a value that
// it does not take).
Status SetOption(MethodOptions& options, std::string_view name, std::string_view text);

// The first option that is out of its range, in words; OK when all are well. Pure.
Status Validate(const MethodOptions& options);

// Derived values, in one place. Pure; `options` must be valid.
int WarmupCount(const MethodOptions& options);  // N_init
int PoolWidth(const MethodOptions& options);    // W, the paths opened after warm-up
// ceil(lane_factor * S_max), or more where warm-up paths may run on beside the pool.
int LaneLimit(const MethodOptions& options);
int SuffixTokens(const MethodOptions& options);   // L
int HorizonTokens(const MethodOptions& options);  // m
// How a token is refined over `routes` routes.
RouteSpec RouteSpecOf(const MethodOptions& options, int routes);

}  // namespace hyper
#pragma GCC visibility pop

// The methods by name, in one table: what is code, and what is a method with other options.
#include "src/decode/methods/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "hyper/ask.h"
#include "hyper/step_reward.h"
#include "src/decode/methods/deepconf.h"
#include "src/decode/methods/ets.h"
#include "src/decode/methods/hyper.h"
#include "src/decode/methods/judge_reward.h"
#include "src/decode/methods/mcts.h"
#include "src/decode/methods/momentum_paths.h"
#include "src/decode/methods/own_methods.h"
#include "src/decode/methods/probed_paths.h"
#include "src/decode/methods/rebase.h"
#include "src/decode/methods/roe.h"
#include "src/decode/methods/sc.h"
#include "src/decode/methods/schedules.h"
#include "src/decode/methods/switching_paths.h"
#include "src/decode/methods/threadweaver.h"
#include "src/decode/methods/tot.h"

namespace hyper {
namespace {

using Made = std::unique_ptr<Method>;
using Reward = std::unique_ptr<StepReward>;

enum class Trait { kNone, kNeedsLogprobs, kOnePath };

struct MethodRow {
  const char* name;
  const char* description;
  const char* defaults;  // option=value, separated by spaces
  uint32_t features;
  Made (*make)(const MethodOptions& options);
  Trait trait = Trait::kNone;
  const char* base = "";  // of a variant: the row whose code it is, with `defaults` over its own
};

constexpr MethodRow Variant(const char* name, const char* base, const char* description,
                            const char* options) {
  return {name, description, options, 0, nullptr, Trait::kNone, base};
}

// A search over steps, which takes a scorer of steps.
struct TreeRow {
  const char* name;
  const char* description;
  const char* defaults;
  uint32_t features;
  Made (*make)(const MethodOptions& options, Reward reward);
};

template <class T>
Made Make(const MethodOptions& options) {
  return std::make_unique<T>(options);
}

template <class T>
Made MakeTree(const MethodOptions& options, Reward reward) {
  return std::make_unique<T>(options, std::move(reward));
}

template <bool kAllVote>
Made MakeOnline(const MethodOptions& options) {
  return std::make_unique<DeepConf>(options, kAllVote);
}

template <bool kLate>
Made MakeRoe(const MethodOptions& options) {
  return std::make_unique<RosterOfExperts>(options, kLate);
}

template <Action kAction>
Made MakeFixed(const MethodOptions& options) {
  return std::make_unique<FixedAction>(options, kAction);
}

constexpr uint32_t kIndependent = kEvery | kLaunch | kProbes;
constexpr uint32_t kScored = kEvery | kLaunch | kScorer | kWeights;
constexpr uint32_t kOnlinePool = kEvery | kWarmup | kPruning;
constexpr uint32_t kHyper = kOnlinePool | kController | kRefinement | kLaunch;
constexpr uint32_t kTree = kEvery | kWarmup | kSteps | kWeights;
constexpr const char* kRoe =
    "two-pass=false weights=clean aggregate=mean-prob skip-first-layers=1 skip-last-layers=1 "
    "vote=majority";

// In the order in which help and tables show them.
constexpr auto kMethods = std::to_array<MethodRow>({
    {"hyper", "the full expand-reduce controller (HyPER)", "", kHyper, Make<HyperMethod>,
     Trait::kNeedsLogprobs},
    {"cot", "one path, whatever the width", "vote=majority", kEvery, Make<SelfConsistency>,
     Trait::kOnePath},
    {"sc", "self-consistency: independent paths, majority vote", "vote=majority", kIndependent,
     Make<SelfConsistency>},
    Variant("sc-adaptive", "sc",
            "paths one by one until the majority is likely (Adaptive-Consistency)",
            "stop=0.95 launch=one"),
    {"sc-cap", "self-consistency cut at --length-cap tokens; finished paths vote",
     "vote=majority vote-tentative=false", kIndependent | kCap, Make<CappedPaths>},
    {"esc", "windows of paths until one window agrees (ESC)", "vote=majority", kEvery | kWindows,
     Make<EqualWindows>},
    {"parallel-probe", "probed paths until their majority is stable; outliers end (Parallel-Probe)",
     "vote=majority probe=on", kEvery | kProbes, Make<ParallelProbe>},
    {"cmc", "probed paths, opened and ended by the momentum of their vote (AutoTTS's CMC)",
     "vote=majority probe=on", kEvery | kProbes | kMomentum, Make<MomentumPaths>},
    {"mars", "probed paths until no likely change of their replies turns the vote (MARS)",
     "vote=majority probe=on", kEvery | kProbes | kSwitches, Make<SwitchingPaths>},
    {"certaindex", "probed paths, each until its answer is stable (Certaindex)",
     "vote=majority probe=on", kIndependent, Make<StablePaths>},
    {"self-certainty", "the path with the highest full-vocabulary certainty", "vote=best", kScored,
     Make<ScoredPaths>, Trait::kNeedsLogprobs},
    Variant("self-certainty-borda", "self-certainty",
            "Borda vote over paths ranked by self-certainty", "vote=borda"),
    {"deepconf", "online DeepConf-low: keeps what the best 10 % of warm-up would",
     "threshold=percentile:90 confidence=topk confidence-count=20 includes-warmup=true "
     "vote=deepconf",
     kOnlinePool | kConsensus, MakeOnline<false>, Trait::kNeedsLogprobs},
    Variant("deepconf-high", "deepconf", "online DeepConf-high: the 10th percentile of warm-up",
            "threshold=percentile:10"),
    {"deepconf-top10", "online DeepConf with HyPER's threshold and vote set",
     "confidence=topk confidence-count=20 includes-warmup=true vote=deepconf",
     kOnlinePool | kConsensus, MakeOnline<true>, Trait::kNeedsLogprobs},
    Variant("deepconf-offline", "deepconf-offline-filtered",
            "complete paths, weighted by mean confidence", "keep-percent=100"),
    {"deepconf-offline-filtered", "complete paths, the best by mean confidence vote",
     "confidence=topk confidence-count=20 scorer=mean vote=weighted", kScored | kKeepBest,
     Make<OfflineDeepConf>, Trait::kNeedsLogprobs},
    Variant("deepconf-offline-tail", "deepconf-offline-filtered",
            "complete paths, the best by tail confidence vote", "scorer=tail"),
    Variant("deepconf-offline-bottom", "deepconf-offline-filtered",
            "complete paths, the best by their lowest windows vote", "scorer=bottom"),
    Variant("deepconf-offline-lowest", "deepconf-offline-filtered",
            "complete paths, the best by their lowest window vote", "scorer=lowest"),
    {"rpc", "complete paths, the likely ones vote by their perplexity (RPC)",
     "confidence=logprob scorer=mean vote=weighted", kScored, Make<PerplexityConsistency>,
     Trait::kNeedsLogprobs},
    {"bon", "best of N by --scorer", "vote=best", kScored, Make<ScoredPaths>},
    Variant("bon-mean", "bon", "best of N by mean confidence",
            "scorer=mean confidence=topk confidence-count=20"),
    Variant("bon-tail", "bon", "best of N by tail confidence",
            "scorer=tail confidence=topk confidence-count=20"),
    Variant("bon-ptrue", "bon", "best of N by a P(True) probe",
            "scorer=p-true confidence=topk confidence-count=20"),
    {"roe", "every token refined by K routes (RoE)", kRoe, kEvery | kRefinement | kFixedRoutes,
     MakeRoe<false>},
    {"roe-late", "tokens late in each path refined by K routes (RoE)", kRoe,
     kEvery | kWarmup | kRefinement | kFixedRoutes | kLateRoutes, MakeRoe<true>},
    {"threadweaver", "threads spawned by the model's own outlines, untrained (ThreadWeaver)",
     "vote=majority", kEvery | kThreads, Make<ThreadWeaver>},
    Variant("hyper-no-single", "hyper", "HyPER without SingleToken",
            "actions=none,multi_token,branch"),
    Variant("hyper-no-multi", "hyper", "HyPER without MultiToken",
            "actions=none,single_token,branch"),
    Variant("hyper-no-branch", "hyper", "HyPER without Branch",
            "actions=none,single_token,multi_token"),
    Variant("hyper-roe-sampling", "hyper", "HyPER with RoE's sampling in place of two-pass",
            "two-pass=false"),
    {"single-token-only", "HyPER's pool with SingleToken at every decision", "", kHyper,
     MakeFixed<Action::kSingleToken>},
    {"multi-token-only", "HyPER's pool with MultiToken at every decision", "", kHyper,
     MakeFixed<Action::kMultiToken>},
    {"manual", "MultiToken early, SingleToken late, by a fixed schedule", "", kHyper,
     Make<ManualSchedule>},
});

constexpr auto kTrees = std::to_array<TreeRow>({
    {"tot", "Tree of Thoughts: a beam of states, or --search dfs", "vote=majority", kTree | kTot,
     MakeTree<TreeOfThoughts>},
    {"mcts", "tree search by UCT with rollouts (ReST-MCTS*)", "vote=best", kTree | kMcts,
     MakeTree<Mcts>},
    {"rebase", "reward-balanced tree of steps (REBASE)", "vote=weighted", kTree | kShares,
     MakeTree<Rebase>},
    {"ets", "REBASE whose nodes an integer program picks (ETS)", "vote=weighted",
     kTree | kShares | kEts, MakeTree<Ets>},
});

template <class Rows>
auto RowOf(const Rows& rows, std::string_view name) -> decltype(rows.data()) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [name](const auto& row) { return name == row.name; });
  return at == rows.end() ? nullptr : &*at;
}

// What a name stands for; one of `method` and `tree` is set.
struct Named {
  const MethodRow* method = nullptr;
  const MethodRow* variant = nullptr;  // of `method`
  const TreeRow* tree = nullptr;
  std::string reward;  // of a tree, where the name gives one
  // One of the caller's own; the others are then those of its base.
  std::shared_ptr<const MethodSpec> own;
};

std::optional<Named> NamedTree(const std::string& name) {
  const size_t dash = name.find('-');
  Named named;
  named.tree = RowOf(kTrees, name.substr(0, dash));
  if (dash != std::string::npos) {
    named.reward = name.substr(dash + 1);
    if (!ValueOf<RewardKind>(named.reward)) {
      return std::nullopt;
    }
  }
  return named.tree != nullptr ? std::optional(named) : std::nullopt;
}

Result<Named> Find(const std::string& name) {
  if (std::optional<Named> tree = NamedTree(name)) {
    return *tree;
  }
  if (std::shared_ptr<const MethodSpec> own = FindOwnMethod(name)) {
    Result<Named> base = Find(own->base);
    if (base) {
      base->own = std::move(own);
    }
    return base;
  }
  Named named;
  named.method = RowOf(kMethods, name);
  if (named.method != nullptr && *named.method->base != '\0') {
    named.variant = named.method;
    named.method = RowOf(kMethods, named.variant->base);
  }
  if (named.method != nullptr) {
    return named;
  }
  std::string names;
  for (const MethodInfo& info : Methods()) {
    names += (names.empty() ? "" : ", ") + info.name;
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("method '{}' is not known; use one of {}", name, names)};
}

// The name's own scorer, else that of the options. Tree of Thoughts has a judge's words in place of
// a number.
Result<Made> MakeNamedTree(const Named& named, const MethodOptions& options) {
  const std::string reward = named.reward.empty() ? NameOf(options.tree.reward) : named.reward;
  if (reward == "judge" && named.tree->make == &MakeTree<TreeOfThoughts>) {
    return named.tree->make(options, std::make_unique<JudgeReward>(options, JudgeScale::kWords));
  }
  Result<Reward> made = MakeStepReward(reward, options);
  if (!made) {
    return made.error();
  }
  return named.tree->make(options, std::move(*made));
}

}  // namespace

std::vector<MethodInfo> Methods() {
  std::vector<MethodInfo> methods;
  methods.reserve(std::size(kMethods));
  for (const MethodRow& row : kMethods) {
    methods.push_back({row.name, row.description});
  }
  for (const TreeRow& row : kTrees) {
    methods.push_back({std::string(row.name) + "-conf",
                       std::string(row.description) +
                           ", steps valued by confidence (also -ptrue, -judge, -prm)"});
  }
  for (const auto& own : OwnMethods()) {
    methods.push_back({own->name, own->description});
  }
  return methods;
}

Status SetOptions(MethodOptions& options, std::string_view texts) {
  while (!texts.empty()) {
    const std::string_view text = texts.substr(0, texts.find(' '));
    texts.remove_prefix(std::min(text.size() + 1, texts.size()));
    const size_t equals = text.find('=');
    if (Status status = SetOption(options, text.substr(0, equals),
                                  equals == text.npos ? "" : text.substr(equals + 1));
        !status) {
      return status;
    }
  }
  return {};
}

Result<MethodEntry> FindMethod(const std::string& name) {
  const Result<Named> named = Find(name);
  if (!named) {
    return named.error();
  }
  if (named->tree != nullptr) {
    return MethodEntry{.name = name, .features = named->tree->features, .reward = named->reward};
  }
  const MethodRow& row = *named->method;
  return MethodEntry{name, row.features, row.trait == Trait::kNeedsLogprobs,
                     row.trait == Trait::kOnePath};
}

Status ApplyMethodDefaults(const std::string& name, MethodOptions& options) {
  const Result<Named> named = Find(name);
  if (!named) {
    return named.error();
  }
  Status status =
      SetOptions(options, named->tree != nullptr ? named->tree->defaults : named->method->defaults);
  if (status && !named->reward.empty()) {
    status = SetOptions(options, "reward=" + named->reward);
  }
  if (status && named->variant != nullptr) {
    status = SetOptions(options, named->variant->defaults);
  }
  return status && named->own != nullptr ? SetOptions(options, named->own->defaults) : status;
}

Result<std::unique_ptr<Method>> MakeMethod(const std::string& name, const MethodOptions& options) {
  const Result<Named> named = Find(name);
  if (!named) {
    return named.error();
  }
  if (named->own != nullptr) {
    Made made = named->own->make(options);
    return made != nullptr
               ? Result<Made>(std::move(made))
               : Error{ErrorCode::kInternal, fmt::format("method '{}' could not be made", name)};
  }
  if (named->tree != nullptr) {
    return MakeNamedTree(*named, options);
  }
  return named->method->make(options);
}

Result<std::unique_ptr<Method>> MakeStepMethod(const RunPlan& plan, Reward reward) {
  const Result<Named> named = Find(plan.method);
  if (!named || named->tree == nullptr) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("method '{}' takes no scorer of steps; resolve a plan of tot, mcts, "
                             "rebase or ets",
                             plan.method)};
  }
  return named->tree->make(plan.options, std::move(reward));
}

}  // namespace hyper

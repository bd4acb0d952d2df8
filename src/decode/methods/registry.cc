// The methods by name: one row each.
#include <fmt/format.h>

#include <array>

#include "hyper/method.h"
#include "src/decode/methods/deepconf.h"
#include "src/decode/methods/hyper.h"
#include "src/decode/methods/roe.h"
#include "src/decode/methods/sc.h"
#include "src/decode/methods/schedules.h"
#include "src/decode/methods/step_methods.h"
#include "src/decode/methods/threadweaver.h"

namespace hyper {
namespace {

using Options = MethodOptions;
using Made = std::unique_ptr<Method>;

struct Row {
  const char* name;
  const char* description;
  void (*defaults)(Options& options);
  Made (*make)(const Options& options);
};

void Keep(Options& /*options*/) {}

void Majority(Options& options) { options.vote = "majority"; }

void DeepConfDefaults(Options& options, const char* threshold) {
  options.threshold = threshold;
  options.confidence_set = "topk";
  options.confidence_count = 20;
  options.includes_warmup = true;
  options.vote = "deepconf";
}

void RoeDefaults(Options& options) {
  options.two_pass = false;
  options.weights = "clean";
  options.aggregate = "mean-prob";
  options.skip_first_layers = 1;
  options.skip_last_layers = 1;
  options.vote = "majority";
}

void OfflineDefaults(Options& options, const char* scorer) {
  options.confidence_set = "topk";
  options.confidence_count = 20;
  options.scorer = scorer;
  options.vote = "weighted";
}

// Confidences are DeepConf's, as its traces are scored.
void BestOf(Options& options, const char* scorer) {
  OfflineDefaults(options, scorer);
  options.vote = "best";
}

void Without(Options& options, const char* actions) { options.actions = actions; }

Made Hyper(const Options& o) { return std::make_unique<HyperMethod>(o); }
Made Sc(const Options& o) { return std::make_unique<SelfConsistency>(o); }
Made Scored(const Options& o) { return std::make_unique<ScoredPaths>(o); }
Made Offline(const Options& o) { return std::make_unique<OfflineDeepConf>(o); }
Made Online(const Options& o) { return std::make_unique<DeepConf>(o, /*all_vote=*/false); }

const auto kRows = std::to_array<Row>({
    {"hyper", "the full expand-reduce controller (HyPER)", Keep, Hyper},
    {"cot", "one path", [](Options& o) { Majority(o), o.width = 1; }, Sc},
    {"sc", "self-consistency: independent paths, majority vote", Majority, Sc},
    {"self-certainty", "the path with the highest full-vocabulary certainty",
     [](Options& o) { o.vote = "best"; }, Scored},
    {"self-certainty-borda", "Borda vote over paths ranked by self-certainty",
     [](Options& o) { o.vote = "borda"; }, Scored},
    {"deepconf", "online DeepConf-low: keeps what the best 10 % of warm-up would",
     [](Options& o) { DeepConfDefaults(o, "percentile:90"); }, Online},
    {"deepconf-high", "online DeepConf-high: the 10th percentile of warm-up",
     [](Options& o) { DeepConfDefaults(o, "percentile:10"); }, Online},
    {"deepconf-top10", "online DeepConf with HyPER's threshold and vote set",
     [](Options& o) {
       const std::string threshold = o.threshold;  // HyPER's, as the preset scales it
       DeepConfDefaults(o, threshold.c_str());
     },
     [](const Options& o) -> Made { return std::make_unique<DeepConf>(o, /*all_vote=*/true); }},
    {"deepconf-offline", "complete paths, weighted by mean confidence",
     [](Options& o) { OfflineDefaults(o, "mean"), o.keep_percent = 100; }, Offline},
    {"deepconf-offline-filtered", "complete paths, the best by mean confidence vote",
     [](Options& o) { OfflineDefaults(o, "mean"); }, Offline},
    {"deepconf-offline-tail", "complete paths, the best by tail confidence vote",
     [](Options& o) { OfflineDefaults(o, "tail"); }, Offline},
    {"deepconf-offline-bottom", "complete paths, the best by their lowest windows vote",
     [](Options& o) { OfflineDefaults(o, "bottom"); }, Offline},
    {"deepconf-offline-lowest", "complete paths, the best by their lowest window vote",
     [](Options& o) { OfflineDefaults(o, "lowest"); }, Offline},
    {"bon", "best of N by --scorer", [](Options& o) { o.vote = "best"; }, Scored},
    {"bon-mean", "best of N by mean confidence", [](Options& o) { BestOf(o, "mean"); }, Scored},
    {"bon-tail", "best of N by tail confidence", [](Options& o) { BestOf(o, "tail"); }, Scored},
    {"bon-ptrue", "best of N by a P(True) probe", [](Options& o) { BestOf(o, "p-true"); }, Scored},
    {"roe", "every token refined by K routes (RoE)", RoeDefaults,
     [](const Options& o) -> Made { return std::make_unique<RosterOfExperts>(o, /*late=*/false); }},
    {"roe-late", "tokens late in each path refined by K routes (RoE)", RoeDefaults,
     [](const Options& o) -> Made { return std::make_unique<RosterOfExperts>(o, /*late=*/true); }},
    {"threadweaver", "threads spawned by the model's own outlines, untrained (ThreadWeaver)",
     Majority, [](const Options& o) -> Made { return std::make_unique<ThreadWeaver>(o); }},
    {"hyper-no-single", "HyPER without SingleToken",
     [](Options& o) { Without(o, "none,multi_token,branch"); }, Hyper},
    {"hyper-no-multi", "HyPER without MultiToken",
     [](Options& o) { Without(o, "none,single_token,branch"); }, Hyper},
    {"hyper-no-branch", "HyPER without Branch",
     [](Options& o) { Without(o, "none,single_token,multi_token"); }, Hyper},
    {"hyper-roe-sampling", "HyPER with RoE's sampling in place of two-pass",
     [](Options& o) { o.two_pass = false; }, Hyper},
    {"single-token-only", "HyPER's pool with SingleToken at every decision", Keep,
     [](const Options& o) -> Made {
       return std::make_unique<FixedAction>(o, Action::kSingleToken);
     }},
    {"multi-token-only", "HyPER's pool with MultiToken at every decision", Keep,
     [](const Options& o) -> Made {
       return std::make_unique<FixedAction>(o, Action::kMultiToken);
     }},
    {"manual", "MultiToken early, SingleToken late, by a fixed schedule", Keep,
     [](const Options& o) -> Made { return std::make_unique<ManualSchedule>(o); }},
});

Result<const Row*> Find(const std::string& name) {
  std::string names;
  for (const Row& row : kRows) {
    if (name == row.name) {
      return &row;
    }
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  for (const MethodInfo& step_method : StepMethods()) {
    names += ", " + step_method.name;
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("method '{}' is not known; take one of {}", name, names)};
}

}  // namespace

std::vector<MethodInfo> Methods() {
  std::vector<MethodInfo> methods;
  methods.reserve(kRows.size());
  for (const Row& row : kRows) {
    methods.push_back({row.name, row.description});
  }
  const std::vector<MethodInfo> step_methods = StepMethods();
  methods.insert(methods.end(), step_methods.begin(), step_methods.end());
  return methods;
}

Status ApplyMethodDefaults(const std::string& name, MethodOptions& options) {
  if (ApplyStepMethodDefaults(name, options)) {
    return {};
  }
  const Result<const Row*> row = Find(name);
  if (!row) {
    return row.error();
  }
  (*row)->defaults(options);
  return {};
}

Result<std::unique_ptr<Method>> MakeMethod(const std::string& name, const MethodOptions& options) {
  Result<std::unique_ptr<Method>> step_method = MakeNamedStepMethod(name, options);
  if (step_method || step_method.error().code != ErrorCode::kNotFound) {
    return step_method;
  }
  const Result<const Row*> row = Find(name);
  if (!row) {
    return row.error();
  }
  Made method = (*row)->make(options);
  const std::string& rule = options.vote;
  if ((rule == "weighted" || rule == "best" || rule == "borda") && !method->Weighs()) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--vote {} needs a score of each path, and the method '{}' gives none; "
                    "take another rule, or bon or self-certainty",
                    rule, name)};
  }
  return method;
}

}  // namespace hyper

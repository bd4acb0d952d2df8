#include <string_view>

#include "hyper/method.h"
#include "hyper/method_traits.h"
#include "src/decode/methods/own_methods.h"
#include "src/decode/methods/registry.h"

namespace hyper {
namespace {

// HyPER and its ablations: a fixed action or schedule in the controller's place adapts nothing.
MethodTraits HyperTraits(const std::string& method, const MethodOptions& options) {
  MethodTraits traits;
  traits.granularity = "token";
  traits.adaptive = method.starts_with("hyper");
  traits.prunes = options.threshold.kind != ThresholdRule::Kind::kOff;
  traits.refines_tokens = method != "multi-token-only" && options.actions.Has(Action::kSingleToken);
  return traits;
}

// ToT keeps a fixed number of states per level, MCTS gives no node up for good; the shares of
// REBASE and ETS do both.
MethodTraits TreeTraits(std::string_view stem, const MethodOptions& options) {
  MethodTraits traits;
  traits.granularity = "step";
  traits.adaptive = stem != "tot";
  traits.rigid_search = true;
  traits.prunes = stem != "mcts";
  traits.reward_model = options.tree.reward == RewardKind::kProcessModel;
  return traits;
}

}  // namespace

Result<MethodTraits> TraitsOf(const std::string& method, const MethodOptions& options) {
  if (const auto known = FindMethod(method); !known) {
    return known.error();
  }
  if (const auto own = FindOwnMethod(method)) {
    return own->traits;
  }
  const std::string_view stem = std::string_view(method).substr(0, method.find('-'));
  if (stem == "hyper" || stem == "single" || stem == "multi" || stem == "manual") {
    return HyperTraits(method, options);
  }
  if (stem == "tot" || stem == "mcts" || stem == "rebase" || stem == "ets") {
    return TreeTraits(stem, options);
  }
  MethodTraits traits;
  traits.aggregates = options.width > 1;
  traits.adaptive = stem == "esc" || options.stop.kind != StopRule::Kind::kNever;
  if (stem == "parallel" || stem == "cmc" || stem == "mars" || stem == "certaindex") {
    traits.adaptive = true;
    traits.prunes = stem == "parallel" || stem == "cmc";
  } else if (stem == "roe") {
    traits.granularity = "token";
    traits.refines_tokens = true;
  } else if (stem == "threadweaver") {
    traits.granularity = "step";
    traits.adaptive = true;
  } else if (stem == "deepconf" && !method.starts_with("deepconf-offline")) {
    traits.adaptive = true;
    traits.prunes = true;
  }
  return traits;
}

}  // namespace hyper

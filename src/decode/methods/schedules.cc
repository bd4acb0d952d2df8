#include "src/decode/methods/schedules.h"

#include "src/decode/methods/warmup.h"

namespace hyper {
namespace {

// `action` where the engine and the options allow it, else None.
Action IfAllowed(Action action, const DecisionRecord& decision) {
  return decision.allowed.Has(action) ? action : Action::kNone;
}

}  // namespace

Action FixedAction::Choose(const Pool& /*pool*/, const DecisionRecord& decision) const {
  return IfAllowed(action_, decision);
}

Action ManualSchedule::Choose(const Pool& pool, const DecisionRecord& decision) const {
  const bool early = decision.position < 0.5 * MedianLength(pool);
  return IfAllowed(early ? Action::kMultiToken : Action::kSingleToken, decision);
}

}  // namespace hyper

#include "src/decode/methods/roe.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/decode/methods/warmup.h"

namespace hyper {

Status RosterOfExperts::Start(Pool& pool) {
  if (!pool.capabilities().routing) {
    return Error{ErrorCode::kUnsupported,
                 "the model '" + pool.model().name + "' cannot be routed: " +
                     (pool.capabilities().no_routing.empty() ? "the engine shows no experts"
                                                             : pool.capabilities().no_routing) +
                     "; roe and roe-late need a mixture-of-experts model run in process"};
  }
  in_warmup_ = late_;
  if (!late_) {
    return StartRefined(pool);
  }
  Status status = OpenPaths(pool, 0, WarmupCount(options_), /*warmup=*/true);
  return status ? pool.GrantAll(options_.interval) : status;
}

Status RosterOfExperts::OnSettled(Pool& pool) {
  if (in_warmup_ && pool.running().empty()) {
    in_warmup_ = false;
    refine_position_ = static_cast<int>(std::ceil(options_.refine_from * MedianLength(pool)));
    pool.BeginPhase();
    return StartRefined(pool);
  }
  return in_warmup_ ? pool.GrantAll(options_.interval) : Refine(pool);
}

Status RosterOfExperts::StartRefined(Pool& pool) {
  const auto first = static_cast<int>(pool.paths().size());
  if (options_.width <= first) {
    return {};
  }
  Status status =
      OpenPaths(pool, static_cast<uint64_t>(first), options_.width - first, /*warmup=*/false);
  return status ? Refine(pool) : status;
}

// Grants up to the position where refinement starts, exactly; from there on every token has K
// routes.
Status RosterOfExperts::Refine(Pool& pool) {
  const int before = refine_position_ - pool.position();
  if (before > 0) {
    return pool.GrantAll(std::min(before, options_.interval));
  }
  const int routes = pool.may_expand() ? options_.routes : 1;
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    Status status = pool.SetRoutes(id, routes);
    if (!status) {
      return status;
    }
  }
  return pool.GrantAll(options_.interval);
}

std::optional<Outlook> RosterOfExperts::Ahead(const Pool& pool) const {
  const int opened = static_cast<int>(pool.paths().size());
  return Outlook{in_warmup_ ? std::max(0, options_.width - opened) : 0, /*complete=*/true};
}

bool RosterOfExperts::Done(const Pool& pool) const { return !in_warmup_ && pool.running().empty(); }

}  // namespace hyper

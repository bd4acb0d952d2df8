// The rule of --stop, asked of a session: whether its vote is decided although paths are to come.
#pragma once

#include <optional>

#include "hyper/method.h"
#include "hyper/pool.h"
#include "hyper/records.h"

namespace hyper {

// What to record where the vote is decided by options().stop; nothing where it is open, where the
// rule is never, and where no path is left that a stop would save. The rule of the vote is the
// method's. A majority is judged by LeaderPosterior, other rules by UrnPosterior over as many paths
// as the method has ahead; kSure takes a lead that cannot be caught (IsSureLead). Pure.
std::optional<StopRecord> DecidedStop(const Method& method, const Pool& pool);

}  // namespace hyper

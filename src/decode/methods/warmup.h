// What methods with a warm-up learn from it.
#pragma once

#include "hyper/pool.h"
#include "hyper/records.h"

namespace hyper {

// Says that tokens are not refined where the model has experts but the engine cannot route.
void NoteMissingRoutes(Pool& pool);

// Whether the warm-up is over: none of its paths runs or, without options().warmup_barrier, as many
// came to their end as the threshold needs. To be asked between rounds, when every running path has
// the same length: the answer then depends on the paths alone. Pure.
bool WarmupOver(const Pool& pool);

// Ends the warm-up: X_max of the statistics and, unless the rule is "off",
// the threshold out of the lowest windows of the paths that ended by themselves or by length. The
// pool prunes by that threshold from now on.
WarmupRecord SettleWarmup(Pool& pool);

// Median length in tokens of the warm-up paths that ended by themselves, of all where none did; 0
// without a warm-up. Pure.
double MedianLength(const Pool& pool);

}  // namespace hyper

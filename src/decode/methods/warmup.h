// What methods with a warm-up learn from it.
#pragma once

#include "hyper/pool.h"
#include "hyper/records.h"
#include "hyper/result.h"

namespace hyper {

// Ends a warm-up whose paths have all ended: X_max of the statistics and, unless the rule is "off",
// the threshold out of the lowest windows of the paths that ended by themselves or by length. The
// pool prunes by that threshold from now on. Errors: kInvalidArgument (an unreadable rule).
Result<WarmupRecord> SettleWarmup(Pool& pool);

// Median length in tokens of the warm-up paths that ended by themselves, of all where none did; 0
// without a warm-up. Pure.
double MedianLength(const Pool& pool);

}  // namespace hyper

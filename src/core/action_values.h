// A controller that chooses the action by what it gained in measured runs.
#pragma once

#include <array>
#include <string_view>

#include "hyper/option_types.h"
#include "hyper/records.h"
#include "hyper/result.h"

namespace hyper {

// Statistics in the order of PoolStatistics::ForEach.
inline constexpr size_t kStatisticCount = 7;

// What an action did, against doing nothing, in runs that were measured (bench/action_values.py):
// the change in the probability of a right answer, linear in the normalised statistics, and the
// tokens that it took more.
struct ActionValue {
  double cost = 0;  // effective tokens, > 0; 0: the action was not measured
  double intercept = 0;
  std::array<double, kStatisticCount> slopes{};
};
using ActionValues = std::array<ActionValue, kActionCount>;  // by Action; kNone has none

// Reads "ACTION=COST,INTERCEPT,SLOPE,... ACTION=...", seven slopes each. Errors: kInvalidArgument
// naming the entry. Pure.
Result<ActionValues> ParseActionValues(std::string_view text);

// The allowed action with the most gain per token, None where no gain is above 0; the earlier one
// of equals. Pure.
//   statistics  normalised
Action ChooseByValue(const ActionValues& values, const PoolStatistics& statistics,
                     ActionSet allowed);

}  // namespace hyper

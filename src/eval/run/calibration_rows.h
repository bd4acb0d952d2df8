// The settings that a calibration tries.
#pragma once

#include <string>
#include <vector>

#include "src/eval/run/calibration.h"

namespace hyper::eval {

// All paths, the usual setting, and what is tried beside it: thresholds and stops with the paper's
// signal, and with the best one where its area is larger beyond noise.
//   plan    with its width
//   scores  empty: the pool knows answers and lengths only, and only stops are tried
// Pure, as all functions here.
std::vector<CalibrationRow> FirstRows(const CalibrationPlan& plan, double mean_tokens,
                                      const std::vector<SignalScore>& scores);

// A row with other votes.
std::vector<CalibrationRow> OtherVotes(const CalibrationRow& row);

// A row with fewer paths.
std::vector<CalibrationRow> OtherWidths(const CalibrationPlan& plan, const CalibrationRow& row);

}  // namespace hyper::eval

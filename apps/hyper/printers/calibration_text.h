// What `hyper calibrate` prints, and the profile that it writes.
#pragma once

#include <string>
#include <vector>

#include "src/eval/run/calibration.h"
#include "src/eval/run/pool_labels.h"
#include "src/eval/tables/table.h"

namespace hyper::app {

// Signals, frontier of the first half, and what the choice is worth on the second half. Pure.
std::vector<eval::Table> CalibrationTables(const eval::Calibration& made,
                                           const eval::LabelCounts& labels);

// The options as they are given on a command line: "--stop 0.95 --window 8". Pure.
std::string FlagsText(const OptionValues& options);

// The profile as JSON (docs/calibrate.md).
//   pool  that it was made from
std::string ProfileJson(const eval::Calibration& made, const eval::LabelCounts& labels,
                        const StoredRun& pool, const eval::CalibrationPlan& plan);

}  // namespace hyper::app

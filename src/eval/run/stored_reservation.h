// KV cells of a row's sessions: its own worst case, or what an earlier program reserved for it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/eval/run/study_plan.h"

namespace hyper::eval {

// Cells of a lane of so many tokens, with its prompt and some slack. Pure.
int64_t CellsOfLane(int64_t max_tokens);

// Cells that a row's sessions can fill at most: all their lanes at full length, each with a prompt.
// They depend on the row alone, so that it stays the same run whatever rows stand beside it. Pure.
int64_t CellsOfRow(const MethodOptions& options);

// Where the study holds a run that is the row but for more reserved cells, up to `most`, the row
// takes these over and goes on with that run: earlier programs reserved as much for each row as for
// the widest one. Pure.
void TakeOverReservation(const StudyPlan& plan, const ModelInfo& model,
                         const std::vector<StoredRun>& runs, int64_t most, StudyRow& row);

}  // namespace hyper::eval

// What makes a row of a study the run that it is: its options, and where it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/hyper/flags/eval_flags.h"
#include "src/eval/run/study_plan.h"
#include "src/store/store.h"

namespace hyper::app {

// The engine as part of a run's identity: its kind, what the KV cache is made of, and where the
// layers are, as far as that is not the default. Pure.
std::string EngineText(const EngineFlags& flags);

// Rows that stand in the study under another row's label, since both are the same run: a line of
// words each. `runs` are their numbers in the store. Errors: those of the store.
Result<std::vector<std::string>> SharedRows(const std::vector<eval::StudyRow>& rows,
                                            const std::vector<int64_t>& runs, Store& store);

// Warns of these.
Status WarnOfSharedRows(const char* command, const std::vector<eval::StudyRow>& rows,
                        const std::vector<int64_t>& runs, Store& store);

}  // namespace hyper::app

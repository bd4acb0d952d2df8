// What every table has to say of its rows: what is open, left out or drawn again and again.
#pragma once

#include <string>
#include <vector>

#include "src/eval/metrics/study_summary.h"

namespace hyper::eval {

// The name with a mark where so much is open that it cannot be compared. Pure, as all functions.
std::string Marked(const std::string& name, const Accuracy& accuracy);

// The label of a run, marked.
std::string RowLabel(const RunSummary& run);

// Whether the repeats of a run are draws from one pool of stored traces.
bool IsResampled(const RunSummary& run);

// A note for each run with undecided or failed answers, with questions that lack a repeat, or whose
// repeats are draws.
std::vector<std::string> RowNotes(const std::vector<RunSummary>& runs);

// A note where a rule leaves answers of `run` undecided or failed; else nothing.
std::vector<std::string> RuleNotes(const RunSummary& run, const std::vector<RuleAccuracy>& rules);

}  // namespace hyper::eval

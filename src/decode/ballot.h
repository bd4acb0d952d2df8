// From paths to ballots: answers grouped by equivalence, then counted under every rule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hyper/session.h"

namespace hyper {

// Outcome of every vote rule over `voters`, paths that have an answer each. Groups are the closure
// of AnswersEqual, so the order of paths cannot matter; a group shows its most frequent spelling
// (ties: the shorter, then the smaller text).
std::map<std::string, VoteOutcome> AllVotes(const std::vector<const Path*>& voters,
                                            const MethodOptions& options);

}  // namespace hyper

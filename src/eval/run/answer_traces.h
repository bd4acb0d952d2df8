// Pools that know of each path its answer and its length, and nothing of its tokens: neither texts
// nor log-probabilities. Such a path is replayed in steps of many tokens.
#pragma once

#include <vector>

#include "hyper/ask.h"
#include "src/eval/run/replay_engine.h"
#include "src/store/records.h"

namespace hyper::eval {

// The setting by which a stored run says that its paths are of this kind, and its value.
inline constexpr const char* kRecorded = "recorded";
inline constexpr const char* kAnswersOnly = "answers";

// Whether the run's paths are known by answer and length only. Pure.
bool HasAnswersOnly(const StoredRun& run);

// Whether answers and lengths are all that a row needs. Errors: kInvalidArgument saying what the
// pool lacks. Pure.
Status CheckNeedsAnswersOnly(const RunPlan& row);

// The first `count` traces of an item whose paths are known by answer and length only.
//   row  changed to count in pieces where it counted in tokens (max_tokens, length_cap)
// Where the vote does not weigh lengths, a piece stands for all tokens up to the next length at
// which anything can happen: a path that ends or is about to, or a limit of the row. The session
// then decides at the same tokens as with pieces of one token each.
// Errors: kNotFound (fewer paths, or one that did not come to its end). Pure.
Result<std::vector<ReplayTrace>> AnswerTraces(const StoredItem& item, int count, RunPlan& row);

// Turns the pieces that a replay has counted back into tokens: lengths of paths, and the ledger's
// tokens and positions. Its KV cells, and its estimate of what a stop saved, are 0: not known.
// Nothing to do where pieces are tokens.
void CountTokens(const ReplayEngine& engine, StoredItem& item);

}  // namespace hyper::eval

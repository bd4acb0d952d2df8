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

// The answers that a path gave when it was asked after `every` tokens, after twice as many, and so
// on, in the form in which a store keeps them: bytes, each answer a line; "" is none. Line breaks
// within an answer become spaces. Pure.
StoredSeries SeriesOfReplies(PathId path, const std::vector<std::string>& replies, int every);

// Whether answers and lengths are all that a row needs. Errors: kInvalidArgument saying what the
// pool lacks. Pure.
Status CheckNeedsAnswersOnly(const RunPlan& row);

// The first `count` traces of an item whose paths are known by answer and length only.
//   row  changed to count in pieces where it counted in tokens (max_tokens, length_cap,
//        probe_interval)
// Where the vote does not weigh lengths, a piece stands for all tokens up to the next length at
// which anything can happen: a path that ends or is about to, or a limit of the row. The session
// then decides at the same tokens as with pieces of one token each. Where paths are probed, there
// are equally many pieces, some of no token, between two of the recorded probes.
// Errors: kNotFound (fewer paths, or one that did not come to its end); kInvalidArgument (the row
// probes at other places than those recorded). Pure.
Result<std::vector<ReplayTrace>> AnswerTraces(const StoredItem& item, int count, RunPlan& row);

// Turns the pieces that a replay has counted back into tokens: lengths of paths, and the ledger's
// tokens and positions. Its KV cells, and its estimate of what a stop saved, are 0: not known.
// Nothing to do where pieces are tokens. Forks that were asked are taken out, and their tokens,
// which nobody recorded, are 0; a notice has their number.
void CountTokens(const ReplayEngine& engine, StoredItem& item);

}  // namespace hyper::eval

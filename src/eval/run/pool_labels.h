// What calibration makes of a pool's questions before it counts: right answers where none are
// known, and two halves that share no question.
#pragma once

#include <array>

#include "src/eval/run/trace_pool.h"

namespace hyper::eval {

// Which answer counts as right.
enum class PoolLabels {
  kGold,       // the known one; of a question without, the consensus
  kConsensus,  // the consensus of all paths, whatever is known
};

struct LabelCounts {
  int gold = 0;
  int consensus = 0;
  int dropped = 0;  // no known answer, and no consensus
};

// Sets the answer that counts as right of every question; the consensus is the answer that more of
// its paths have than any other (a pseudo-label). Questions without one are dropped: a tie, or no
// answer twice. Those with a narrow consensus stay: there a run that stops too early goes wrong.
// Errors: kDataLoss (a question's kind).
Result<LabelCounts> LabelPool(TracePool& pool, PoolLabels labels);

// Two halves of a pool: within each group every other question. Entries of one question (repeats,
// or equal texts under two names) are in one half. Pure.
std::array<TracePool, 2> SplitPool(TracePool pool);

}  // namespace hyper::eval

template <>
inline constexpr std::array hyper::kNamesOf<hyper::eval::PoolLabels> = {"gold", "consensus"};

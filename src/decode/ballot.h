// From paths to ballots: answers grouped by equivalence, then counted under every rule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hyper/session.h"
#include "src/core/vote.h"

namespace hyper {

// A path that takes part in the votes, with the method's own score of it (NaN: none).
struct Voter {
  const Path* path = nullptr;
  double weight = 0;
  bool votes = true;    // false: it only keeps its rank in the Borda vote
  bool probed = false;  // it votes with what its last probe answered
};

// The voters as the vote counts them, with the text of each group of equal answers.
struct Ballots {
  std::vector<Ballot> ballots;  // by voter
  std::vector<std::string> answers;
};
Ballots BallotsOf(const std::vector<Voter>& voters);

// Paths of a pool that vote or keep a rank, as the method has it.
std::vector<Voter> VotersOf(const Method& method, const Pool& pool);

// Outcome of every vote rule; the rules that need weights only where one is known. Groups are the
// closure of AnswersEqual, so the order of paths cannot matter; a group shows its most frequent
// spelling (ties: the shorter, then the smaller text).
std::map<std::string, VoteOutcome> AllVotes(const std::vector<Voter>& voters,
                                            const MethodOptions& options);

}  // namespace hyper

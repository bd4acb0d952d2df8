// A stored answer explained in words.
#pragma once

#include <string>
#include <vector>

#include "src/store/store.h"

namespace hyper::app {

// Whether a path cast a vote, as far as the study tells: the number of voters is stored, and the
// vote set follows from it for every method whose set does not depend on the search itself.
enum class Voted { kYes, kNo, kUnknown };

// By place in `item.paths`. Pure.
std::vector<Voted> WhoVoted(const StoredItem& item);

// Lines "#1  sc  repeat 0  45  right ..." of all answers to a question. Pure.
struct AnswerOverview {
  StoredRun run;
  ItemSummary item;
};
std::string OverviewText(const StoredQuestion& question,
                         const std::vector<AnswerOverview>& answers);

// One line of a list over several questions, with the rules that chose another answer. Pure.
std::string ListLine(const StoredQuestion& question, const AnswerOverview& answer,
                     const std::vector<StoredVote>& others);

// One answer: why it won, the ballots of every rule, paths, decisions and notices.
//   texts  also the text of each path
// Pure.
std::string InspectText(const StoredQuestion& question, const AnswerOverview& overview,
                        const StoredItem& item, bool texts);

}  // namespace hyper::app

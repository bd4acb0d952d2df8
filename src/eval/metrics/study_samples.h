// What the single paths of a run's answers are worth: pass@k, maj@k, existence, and what
// self-consistency would reach with fewer of them. Estimated without bias out of stored paths.
#pragma once

#include <vector>

#include "src/eval/metrics/study_summary.h"

namespace hyper::eval {

// The paths of one answered question.
struct SampleCounts {
  std::string question;     // suite and name
  int right = 0;            // paths with a right answer
  std::vector<int> others;  // paths of each other answer, equal ones together
  int silent = 0;           // paths without an answer

  int total() const;
};

// Of every finished item of a run. Answers are graded by the rules, and by what a judge has said of
// equal ones; undecided ones count as other answers. Errors: those of the store.
Result<std::vector<SampleCounts>> CountSamples(Store& store, int64_t run,
                                               const SummaryOptions& options);

// Share of items of which at least one path is right: the existence probability of Sec. 2, the
// oracle's accuracy. NaN for no items. Pure.
double Existence(const std::vector<SampleCounts>& items);

// Mean of pass@k and of maj@k over the items, k at least 1; NaN for none, or where an item has
// fewer than k paths. Pure.
double MeanPassAtK(const std::vector<SampleCounts>& items, int k);
double MeanMajorityAtK(const std::vector<SampleCounts>& items, int k);

// The same majority over all paths of each item, however many it has; an item without paths is
// wrong. NaN for none. Pure.
double MeanMajorityOfAll(const std::vector<SampleCounts>& items);

// maj@k for a k that is no whole number, linearly between the two beside it. NaN outside
// [1, paths of the item with fewest]. Pure.
double MajorityAtTokens(const std::vector<SampleCounts>& items, double k);

}  // namespace hyper::eval

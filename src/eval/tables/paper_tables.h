// Tables of the paper beyond accuracy and cost per run: the checklist, votes, dense models, tree
// search, samples and equal budgets; with the paper's own numbers beside ours.
#pragma once

#include <string>
#include <vector>

#include "src/eval/metrics/study_samples.h"
#include "src/eval/metrics/study_summary.h"
#include "src/eval/tables/table.h"

namespace hyper::eval {

// Table 1 out of what the methods say of themselves; a line per method that `Methods()` lists and
// that can be made with default options. Pure, as all functions here.
Table ChecklistTable();

// Accuracy of one run under each vote rule.
struct RunVotes {
  RunSummary run;
  std::vector<RuleAccuracy> rules;
};

// Ablation II: a line per run and rule, with both token normalisations (the same for every rule:
// the paths are) and the paper's accuracies.
Table VoteRulesTable(const std::vector<RunSummary>& runs, const std::vector<RunVotes>& votes);

// App. E: length, confidence and their combination.
Table LengthVotesTable(const std::vector<RunVotes>& votes);

// App. G: SC, DeepConf and HyPER, meant for a model without experts.
Table DenseTable(const std::vector<RunSummary>& runs);

// App. H: SC against the methods that search trees of steps.
Table TreesTable(const std::vector<RunSummary>& runs);

// A run with the counts of its paths.
struct RunSamples {
  RunSummary run;
  std::vector<SampleCounts> samples;
};

// The oracle over the paths of each run of independent complete paths: existence probability,
// pass@k and maj@k for k = 1, 2, 4, ... up to the fewest paths of an item, and over all paths.
Table SamplesTable(const std::vector<RunSamples>& runs);

// Each run beside self-consistency at the same number of effective tokens: as many of SC's paths as
// cost what the run did, estimated by maj@k.
Table EqualTokensTable(const std::vector<RunSamples>& runs);

}  // namespace hyper::eval

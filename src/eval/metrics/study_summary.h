// What the items of a study amount to, one line per run.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/eval/metrics/metrics.h"
#include "src/store/store.h"

namespace hyper::eval {

// How a run did on one question.
struct QuestionShare {
  std::string question;  // suite and name: the same in another study
  double right = 0;      // share of right answers over the repeats
  // Means per item, as in the run's summary.
  double generated = 0;
  double effective = 0;
  double instances = 0;
  bool open = false;  // a repeat failed or is undecided
};

struct RunSummary {
  StoredRun run;
  Accuracy accuracy;  // over the questions that have every repeat
  int left_out = 0;   // questions that lack a repeat, in no figure here
  int failed = 0;     // items without a result
  // Means per item; lost attempts are part of the tokens.
  double generated_tokens = 0;  // abs
  double effective_tokens = 0;
  double sequential_tokens = 0;  // that came one after another: Ledger::positions
  double instances = 0;          // N_inst
  double mean_paths = 0;
  double latency_s = 0;
  // Largest over all items.
  int peak_paths = 0;
  double peak_kv_bytes = 0;
  ActionTally actions{};  // decisions by action; one that changed nothing counts as None
  std::vector<QuestionShare> per_question;
};

struct SummaryOptions {
  std::vector<std::string> groups = {};  // only questions of these groups; empty: all
  std::string left_out_suite = {};       // no questions of this suite
};

// What became of an item. A grade that is missing, or stands against an old gold, is made on the
// spot: tables of a study that still runs are right too. Errors: those of QuestionOf and of
// graders.
Result<Outcome> OutcomeOfItem(const ItemSummary& item, const StoredQuestion& stored);

// A summary of every run that has a question with all repeats; repeats are counted per run.
// Errors: those of the store.
Result<std::vector<RunSummary>> SummariseStudy(Store& store, const SummaryOptions& options);

// Accuracy of a run under each vote rule, in the order of the rules' names, out of the votes that
// were stored: the same paths, counted otherwise. Failed items count as failed under every rule,
// and a judge's verdict counts for every equal answer to its question.
struct RuleAccuracy {
  std::string rule;
  Accuracy accuracy;
};
Result<std::vector<RuleAccuracy>> SummariseVotes(Store& store, int64_t run,
                                                 const SummaryOptions& options);

// Two runs, of one study or of two, over the questions that both have whole and decided. A question
// counts as right for McNemar's test where more than half of its repeats are right.
struct RunComparison {
  int questions = 0;
  int left_out = 0;  // common questions that are open in one run or in both
  double first = 0;  // share of right answers of the first run over these questions
  double second = 0;
  int only_first = 0;  // right in the first run only
  int only_second = 0;
  double mcnemar_p = 1;
  PairedDifference difference;  // first minus second
};
// Errors: kInvalidArgument (no common question, or none that both have decided).
Result<RunComparison> CompareRuns(const RunSummary& first, const RunSummary& second,
                                  uint64_t bootstrap_seed);

}  // namespace hyper::eval

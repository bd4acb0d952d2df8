// The paper's tables out of a study's summaries.
#pragma once

#include <string>
#include <vector>

#include "src/eval/metrics/study_summary.h"
#include "src/eval/tables/table.h"

namespace hyper::eval {

inline constexpr double kPercent = 100;

// Accuracy in percent with its standard deviation over repeats; where too much is open to say one,
// the range that it lies within.
Cell AccuracyCell(const Accuracy& accuracy);

// Its interval in percent.
Cell IntervalCell(const Accuracy& accuracy);

// The paper's number for a run, by table and column (src/eval/tables/paper_numbers.h): only beside
// the paper's own models and data sets.
Cell PaperCell(const char* table, const RunSummary& run, const std::string& method,
               const char* column, int decimals);

// One line per run: accuracy with its spread over repeats and its interval, tokens normalised by SC
// (effective and abs) and absolute, N_inst, paths, latency. "Token" is over the SC of
// src/eval/metrics/study_baseline.h, and empty without one. Pure, as all functions here.
Table ResultsTable(const std::vector<RunSummary>& runs);

// Table 2: a line per model and suite, and per seed, engine and program where these differ; columns
// Token and Acc per method. Several rows of one label in a line leave its cells empty, with a note.
Table MainTable(const std::vector<RunSummary>& runs);

// Ablation I: accuracy and both token normalisations of each run.
Table AblationTable(const std::vector<RunSummary>& runs);

// Ablation II and App. E: accuracy of the same paths under each vote rule.
Table VoteTable(const RunSummary& run, const std::vector<RuleAccuracy>& rules);

// App. I: abs and effective tokens, latency, peak and mean paths, peak KV.
Table AccountingTable(const std::vector<RunSummary>& runs);

// Two rows over the same questions.
struct ComparedRows {
  std::string first;
  std::string second;
  RunComparison comparison;
};
// A line per pair: accuracies over the common questions, their difference with its interval, and
// both tests.
Table ComparisonTable(const std::vector<ComparedRows>& rows);

}  // namespace hyper::eval

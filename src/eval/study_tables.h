// The paper's tables out of a study's summaries.
#pragma once

#include <string>
#include <vector>

#include "src/eval/study_summary.h"
#include "src/eval/table.h"

namespace hyper {

// Method whose tokens are the unit of "Token" columns; a table says at which width it ran.
inline constexpr const char* kBaselineMethod = "sc";

inline constexpr double kPercent = 100;

// Whether two runs are of one model and one suite.
bool SamePlace(const RunSummary& a, const RunSummary& b);

// The SC run of the model and suite of `run`, the last one where there are several; null: none.
const RunSummary* Baseline(const std::vector<RunSummary>& runs, const RunSummary& run);

// Accuracy in percent with its standard deviation over repeats.
Cell AccuracyCell(const Accuracy& accuracy);

// One line per run: accuracy with its spread over repeats and its bootstrap interval, tokens
// normalised by SC (effective and abs) and absolute, N_inst, paths, latency. Runs of the same model
// and suite share one SC; without one, "Token" is empty. Pure, as all functions here.
Table ResultsTable(const std::vector<RunSummary>& runs);

// Table 2: a line per model and suite, columns Token and Acc per method.
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

}  // namespace hyper

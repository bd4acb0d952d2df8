// The run of self-consistency whose tokens are the unit of another run's, and their ratio.
#pragma once

#include <string>
#include <vector>

#include "src/eval/metrics/study_summary.h"

namespace hyper::eval {

// Method whose tokens are the unit of "Token" columns; a table says at which width it ran.
inline constexpr const char* kBaselineMethod = "sc";

// Whether two runs are of one model and one suite. Pure, as all functions here.
bool SamePlace(const RunSummary& a, const RunSummary& b);

// The SC run of the model and suite of `run`. Where there are several: the one that bears the
// method's own name, of the same seed, engine, program and sampler, as far as one is. Null where
// none is, and where that leaves several: which one is meant cannot be known then.
const RunSummary* Baseline(const std::vector<RunSummary>& runs, const RunSummary& run);

// What a run and its baseline cost and got right over the questions that both have whole, as means
// per question; NaN where they have none in common.
struct CommonCosts {
  int questions = 0;
  double right = 0;      // of the run
  double generated = 0;  // of the run
  double effective = 0;
  double base_generated = 0;
  double base_effective = 0;
  double base_instances = 0;
};
CommonCosts OverCommonQuestions(const RunSummary& run, const RunSummary& base);

// Tokens of a run over those of its baseline, on common questions; NaN without a baseline.
double EffectiveRatio(const std::vector<RunSummary>& runs, const RunSummary& run);
double GeneratedRatio(const std::vector<RunSummary>& runs, const RunSummary& run);

// What a table with token ratios has to say of them: which SC was taken, where there is none, and
// where only a part of the questions is common.
std::vector<std::string> BaselineNotes(const std::vector<RunSummary>& runs);

}  // namespace hyper::eval

// Studies that decode: hyper eval and hyper sweep, and the pool of hyper calibrate.
#pragma once

#include <vector>

#include "apps/hyper/flags/eval_flags.h"
#include "hyper/result.h"
#include "src/eval/data/questions.h"
#include "src/eval/data/suite.h"

namespace hyper::app {

// What a study asks.
struct StudyQuestions {
  eval::Suite suite;
  std::vector<eval::Question> questions;
};

// Those that the flags select. Errors: those of the suite and its data.
Result<StudyQuestions> QuestionsOf(const EvalFlags& flags);

// Decodes what the study at flags.study does not hold yet, with its progress on stderr, and prints
// the tables that the flags name. Returns the exit code, errors having been printed.
int DecodeStudy(const EvalFlags& flags, StudyQuestions questions);

}  // namespace hyper::app

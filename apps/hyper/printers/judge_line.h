// What a judge has said, in words: of `hyper eval` and `hyper grade`.
#pragma once

#include <string>

#include "src/eval/grade/study_grades.h"

namespace hyper::app {

// One line with its line break.
std::string JudgeLine(const eval::JudgeOptions& judge, const eval::GradingReport& report);

}  // namespace hyper::app

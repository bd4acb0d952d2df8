// Right or wrong: one grader for every method, the rules below or that of a plugin.
#pragma once

#include <optional>
#include <string>

#include "src/eval/data/questions.h"
#include "src/store/records.h"

namespace hyper::eval {

// Name of the rules below; changes whenever a verdict could, so that stored grades are made again.
inline constexpr const char* kGraderName = "rules 1";

struct GradeOutcome {
  StoredVerdict verdict = StoredVerdict::kWrong;
  std::string note;  // why undecided, wrong without an answer, or not graded; else empty
};

// Name of the grader of a suite's answers, as grades hold it.
std::string GraderOf(const std::string& suite);

// Grades the answer of a question.
//   answer  as extracted; nothing: wrong, and the note says so
// The suite's own grader does it where there is one. Errors: its own. The rules: numbers and maths
// are right or wrong by proof (AnswersEqual), else undecided. A choice is its label. Free text is
// right where it equals the gold, white space and case aside, and else not graded: that takes a
// judge. Work bounded as in AnswersEqual.
Result<GradeOutcome> GradeAnswer(const Question& question,
                                 const std::optional<std::string>& answer);

}  // namespace hyper::eval

// Right or wrong: one grader for every method.
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

// Grades the answer of a question.
//   answer  as extracted; nothing: wrong, and the note says so
// Numbers and maths are right or wrong by proof (AnswersEqual), else undecided. A choice is its
// label. Free text is right where it equals the gold, white space and case aside, and else not
// graded: that takes a judge. Pure; work bounded as in AnswersEqual.
GradeOutcome GradeAnswer(const Question& question, const std::optional<std::string>& answer);

}  // namespace hyper::eval

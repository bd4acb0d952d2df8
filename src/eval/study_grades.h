// Grading what a study holds, without generating anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/eval/judge.h"
#include "src/eval/questions.h"
#include "src/store/store.h"

namespace hyper {

// A verdict that grading has set.
struct GradeChange {
  ItemKey key;
  std::optional<StoredVerdict> before;  // nothing: there was none
  StoredVerdict after = StoredVerdict::kNotGraded;
  std::optional<std::string> answer;
};

struct GradingReport {
  int graded = 0;                    // answers that were looked at
  std::vector<GradeChange> changes;  // verdicts that are new or have changed
};

// The question that a stored one was, as far as grading needs it. Errors: kDataLoss (its kind).
Result<Question> QuestionOf(const StoredQuestion& stored);

// Grades every finished item that has no grade by the present rules against its present gold; with
// `all`, every finished item.
//   judge  asked of free text that the rules leave open; null: that is not graded, and what a judge
//          has said before against the same gold stays
// Errors: those of the store and of AskJudge; grades made before stay.
Result<GradingReport> GradeStudy(Store& store, bool all, const JudgeOptions* judge = nullptr);

}  // namespace hyper

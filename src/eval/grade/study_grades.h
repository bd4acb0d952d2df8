// Grading what a study holds, without generating anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/eval/data/questions.h"
#include "src/eval/grade/judge.h"
#include "src/store/store.h"

namespace hyper::eval {

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
  // Answers that a judge has been asked about now: it said right, wrong, or neither.
  int judged_right = 0;
  int judged_wrong = 0;
  int judged_open = 0;

  int judged() const { return judged_right + judged_wrong + judged_open; }
};

// The question that a stored one was, as far as grading needs it. Errors: kDataLoss (its kind).
Result<Question> QuestionOf(const StoredQuestion& stored);

// Whether the graders of all grades are known: the rules, a judge, or one that was added. Errors:
// kNotFound with the name of one that is not; those of the store.
Status CheckGraders(Store& store);

// Verdicts of any answer to a stored question: by its grader, and of what that leaves open, as a
// judge has said of an equal answer to the same question before.
class AnswerVerdicts {
 public:
  // Errors: as CheckGraders.
  static Result<AnswerVerdicts> Load(Store& store);
  // Errors: as QuestionOf and GradeAnswer.
  Result<StoredVerdict> Of(const StoredQuestion& stored,
                           const std::optional<std::string>& answer) const;

 private:
  std::map<std::pair<int64_t, std::string>, StoredVerdict> judged_;
};

// Grades every finished item that has no grade by the present grader of its suite against its
// present gold; with `all`, every finished item, whoever graded it before.
//   judge  asked of each answer that the rules leave undecided or not graded, once where several
//          items have the same one; null: nobody is, and what a judge has said before against the
//          same gold stays
// Errors: those of the store, of AskJudge, of a grader, and without `all` of CheckGraders; grades
// made before stay, and the message says so.
Result<GradingReport> GradeStudy(Store& store, bool all, const JudgeOptions* judge = nullptr);

}  // namespace hyper::eval

#include "src/eval/grade/study_grades.h"

#include <map>
#include <set>

#include "src/eval/grade/grader.h"

namespace hyper::eval {
namespace {

bool JudgedBefore(const ItemSummary& item, const Question& question) {
  return item.grade && IsJudge(item.grade->grader) && item.grade->gold == question.gold &&
         item.grade->verdict != StoredVerdict::kNotGraded;
}

// The grade that an item gets now.
Result<StoredGrade> GradeOf(const ItemSummary& item, const Question& question,
                            const JudgeOptions* judge) {
  const GradeOutcome outcome = GradeAnswer(question, item.answer);
  const StoredGrade grade{item.key, outcome.verdict, question.gold, kGraderName, outcome.note};
  if (outcome.verdict != StoredVerdict::kNotGraded || !item.answer) return grade;
  if (JudgedBefore(item, question)) return *item.grade;
  if (judge == nullptr) return grade;
  const Result<Judgement> judgement = AskJudge(*judge, question, *item.answer);
  if (!judgement) return judgement.error();
  return StoredGrade{item.key, judgement->verdict, question.gold, JudgeName(*judge),
                     judgement->note};
}

// Grades one item; adds a change where the verdict is not what it was.
Status GradeItem(Store& store, const ItemSummary& item, const Question& question,
                 const JudgeOptions* judge, GradingReport& report) {
  const Result<StoredGrade> grade = GradeOf(item, question, judge);
  if (!grade) return grade.error();
  if (Status status = store.SaveGrade(*grade); !status) return status;
  std::optional<StoredVerdict> before;
  if (item.grade) before = item.grade->verdict;
  ++report.graded;
  if (before != grade->verdict) {
    report.changes.push_back({item.key, before, grade->verdict, item.answer});
  }
  return {};
}

}  // namespace

Result<Question> QuestionOf(const StoredQuestion& stored) {
  const std::optional<AnswerKind> kind = ParseAnswerKind(stored.kind);
  if (!kind) {
    return Error{ErrorCode::kDataLoss,
                 "question " + stored.name + " has the unknown kind '" + stored.kind + "'"};
  }
  Question question;
  question.id = stored.name;
  question.text = stored.text;
  question.gold = stored.gold;
  question.kind = *kind;
  question.needs_judge = *kind == AnswerKind::kText;
  question.labels = stored.labels;
  question.group = stored.group;
  return question;
}

Result<AnswerVerdicts> AnswerVerdicts::Load(Store& store) {
  const Result<std::vector<JudgedAnswer>> all = store.JudgedAnswers();
  if (!all) return all.error();
  AnswerVerdicts verdicts;
  for (const JudgedAnswer& one : *all) verdicts.judged_[{one.question, one.answer}] = one.verdict;
  return verdicts;
}

Result<StoredVerdict> AnswerVerdicts::Of(const StoredQuestion& stored,
                                         const std::optional<std::string>& answer) const {
  const Result<Question> question = QuestionOf(stored);
  if (!question) return question.error();
  const StoredVerdict verdict = GradeAnswer(*question, answer).verdict;
  if (verdict != StoredVerdict::kNotGraded || !answer) return verdict;
  const auto judged = judged_.find({stored.id, *answer});
  return judged != judged_.end() ? judged->second : verdict;
}

Result<GradingReport> GradeStudy(Store& store, bool all, const JudgeOptions* judge) {
  const Result<std::vector<StoredQuestion>> stored = store.Questions();
  if (!stored) return stored.error();
  std::map<int64_t, Question> questions;
  for (const StoredQuestion& one : *stored) {
    Result<Question> question = QuestionOf(one);
    if (!question) return question.error();
    questions.emplace(one.id, std::move(*question));
  }
  const Result<std::vector<ItemKey>> ungraded = store.Ungraded(kGraderName);
  if (!ungraded) return ungraded.error();
  const std::set<ItemKey> due(ungraded->begin(), ungraded->end());
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) return runs.error();
  GradingReport report;
  for (const StoredRun& run : *runs) {
    const Result<std::vector<ItemSummary>> items = store.Items(run.id);
    if (!items) return items.error();
    for (const ItemSummary& item : *items) {
      if (item.status == ItemStatus::kFailed || (!all && due.count(item.key) == 0)) continue;
      const auto question = questions.find(item.key.question);
      if (question == questions.end()) continue;
      Status status = GradeItem(store, item, question->second, judge, report);
      if (!status) return status.error();
    }
  }
  return report;
}

}  // namespace hyper::eval

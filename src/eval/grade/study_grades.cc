#include "src/eval/grade/study_grades.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "src/eval/data/own_parts.h"
#include "src/eval/grade/grader.h"

namespace hyper::eval {
namespace {

// Whether the rules leave it to a judge.
bool IsOpen(StoredVerdict verdict) {
  return verdict == StoredVerdict::kUndecided || verdict == StoredVerdict::kNotGraded;
}

// Whether an item lacks a grade by its present grader against the present gold.
bool IsDue(const ItemSummary& item, const Question& question) {
  return !item.grade || item.grade->grader != GraderOf(question.suite) ||
         item.grade->gold != question.gold;
}

// Whether a grade is by the rules, of any version.
bool IsRules(std::string_view grader) { return grader.starts_with("rules "); }

bool JudgedBefore(const ItemSummary& item, const Question& question) {
  return item.grade && IsJudge(item.grade->grader) && item.grade->gold == question.gold &&
         !IsOpen(item.grade->verdict);
}

// Grades items of a study one by one.
class Grading {
 public:
  Grading(Store& store, const JudgeOptions* judge) : store_(store), judge_(judge) {}

  // A verdict of a judge that equal answers take over.
  void TakeOver(const ItemSummary& item, const Question& question) {
    if (item.answer && JudgedBefore(item, question)) {
      judged_.emplace(std::pair(item.key.question, *item.answer), *item.grade);
    }
  }

  // Whether an item that has a grade by the rules is put to the judge.
  bool IsDueForJudge(const ItemSummary& item) const {
    return judge_ != nullptr && item.answer && item.grade && IsOpen(item.grade->verdict);
  }

  // Grades an item; adds a change where the verdict is not what it was.
  Status Grade(const ItemSummary& item, const Question& question) {
    const Result<StoredGrade> grade = GradeOf(item, question);
    if (!grade) {
      return grade.error();
    }
    if (Status status = store_.SaveGrade(*grade); !status) {
      return status;
    }
    std::optional<StoredVerdict> before;
    if (item.grade) {
      before = item.grade->verdict;
    }
    ++report_.graded;
    if (before != grade->verdict) {
      report_.changes.push_back({item.key, before, grade->verdict, item.answer});
    }
    return {};
  }

  GradingReport& report() { return report_; }

 private:
  Result<StoredGrade> GradeOf(const ItemSummary& item, const Question& question) {
    const Result<GradeOutcome> outcome = GradeAnswer(question, item.answer);
    if (!outcome) {
      return outcome.error();
    }
    const StoredGrade grade{item.key, outcome->verdict, question.gold, GraderOf(question.suite),
                            outcome->note};
    if (!IsOpen(outcome->verdict) || !item.answer || question.gold.empty()) {
      return grade;
    }
    if (JudgedBefore(item, question)) {
      return *item.grade;
    }
    if (judge_ == nullptr) {
      return grade;
    }
    const std::pair key(item.key.question, *item.answer);
    if (judged_.count(key) == 0) {
      Result<StoredGrade> asked = Ask(grade, question, *item.answer);
      if (!asked) {
        return asked;
      }
      judged_.emplace(key, std::move(*asked));
    }
    StoredGrade judged = judged_.at(key);
    judged.key = item.key;
    return judged;
  }

  // The judge's verdict, or where it gives none that of `grade`, with its words.
  Result<StoredGrade> Ask(const StoredGrade& grade, const Question& question,
                          const std::string& answer) {
    const Result<Judgement> judgement = AskJudge(*judge_, question, answer);
    if (!judgement) {
      return Error{judgement.error().code,
                   fmt::format("{}; {} answers judged before it keep their verdicts, and the same "
                               "command continues with the rest",
                               judgement.error().message, report_.judged())};
    }
    const StoredVerdict verdict = IsOpen(judgement->verdict) ? grade.verdict : judgement->verdict;
    ++(verdict == StoredVerdict::kRight   ? report_.judged_right
       : verdict == StoredVerdict::kWrong ? report_.judged_wrong
                                          : report_.judged_open);
    return StoredGrade{grade.key, verdict, question.gold, JudgeName(*judge_), judgement->note};
  }

  Store& store_;
  const JudgeOptions* judge_;
  GradingReport report_;
  std::map<std::pair<int64_t, std::string>, StoredGrade> judged_;  // by question and answer
};

// The finished items of all runs, in order. Errors: those of the store.
Result<std::vector<ItemSummary>> FinishedItems(Store& store) {
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) {
    return runs.error();
  }
  std::vector<ItemSummary> finished;
  for (const StoredRun& run : *runs) {
    Result<std::vector<ItemSummary>> items = store.Items(run.id);
    if (!items) {
      return items.error();
    }
    for (ItemSummary& item : *items) {
      if (item.status != ItemStatus::kFailed) {
        finished.push_back(std::move(item));
      }
    }
  }
  return finished;
}

}  // namespace

Result<Question> QuestionOf(const StoredQuestion& stored) {
  const std::optional<AnswerKind> kind = ValueOf<AnswerKind>(stored.kind);
  if (!kind) {
    return Error{ErrorCode::kDataLoss,
                 "question " + stored.name + " has the unknown kind '" + stored.kind + "'"};
  }
  Question question;
  question.suite = stored.suite;
  question.id = stored.name;
  question.text = stored.text;
  question.gold = stored.gold;
  question.kind = *kind;
  question.needs_judge = *kind == AnswerKind::kText;
  question.labels = stored.labels;
  question.group = stored.group;
  return question;
}

Status CheckGraders(Store& store) {
  const Result<std::vector<std::string>> graders = store.Graders();
  if (!graders) {
    return graders.error();
  }
  for (const std::string& grader : *graders) {
    if (!IsRules(grader) && !IsJudge(grader) && !IsOwnGrader(grader)) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("the study has grades of the grader '{}', which is not known here; "
                               "give its --plugin, or grade by the rules with hyper grade",
                               grader)};
    }
  }
  return {};
}

Result<AnswerVerdicts> AnswerVerdicts::Load(Store& store) {
  if (Status status = CheckGraders(store); !status) {
    return status.error();
  }
  const Result<std::vector<JudgedAnswer>> all = store.JudgedAnswers();
  if (!all) {
    return all.error();
  }
  AnswerVerdicts verdicts;
  for (const JudgedAnswer& one : *all) {
    verdicts.judged_[{one.question, one.answer}] = one.verdict;
  }
  return verdicts;
}

Result<StoredVerdict> AnswerVerdicts::Of(const StoredQuestion& stored,
                                         const std::optional<std::string>& answer) const {
  const Result<Question> question = QuestionOf(stored);
  if (!question) {
    return question.error();
  }
  const Result<GradeOutcome> grade = GradeAnswer(*question, answer);
  if (!grade) {
    return grade.error();
  }
  if (!IsOpen(grade->verdict) || !answer) {
    return grade->verdict;
  }
  const auto judged = judged_.find({stored.id, *answer});
  return judged != judged_.end() ? judged->second : grade->verdict;
}

Result<GradingReport> GradeStudy(Store& store, bool all, const JudgeOptions* judge) {
  const Result<std::vector<StoredQuestion>> stored = store.Questions();
  if (!stored) {
    return stored.error();
  }
  std::map<int64_t, Question> questions;
  for (const StoredQuestion& one : *stored) {
    Result<Question> question = QuestionOf(one);
    if (!question) {
      return question.error();
    }
    questions.emplace(one.id, std::move(*question));
  }
  if (Status status = all ? Status() : CheckGraders(store); !status) {
    return status.error();
  }
  const Result<std::vector<ItemSummary>> items = FinishedItems(store);
  if (!items) {
    return items.error();
  }
  Grading grading(store, judge);
  for (const ItemSummary& item : *items) {
    const auto question = questions.find(item.key.question);
    if (question != questions.end()) {
      grading.TakeOver(item, question->second);
    }
  }
  for (const ItemSummary& item : *items) {
    const auto question = questions.find(item.key.question);
    if (question == questions.end()) {
      continue;
    }
    const bool wanted = all || IsDue(item, question->second) || grading.IsDueForJudge(item);
    if (!wanted) {
      continue;
    }
    if (Status status = grading.Grade(item, question->second); !status) {
      return status.error();
    }
  }
  return std::move(grading.report());
}

}  // namespace hyper::eval

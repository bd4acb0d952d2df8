#include "src/eval/grade/grader.h"

#include <cctype>

#include "hyper/equal.h"
#include "src/eval/data/own_parts.h"

namespace hyper::eval {
namespace {

// White space runs become one blank, ASCII letters small, a final full stop goes.
std::string Plain(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte) != 0) {
      if (!plain.empty() && plain.back() != ' ') {
        plain += ' ';
      }
    } else {
      plain += static_cast<char>(std::tolower(byte));
    }
  }
  while (!plain.empty() && (plain.back() == ' ' || plain.back() == '.')) {
    plain.pop_back();
  }
  return plain;
}

GradeOutcome GradeOf(const EqualResult& result) {
  switch (result.verdict) {
    case Verdict::kEqual:
      return {StoredVerdict::kRight, ""};
    case Verdict::kNotEqual:
      return {StoredVerdict::kWrong, ""};
    case Verdict::kUndecided:
      break;
  }
  return {StoredVerdict::kUndecided, result.reason};
}

GradeOutcome ByTheRules(const Question& question, const std::string& answer) {
  if (question.gold.empty()) {
    return {StoredVerdict::kNotGraded, "the right answer is not known"};
  }
  if (question.kind == AnswerKind::kChoice) {
    return {answer == question.gold ? StoredVerdict::kRight : StoredVerdict::kWrong, ""};
  }
  if (question.kind != AnswerKind::kText) {
    return GradeOf(AnswersEqual(question.gold, answer));
  }
  if (Plain(answer) == Plain(question.gold)) {
    return {StoredVerdict::kRight, ""};
  }
  return {StoredVerdict::kNotGraded, "free text; it takes a judge"};
}

}  // namespace

std::string GraderOf(const std::string& suite) {
  const auto own = OwnGraderOf(suite);
  return own ? GraderName(*own) : kGraderName;
}

Result<GradeOutcome> GradeAnswer(const Question& question,
                                 const std::optional<std::string>& answer) {
  if (!answer) {
    return GradeOutcome{StoredVerdict::kWrong, "no answer"};
  }
  const auto own = OwnGraderOf(question.suite);
  if (!own) {
    return ByTheRules(question, *answer);
  }
  const Result<EqualResult> result =
      own->grade({question.suite, question.id, question.text, question.group, question.kind,
                  question.gold, *answer});
  if (!result) {
    return Error{result.error().code, "grader '" + own->name + "' failed on question " +
                                          question.id + " of suite " + question.suite + ": " +
                                          result.error().message};
  }
  return GradeOf(*result);
}

}  // namespace hyper::eval

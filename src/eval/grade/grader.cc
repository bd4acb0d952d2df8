#include "src/eval/grade/grader.h"

#include <cctype>

#include "hyper/equal.h"

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

GradeOutcome GradeMaths(const std::string& gold, const std::string& answer) {
  const EqualResult result = AnswersEqual(gold, answer);
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

}  // namespace

GradeOutcome GradeAnswer(const Question& question, const std::optional<std::string>& answer) {
  if (!answer) {
    return {StoredVerdict::kWrong, "no answer"};
  }
  if (question.gold.empty()) {
    return {StoredVerdict::kNotGraded, "the right answer is not known"};
  }
  if (question.kind == AnswerKind::kChoice) {
    return {*answer == question.gold ? StoredVerdict::kRight : StoredVerdict::kWrong, ""};
  }
  if (question.kind != AnswerKind::kText) {
    return GradeMaths(question.gold, *answer);
  }
  if (Plain(*answer) == Plain(question.gold)) {
    return {StoredVerdict::kRight, ""};
  }
  return {StoredVerdict::kNotGraded, "free text; it takes a judge"};
}

}  // namespace hyper::eval

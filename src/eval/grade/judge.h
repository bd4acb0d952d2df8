// A language model as judge of answers that the rules leave open, behind an OpenAI-compatible chat
// API.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/base/clock.h"
#include "src/eval/data/questions.h"
#include "src/store/records.h"

namespace hyper::eval {

struct JudgeOptions {
  std::string url;    // of the API, such as http://host:8080/v1
  std::string model;  // name sent with each request; empty: the server's own choice
  std::string key;    // bearer token; empty: none
  int max_tokens = 2048;
  base::Clock* clock = nullptr;  // that waiting for a busy judge goes by; null: the computer's
};

struct Judgement {
  StoredVerdict verdict = StoredVerdict::kNotGraded;
  std::string note;  // why it is not graded; else the judge's own words for its verdict
};

// What the judge is asked: question, right answer and response, each set apart, and to end with a
// line "correct: yes" or "correct: no". Pure.
std::string JudgePrompt(const Question& question, std::string_view answer);

// The verdict of a reply: its last line of the form "correct: yes" or "correct: no" (JSON's quotes
// and any case are fine). Any other reply, an undecided one too, is not graded. Pure.
Judgement ReadJudgement(std::string_view reply);

// Asks the judge whether `response` is right; a judge that is busy or away is asked again a few
// times, as it wishes. Errors: kUnavailable (unreachable, or an HTTP failure), kDataLoss (a reply
// that is no chat completion).
Result<Judgement> AskJudge(const JudgeOptions& options, const Question& question,
                           std::string_view response);

// Name of a judge in grades: "judge MODEL". Pure.
std::string JudgeName(const JudgeOptions& options);

// Whether a grade of this grader is a judge's. Pure.
bool IsJudge(std::string_view grader);

}  // namespace hyper::eval

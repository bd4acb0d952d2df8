// Questions of a suite: rows of any shape in use become one plain struct, and prompts out of it.
#pragma once

#include <string>
#include <vector>

#include "hyper/engine.h"
#include "hyper/extract.h"
#include "hyper/result.h"
#include "src/eval/data/rows.h"
#include "src/eval/data/suite.h"

namespace hyper::eval {

// One option of a choice question.
struct ChoiceOption {
  std::string label;  // one letter or digit
  std::string text;
};

struct Question {
  std::string suite;
  std::string id;    // unique within its suite
  std::string text;  // as in the data, byte for byte
  std::string gold;  // the right answer: a value, or the label of an option
  AnswerKind kind = AnswerKind::kMath;
  bool needs_judge = false;           // free text: only an exact match is graded without a judge
  std::string labels;                 // of a choice question, in order, such as "ABCD" or "1234"
  std::vector<ChoiceOption> options;  // empty where they stand in the text
  std::string group;                  // level or subject; may be empty
};

struct QuestionSet {
  std::vector<Question> questions;
  int left_out = 0;  // rows that the suite leaves out
};

// Rows to questions. Golds may stand alone, behind "####" (GSM8K), or in a box inside a solution;
// choices may be ARC's {"text": [...], "label": [...]}, a list of texts, a list of objects with
// "label" and "text", an object by label, or stand in the question; a choice's gold may be its
// label, its place from 0, or its text.
// Errors: kDataLoss naming source, line and field: no question or gold, a gold outside the suite's
// range or options, a repeated id, a number too large to be exact. Pure.
Result<QuestionSet> ReadQuestions(const Suite& suite, const std::vector<DataRow>& rows,
                                  const std::string& source);

// Which questions of a suite to use.
struct Selection {
  std::string split = "evaluation";      // of bundled files
  std::vector<std::string> groups = {};  // empty: all
  int limit = 0;                         // at most so many; 0: all
};

// Questions of the chosen groups in turn (one of each group, then the next of each), each group in
// the order of the data, cut at the limit: the first n are the same whatever the limit. Pure.
std::vector<Question> Select(const std::vector<Question>& questions, const Selection& selection);

// The suite's questions, out of `data_file` where it is not empty, else out of its plugin or its
// bundled files. Errors: those of the plugin; kNotFound for a suite without bundled files, a split
// or group it has not; as above.
Result<QuestionSet> LoadQuestions(const Suite& suite, const Selection& selection,
                                  const std::string& data_file);

// The messages to send: the suite's system message, if any, and its prompt with {question} and
// {options} filled in once, so that text of the question is never taken for a placeholder. Pure.
std::vector<ChatMessage> PromptMessages(const Suite& suite, const Question& question);

// How to read the answers to a question. Pure.
ExtractOptions AnswerOptions(const Question& question);

}  // namespace hyper::eval

// Evaluation from outside: graders, suites and tables of your own, which a plugin adds to the
// program (hyper/plugin.h). They then work in `hyper eval` and the commands that read studies.
// docs/your-own-method.md has an example of each, in C++ and in Python.
//
// Thread rule: the program calls one function at a time. They throw nothing. An error that one of
// them returns ends the command, with its message.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hyper/equal.h"
#include "hyper/extract.h"
#include "hyper/names.h"
#include "hyper/records.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

// An answer to be graded. It is never empty: no answer is wrong, and no grader is asked.
struct GradeRequest {
  std::string suite;
  std::string question;  // its name within the suite
  std::string text;      // of the question
  std::string group;     // level or subject; may be empty
  AnswerKind kind = AnswerKind::kMath;
  std::string gold;  // the right answer as the data have it; may be empty
  std::string answer;
};

// A grader of your own. It takes the place of the rules of docs/answers.md for some suites.
struct GraderSpec {
  std::string name;  // small letters, digits and dashes; a letter comes first
  // Raise it with every change that could change a verdict: stored answers are then graded again.
  int version = 1;
  std::vector<std::string> suites;  // that it grades; where several graders do, the last added
  // kEqual is right, kNotEqual is wrong, kUndecided goes to a judge if there is one. `reason` is
  // kept where it is undecided. AnswersEqual gives what it returns.
  std::function<Result<EqualResult>(const GradeRequest& request)> grade;
};

// A suite of your own, in `hyper eval --suite NAME`.
struct SuiteSpec {
  std::string json;  // as in a file of docs/suites.md; its "name" is the suite's
  // The questions, as the text of a data file (docs/suites.md), such as JSON lines. Called when
  // they are needed; `--data FILE` takes their place.
  std::function<Result<std::string>()> questions;
};

// What became of one answered question.
enum class Outcome {
  kRight,
  kWrong,      // no answer included
  kUndecided,  // no verdict could be reached, or it takes a judge
  kFailed,     // no result
};
template <>
inline constexpr std::array kNamesOf<Outcome> = {"right", "wrong", "undecided", "failed"};

// An answer of a study.
struct StudyAnswer {
  std::string question;  // its name within the suite
  std::string group;
  std::string gold;
  int repeat = 0;                     // from 0
  std::optional<std::string> answer;  // nothing: there was none
  Outcome outcome = Outcome::kFailed;
  Ledger ledger;  // tokens, lanes and seconds
};

// A row of a study: a method with its settings, on a suite.
struct EvaluatedRow {
  std::string label;
  std::string method;
  std::string suite;
  std::string model;
  uint64_t seed = 0;
  std::map<std::string, std::string> settings;  // options and the rest, by name
  std::vector<StudyAnswer> answers;             // by question, then repeat
};

// What stands in a cell: nothing, a text, a number with its spread, or a range. NaN is nothing.
struct Cell {
  std::string text;
  std::optional<double> value;   // counts before `text`
  std::optional<double> spread;  // standard deviation
  std::optional<double> low;     // of a range; then there is no value
  std::optional<double> high;
  int decimals = 1;   // 0: a count, where it is a whole number
  bool best = false;  // bold where the form can

  static Cell Text(std::string text) {
    Cell cell;
    cell.text = std::move(text);
    return cell;
  }
  static Cell Number(double value, int decimals) {
    Cell cell;
    cell.value = value;
    cell.decimals = decimals;
    return cell;
  }
  static Cell Spread(double value, double spread, int decimals) {
    Cell cell = Number(value, decimals);
    cell.spread = spread;
    return cell;
  }
  static Cell Range(double low, double high, int decimals) {
    Cell cell;
    cell.low = low;
    cell.high = high;
    cell.decimals = decimals;
    return cell;
  }
};

struct Column {
  std::string name;
  std::string group = "";  // columns of one group stand under a common head; empty: none
};

struct Table {
  std::string name;  // short, for LaTeX labels and JSON: "main-results"
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
  std::vector<std::string> notes;       // below the table: units, what is marked and why
};

// A table of your own, in `hyper eval --table NAME` and in `hyper report`.
struct TableSpec {
  std::string name;  // small letters, digits and dashes; a letter comes first
  // The table of a study's rows, in their order; answers that are still to come are missing. Its
  // `name` is set to that of the spec.
  std::function<Result<Table>(const std::vector<EvaluatedRow>& rows)> make;
};

}  // namespace hyper
#pragma GCC visibility pop

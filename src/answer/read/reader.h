// Reader: an answer in LaTeX or plain notation becomes an Expression.
#pragma once

#include <string>
#include <string_view>

#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// What the reader must know of the policies.
struct ReaderOptions {
  int base = 0;             // base of integers without a base subscript; 0: ten
  bool bare_units = false;  // letters behind a number that may be its unit are: 10 N, 9.8 m/s^2
};

// An answer as read. `normalised` is one text for spellings that differ in spacing and sizing
// only; empty where the answer is empty or no text at all.
struct Reading {
  Expression tree;  // root kNoNode: not read, `error` says why
  std::string normalised;
  std::string error;
  // Letters behind a number may be its unit: there is a second reading, with `bare_units`.
  bool may_have_units = false;
  bool surely_units = false;  // such letters are hardly anything else
};

// Reads an answer. Bounded: depth of nesting, number of tokens, and the budget.
Reading ReadAnswer(std::string_view answer, const ReaderOptions& options, Budget& budget);

}  // namespace hyper::answer

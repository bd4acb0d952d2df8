// Reader: an answer in LaTeX or plain notation becomes an Expression.
#pragma once

#include <string>
#include <string_view>

#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// What the reader must know of the policies.
struct ReaderOptions {
  int base = 0;  // base of integers without a base subscript; 0: ten
};

// An answer as read. `normalised` is one text for spellings that differ in spacing and sizing
// only; empty where the answer is empty or no text at all.
struct Reading {
  Expression tree;  // root kNoNode: not read, `error` says why
  std::string normalised;
  std::string error;
};

// Reads an answer. Bounded: depth of nesting, number of tokens, and the budget.
Reading ReadAnswer(std::string_view answer, const ReaderOptions& options, Budget& budget);

}  // namespace hyper::answer

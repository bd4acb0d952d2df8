// What words and commands mean: functions, constants, units and plain English.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace hyper::answer {

// Whether `list` holds `name`.
template <class List>
bool IsOneOf(std::string_view name, const List& list) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// Canonical name of a known function ("asin" and "arcsin" are "arcsin"), or empty.
std::string_view FunctionName(std::string_view name);
// "pi", "e", "i" or "infinity" for a name of that constant, or empty.
std::string_view ConstantName(std::string_view name);
// Whether this is the name of a Greek letter, as in \alpha; "pi" is a constant and not here.
bool IsGreek(std::string_view name);
// Letters that run through the integers where they parametrise something: k, l, m and n.
bool IsIntegerLetter(std::string_view symbol);
// Operator of Node kRelation for a relation command such as "leq", or 0.
char RelationOperator(std::string_view name);
// Whether a run of letters is a word of prose, and not a product of variables.
bool IsWord(std::string_view run);
// Whether a word ends an expression ("and", "if", "for", "where") instead of naming a unit.
bool IsStopWord(std::string_view word);

// Whether a word can also be a product of two letters ("by", "at").
bool IsFactorWord(std::string_view word);
// "st", "nd", "rd" and "th" behind a number.
bool IsOrdinalEnding(std::string_view word);
// A time in letters ("h", "sec"), as it stands behind the "/" of a speed.
bool IsTimeWord(std::string_view word);
// Digits of what a word counts: "1000000" of "million"; empty for other words.
std::string_view ScaleOf(std::string_view word);

// The number that a word from "zero" to "twenty" says, or -1.
long NumberOfWord(std::string_view word);

// ASCII letters in lower case; other bytes as they are.
std::string LowerCase(std::string_view text);
// Without white space at either end.
std::string_view Trimmed(std::string_view text);

}  // namespace hyper::answer

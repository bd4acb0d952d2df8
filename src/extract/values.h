// Reads the value that a phrase announces: the formula, number or expression at its start, or the
// one a sentence leads up to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hyper/extract.h"

namespace hyper::extract {

// A part of the text and its normal form.
struct Value {
  std::string_view raw;
  std::string normal;
};

// The normal form of `raw` for a kind other than kChoice.
std::string Normal(std::string_view raw, AnswerKind kind);

// The expression at the start of `text`: formulas, numbers, operators, commands, single letters
// and names of functions, up to the first word or the end of the sentence. May be empty.
std::string_view LeadingMath(std::string_view text);

// The first sentence of `text`: up to a full stop, question or exclamation mark before a blank, or
// the end of the line.
std::string_view FirstSentence(std::string_view text);

// All of `text` as one value; nothing if it says nothing, or, kInteger, has no digit.
std::optional<Value> ReadWhole(std::string_view text, AnswerKind kind);

// The number, kInteger, or object, kMath, that `text` announces: the expression at its start, else
// the last formula or number of its first sentence, else, with `allow_words`, its few words.
std::optional<Value> ReadValue(std::string_view text, AnswerKind kind, bool allow_words);

// The value behind the last verb of a sentence: "the largest n is 34", "it equals minus five".
std::optional<Value> AfterVerb(std::string_view sentence, AnswerKind kind);

// The number in words that a sentence consists of, with at most one word for what is counted:
// "negative seven", "twenty-one apples"; empty where it says anything else.
std::string_view NumberInWords(std::string_view sentence);

}  // namespace hyper::extract

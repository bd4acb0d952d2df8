// The words of a text in which an option may be named, and when a letter among them is no label.
#pragma once

#include <cstddef>
#include <string_view>

namespace hyper::extract {

// A word of the text, or a lone label character of another script.
struct Word {
  std::string_view text;
  char label = '\0';  // the option it may stand for, NUL for other words
};

// Reads words one after another; LaTeX commands are passed over, so that of "\text{B}" the word is
// "B".
class WordReader {
 public:
  WordReader(std::string_view text, std::string_view options) : text_(text), options_(options) {}

  // The next word; empty at the end of the text.
  Word Next();

 private:
  Word ReadWord();

  std::string_view text_;
  std::string_view options_;
  size_t at_ = 0;
};

// In all of these `word` is a view into `text`.

// The byte behind a word, brackets of LaTeX groups and markdown passed over; its place in `at`.
char After(std::string_view text, std::string_view word, size_t* at);

// Whether a word stands in brackets, or is a label in bold type.
bool IsEnclosed(std::string_view text, std::string_view word);

// Whether the word is marked as a label by brackets: "(b)", or "b)" at the start.
bool IsBracketed(std::string_view text, std::string_view word);

// Whether nothing but punctuation stands beside the word.
bool IsAlone(std::string_view text, std::string_view word, std::string_view options);

// Whether what follows a one-letter word makes a formula of both: an operator, a relation, an
// argument, or a command that is no text.
bool FormulaFollows(std::string_view text, std::string_view word);

// Whether a one-letter word stands in a formula, an abbreviation or a compound: "A = 5", "U.S.",
// "B-spline", "A's". `first`: it is the first word of the text.
bool IsPartOfMore(std::string_view text, std::string_view word, bool first);

// Whether the one-letter word is the pronoun "I" or the article "A": a small word follows that no
// label would have behind it.
bool IsEverydayWord(std::string_view text, const Word& word, bool first);

// Whether another label follows at once, so that the text names several: "A or B", "A/B", "A, C".
bool NamesAnother(std::string_view text, std::string_view word, std::string_view options);

}  // namespace hyper::extract

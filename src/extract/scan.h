// Small readers of bytes that the extraction rules share. They take and give views into one text,
// so that a view's place is its distance from the start of that text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyper::extract {

// No place in a text.
inline constexpr size_t kNone = std::string_view::npos;

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool IsLetter(char c) { return IsUpper(c) || IsLower(c); }
inline bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }
inline char ToLower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline char ToUpper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

// The byte at `at`, or NUL outside the text.
inline char At(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

// Whether `word` stands in `text` at `at`, byte for byte.
inline bool StandsAt(std::string_view text, size_t at, std::string_view word) {
  return at <= text.size() && text.substr(at, word.size()) == word;
}

// The same, ASCII letters compared without case; `lower` is in lower case.
bool StandsAtAnyCase(std::string_view text, size_t at, std::string_view lower);

bool EqualsAnyCase(std::string_view text, std::string_view lower);

// Whether `word`, compared without case, is one of `list`.
template <class List>
bool IsOneOf(std::string_view word, const List& list) {
  for (std::string_view entry : list) {
    if (EqualsAnyCase(word, entry)) {
      return true;
    }
  }
  return false;
}

// Bytes of the UTF-8 sequence that starts at `at`: 1 to 4, and 1 for a byte that starts none.
size_t CharacterLength(std::string_view text, size_t at);

// Length of the dash or minus sign at `at` (hyphen, U+2212, U+2013), 0 if there is none.
size_t MinusLength(std::string_view text, size_t at);

std::string_view TrimSpace(std::string_view text);

// Where `part`, a view into `text`, begins in it.
inline size_t PlaceOf(std::string_view part, std::string_view text) {
  return static_cast<size_t>(part.data() - text.data());
}

// The first place at or after `at` that is no space, tab or line break.
size_t SkipSpace(std::string_view text, size_t at);

// The part of `text` from `begin` to `end`, both places in `text`.
inline std::string_view Slice(std::string_view text, size_t begin, size_t end) {
  return text.substr(begin, end - begin);
}

// The lines of `text` that hold more than white space, without their line breaks.
std::vector<std::string_view> FilledLines(std::string_view text);

// The place after the LaTeX command that starts at `at` (a backslash): its letters, or one byte.
size_t AfterCommand(std::string_view text, size_t at);

// The place of the brace that closes the one at `open`, counting neither "\{" nor "\}"; npos if
// the text ends before.
size_t ClosingBrace(std::string_view text, size_t open);

// The formulas of `text` between $...$, $$...$$, \(...\) and \[...\], delimiters included, in
// order. A dollar sign before an amount of money opens none: a formula neither runs over a blank
// line nor ends in a dollar sign that follows a space or precedes a digit.
std::vector<std::string_view> FindFormulas(std::string_view text);

// Whether `gap`, the text between two answers, joins them to a list: nothing but commas,
// semicolons, "and", "or", wide spaces and math delimiters, at least one of them explicit.
bool JoinsList(std::string_view gap);

}  // namespace hyper::extract

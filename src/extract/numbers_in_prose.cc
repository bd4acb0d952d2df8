// Finds the numbers of a text.
#include <algorithm>
#include <array>

#include "src/extract/numbers.h"
#include "src/extract/numerals.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

constexpr std::array<std::string_view, 9> kNumberedThings = {
    "step", "case", "part", "equation", "problem", "question", "example", "figure", "section"};

// The word that ends right before `at`, blanks skipped; at most 12 letters are looked at.
std::string_view WordBefore(std::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '#')) {
    --at;
  }
  size_t begin = at;
  while (begin > 0 && at - begin < 12 && IsLetter(text[begin - 1])) {
    --begin;
  }
  return Slice(text, begin, at);
}

// Words behind which "minus" is a sign rather than a subtraction.
constexpr std::array<std::string_view, 22> kBeforeSign = {
    "is",      "are",   "was",           "be",     "to",   "equals", "equal", "get",
    "gives",   "about", "approximately", "answer", "or",   "and",    "of",    "at",
    "exactly", "ist",   "est",           "es",     "thus", "so"};

// Where the word for a minus sign begins that stands before `at`, or `at` itself.
size_t WithSignWord(std::string_view text, size_t at, size_t from) {
  size_t word_end = at;
  while (word_end > from && text[word_end - 1] == ' ') {
    --word_end;
  }
  const char last = word_end > from ? text[word_end - 1] : ' ';
  if (!IsLetter(last) && IsAscii(last)) {
    return at;
  }
  for (std::string_view sign : kMinusCharacters) {
    if (at >= from + sign.size() && StandsAt(text, at - sign.size(), sign)) {
      return at - sign.size();
    }
  }
  const std::string_view word = WordBefore(text, at);
  const auto begin = static_cast<size_t>(word.data() - text.data());
  const auto sign = std::find_if(kMinusWords.begin(), kMinusWords.end(),
                                 [word](auto entry) { return EqualsAnyCase(word, entry); });
  if (sign == kMinusWords.end() || begin < from || At(text, begin + word.size()) != ' ') {
    return at;
  }
  const char before = begin == 0 ? '\n' : text[begin - 1];
  if (before == '-' || before == '_') {
    return at;  // "non-negative"
  }
  if (sign - kMinusWords.begin() >= static_cast<ptrdiff_t>(kSubtracting)) {
    return begin;
  }
  size_t left = begin;
  while (left > 0 && text[left - 1] == ' ') {
    --left;
  }
  const char mark = left == 0 ? '\n' : text[left - 1];
  const bool starts = std::string_view("\n:=(,;*\"").find(mark) != std::string_view::npos;
  return starts || IsOneOf(WordBefore(text, begin), kBeforeSign) ? begin : at;
}

// Whether the digits [at, at + length) mark an item of a numbered list: "2. Then", "3) Then".
bool IsListMarker(std::string_view text, size_t at, size_t length) {
  const char mark = At(text, at + length);
  if ((mark != '.' && mark != ')' && mark != ':') || At(text, at + length + 1) != ' ') {
    return false;
  }
  const size_t after = SkipSpace(text, at + length + 1);
  if (after >= text.size()) {
    return false;
  }
  size_t line = at;
  while (line > 0 && (text[line - 1] == ' ' || text[line - 1] == '*' || text[line - 1] == '#')) {
    --line;
  }
  return line == 0 || text[line - 1] == '\n';
}

// Whether the digits at `at` are an exponent, an index or part of a word.
bool IsPartOfTerm(std::string_view text, size_t at) {
  const char before = at == 0 ? '\0' : text[at - 1];
  if (before == '^' || before == '_' || IsLetter(before)) {
    return true;
  }
  return before == '{' && at >= 2 && (text[at - 2] == '^' || text[at - 2] == '_');
}

// The start of a number whose digits start at `at`, moved left over its currency and sign.
size_t WithSign(std::string_view text, size_t at, size_t from) {
  size_t begin = at;
  if (begin > from && text[begin - 1] == '$') {
    --begin;
    if (begin > from && text[begin - 1] == '\\') {
      --begin;
    }
  }
  size_t minus = 0;
  for (const size_t length : {size_t{1}, size_t{3}}) {
    if (begin >= from + length && MinusLength(text, begin - length) == length) {
      minus = length;
    }
  }
  if (minus == 0) {
    return WithSignWord(text, begin, from);
  }
  size_t before = begin - minus;
  while (before > from && text[before - 1] == ' ') {
    --before;
  }
  const char left = before == 0 ? '\0' : text[before - 1];
  const bool between_terms = IsDigit(left) || IsLetter(left) || left == ')' || left == '}' ||
                             left == '%' || left == '$' || left == '-' || !IsAscii(left);
  return between_terms ? begin : begin - minus;
}

// End of "\frac{a}{b}" at `at` (its backslash) where a and b are short, else 0.
size_t FractionEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 64;  // of a part; longer ones are no plain fraction
  const size_t name_end = AfterCommand(text, at);
  if (!Slice(text, at, name_end).ends_with("frac")) {
    return 0;
  }
  if (IsDigit(At(text, name_end)) && IsDigit(At(text, name_end + 1)) &&
      !IsDigit(At(text, name_end + 2))) {
    return name_end + 2;
  }
  if (At(text, name_end) != '{') {
    return 0;
  }
  const size_t top = ClosingBrace(text.substr(0, name_end + kLongest), name_end);
  if (top == std::string_view::npos || At(text, top + 1) != '{') {
    return 0;
  }
  const size_t bottom = ClosingBrace(text.substr(0, top + kLongest), top + 1);
  return bottom == std::string_view::npos ? 0 : bottom + 1;
}

// Length of a Chinese share with digits in it at `at`, "3分之2" or "百分之50", else 0.
size_t DigitShareLength(std::string_view text, size_t at) {
  const size_t length = ReadChineseNumeral(text, at).length;
  return length > 0 && IsDigit(text[at + length - 1]) ? length : 0;
}

// Numerals of two characters or more: a single one is mostly part of a word. "千万" is mostly no
// number, but "by all means".
std::vector<std::string_view> FindChineseNumerals(std::string_view text) {
  std::vector<std::string_view> numerals;
  for (size_t i = 0; i < text.size();) {
    const size_t length = IsAscii(text[i]) ? 0 : ReadChineseNumeral(text, i).length;
    if (length > 3 && text.substr(i, length) != "千万" && text.substr(i, length) != "千萬") {
      numerals.push_back(text.substr(i, length));
    }
    i += length > 0 ? length : std::max(ChineseRunLength(text, i), CharacterLength(text, i));
  }
  return numerals;
}

}  // namespace

std::vector<std::string_view> FindNumbers(std::string_view text) {
  std::vector<std::string_view> numbers;
  size_t from = 0;           // end of the number before
  size_t after_command = 0;  // end of the LaTeX command before: its letters are no word
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\\') {
      const size_t end = FractionEnd(text, i);
      if (end == 0) {
        i = after_command = AfterCommand(text, i);
        continue;
      }
      numbers.push_back(Slice(text, WithSign(text, i, from), end));
      i = from = end;
      continue;
    }
    const bool point =
        text[i] == '.' && IsDigit(At(text, i + 1)) && (i == 0 || !IsDigit(text[i - 1]));
    const bool starts = IsDigit(text[i]) || point || !IsAscii(text[i]);
    size_t length = starts ? std::max(NumberLength(text, i), DigitShareLength(text, i)) : 0;
    if (length == 0) {
      ++i;
      continue;
    }
    if (At(text, i + length) == '/' && IsDigit(At(text, i + length + 1))) {
      length += 1 + NumberLength(text, i + length + 1);
    }
    if ((i == after_command || !IsPartOfTerm(text, i)) && !IsListMarker(text, i, length) &&
        !IsOneOf(WordBefore(text, i), kNumberedThings)) {
      numbers.push_back(Slice(text, WithSign(text, i, from), i + length));
    }
    i = from = i + length;
  }
  return numbers.empty() ? FindChineseNumerals(text) : numbers;
}

namespace {

// Words that may stand between "out of" and the total.
constexpr std::array<std::string_view, 11> kTotalWords = {
    "a", "the", "total", "of", "all", "these", "those", "whole", "possible", "every", "each"};

// Whether the digits that end at `last` are the lower half of a fraction: 2/3 of 90 is no share.
bool IsFractionEnd(std::string_view text, size_t last) {
  while (last > 0 && IsDigit(text[last])) {
    --last;
  }
  return text[last] == '/';
}

// Whether the number at `at` is the total of a share: "13 out of 20", "13 of the 20", "13 (of 20",
// "6 among 36".
bool IsTotal(std::string_view text, size_t at) {
  constexpr int kMostWords = 6;
  for (int words = 0; words < kMostWords; ++words) {
    const std::string_view word = WordBefore(text, at);
    const auto begin = static_cast<size_t>(word.data() - text.data());
    if (EqualsAnyCase(word, "among")) {
      return true;
    }
    if (EqualsAnyCase(word, "of")) {
      if (EqualsAnyCase(WordBefore(text, begin), "out")) {
        return true;
      }
      size_t gap = begin;
      while (gap > 0 && (text[gap - 1] == ' ' || text[gap - 1] == '(')) {
        --gap;
      }
      if (gap < begin && gap > 0 && IsDigit(text[gap - 1]) && !IsFractionEnd(text, gap - 1)) {
        return true;
      }
    }
    if (!IsOneOf(word, kTotalWords)) {
      return false;
    }
    at = begin;
  }
  return false;
}

}  // namespace

std::string_view LastNumber(std::string_view text) {
  std::vector<std::string_view> numbers = FindNumbers(text);
  if (numbers.empty()) {
    return {};
  }
  constexpr size_t kMostTotals = 8;  // one behind the other; more are no share
  const size_t first = numbers.size() > kMostTotals ? numbers.size() - kMostTotals : 0;
  for (size_t i = numbers.size(); i-- > first;) {
    if (!IsTotal(text, static_cast<size_t>(numbers[i].data() - text.data()))) {
      return numbers[i];
    }
  }
  return numbers.back();
}

}  // namespace hyper::extract

#include "src/extract/numbers.h"

#include <algorithm>
#include <array>

#include "src/extract/numerals.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// Marks between groups of three digits. The plain space comes last: prose does without it.
constexpr std::array<std::string_view, 13> kGroupMarks = {
    "{,}", ",\\!", "\\,", "\\!", "\\ ", "~", ",", "'", "\u2019", "\u202F", "\u2009", "\u00A0", " "};

// Words for a minus sign, in lower case. The first ones may also subtract: "the total minus 3".
constexpr std::array<std::string_view, 6> kMinusWords = {"minus", "menos",    "moins",
                                                         "meno",  "negative", "negativo"};
constexpr size_t kSubtracting = 4;
constexpr std::array<std::string_view, 3> kMinusCharacters = {"负", "負", "マイナス"};

constexpr std::array<std::string_view, 8> kCurrencies = {"\\$",    "$", "US$", "\\pounds",
                                                         "\\euro", "€", "£",   "¥"};

size_t DigitRun(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsDigit(text[end])) {
    ++end;
  }
  return end - at;
}

// Length of a mark between groups at `at`, blanks around it included, 0 if there is none. With
// `mark` set, only that mark will do: a number is grouped in one way.
size_t GroupMark(std::string_view text, size_t at, bool allow_space, std::string_view* mark) {
  const size_t count = kGroupMarks.size() - (allow_space ? 0 : 1);
  for (size_t i = 0; i < count; ++i) {
    if (!StandsAt(text, at, kGroupMarks[i])) {
      continue;
    }
    if (!mark->empty() && *mark != kGroupMarks[i]) {
      return 0;
    }
    size_t length = kGroupMarks[i].size();
    // "11,\! 111": the negative space shows that the blank after the comma is meant to vanish.
    if (kGroupMarks[i] == ",\\!" || kGroupMarks[i] == "\\!") {
      while (At(text, at + length) == ' ') {
        ++length;
      }
    }
    if (DigitRun(text, at + length) != 3) {
      return 0;
    }
    *mark = kGroupMarks[i];
    return length;
  }
  return 0;
}

// What a number is made of: `digits` before the point without grouping, `decimals` after it.
struct NumberParts {
  std::string digits;
  std::string decimals;
  size_t length = 0;
};

// "1.234.567" and "1.234,50": groups of three behind dots, and a decimal comma. One group alone may
// as well be decimals. No length where the digits at `at` go on otherwise.
NumberParts ReadDotGroups(std::string_view text, size_t at) {
  NumberParts parts;
  size_t end = at + DigitRun(text, at);
  if (end == at || end - at > 3 || text[at] == '0') {
    return {};
  }
  parts.digits = Slice(text, at, end);
  constexpr size_t kMostGroups = 8;  // so that a chain of groups is not read again and again
  size_t groups = 0;
  for (; groups < kMostGroups && At(text, end) == '.' && DigitRun(text, end + 1) == 3; ++groups) {
    parts.digits += text.substr(end + 1, 3);
    end += 4;
  }
  if (At(text, end) == '.' && IsDigit(At(text, end + 1))) {
    return {};
  }
  const size_t decimals = At(text, end) == ',' ? DigitRun(text, end + 1) : 0;
  const bool goes_on = decimals > 0 && At(text, end + 1 + decimals) == ',';
  if (groups == 0 || (groups == 1 && (decimals != 2 || goes_on))) {
    return {};
  }
  if (decimals > 0 && !goes_on) {
    parts.decimals = Slice(text, end + 1, end + 1 + decimals);
    end += 1 + decimals;
  }
  parts.length = end - at;
  return parts;
}

// Length of a comma at `at` that can only be a decimal one behind a lone zero: three digits or more
// follow, or a zero ("0,111", "0,05"). What else it could part, "0,5" or "0,10", may be a list.
size_t DecimalComma(std::string_view text, size_t at) {
  for (std::string_view mark : {"{,}", ","}) {
    if (!StandsAt(text, at, mark)) {
      continue;
    }
    const size_t begin = at + mark.size();
    const size_t run = DigitRun(text, begin);
    const bool list = At(text, begin + run) == ',' && IsDigit(At(text, begin + run + 1));
    const bool decimal = run >= 3 || (run == 2 && text[begin] == '0') || (run > 0 && mark == "{,}");
    return decimal && !list ? mark.size() : 0;
  }
  return 0;
}

NumberParts ReadNumber(std::string_view text, size_t at, bool allow_space) {
  if (at < text.size() && !IsAscii(text[at])) {
    for (const bool separators : {true, false}) {
      const Numeral numeral = ReadOtherDigits(text, at, separators);
      if (numeral.length == 0) {
        continue;
      }
      NumberParts parts = ReadNumber(numeral.plain, 0, false);
      if (parts.length < numeral.plain.size()) {
        continue;
      }
      parts.length = numeral.length;
      return parts;
    }
    return {};
  }
  if (NumberParts parts = ReadDotGroups(text, at); parts.length > 0) {
    return parts;
  }
  NumberParts parts;
  size_t run = DigitRun(text, at);
  size_t end = at + run;
  parts.digits.assign(Slice(text, at, end));
  std::string_view mark;
  if (run >= 1 && run <= 3 && text[at] != '0') {
    for (size_t gap = GroupMark(text, end, allow_space, &mark); gap != 0;
         gap = GroupMark(text, end, allow_space, &mark)) {
      parts.digits += Slice(text, end + gap, end + gap + 3);
      end += gap + 3;
    }
  }
  size_t point = At(text, end) == '.' ? 1 : 0;
  if (parts.digits == "0" && point == 0) {
    point = DecimalComma(text, end);
  }
  const size_t decimals = point > 0 ? DigitRun(text, end + point) : 0;
  if (decimals > 0) {
    parts.decimals = Slice(text, end + point, end + point + decimals);
    end += point + decimals;
  }
  if (run == 0 && decimals == 0) {
    return {};
  }
  parts.length = end - at;
  return parts;
}

// Place after a currency sign at `at` and the blanks behind it.
size_t SkipCurrency(std::string_view text, size_t at) {
  for (std::string_view sign : kCurrencies) {
    if (StandsAt(text, at, sign)) {
      return SkipSpace(text, at + sign.size());
    }
  }
  return at;
}

std::string_view DropPercent(std::string_view text) {
  if (!text.ends_with('%')) {
    return text;
  }
  text.remove_suffix(1);
  if (text.ends_with('\\')) {
    text.remove_suffix(1);
  }
  return TrimSpace(text);
}

}  // namespace

std::optional<std::string> CanonicalNumber(std::string_view text, NumberStyle style) {
  text = TrimSpace(text);
  if (style.drop_percent) {
    text = DropPercent(text);
  }
  bool negative = false;
  size_t at = SkipCurrency(text, 0);
  if (const size_t minus = SignLength(text, at); minus > 0) {
    negative = true;
    at = SkipSpace(text, at + minus);
  } else if (At(text, at) == '+') {
    at = SkipSpace(text, at + 1);
  }
  at = SkipCurrency(text, at);
  NumberParts parts = ReadNumber(text, at, /*allow_space=*/true);
  if (parts.length == 0) {
    Numeral numeral = ReadChineseNumeral(text, at);
    if (numeral.length == 0) {
      numeral = ReadEnglishNumeral(text, at);
    }
    parts.digits = std::move(numeral.plain);
    parts.length = numeral.length;
  }
  if (parts.length == 0 || at + parts.length != text.size()) {
    return std::nullopt;
  }
  const bool whole = parts.decimals.find_first_not_of('0') == std::string_view::npos;
  std::string_view digits = parts.digits;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) {
    digits = "0";
  }
  std::string number;
  if (negative && (digits != "0" || !whole)) {
    number += '-';
  }
  number += digits;
  if (!whole) {
    number += '.';
    number += parts.decimals;
  }
  return number;
}

size_t SignLength(std::string_view text, size_t at) {
  if (const size_t minus = MinusLength(text, at); minus > 0) {
    return minus;
  }
  for (std::string_view sign : kMinusCharacters) {
    if (StandsAt(text, at, sign)) {
      return sign.size();
    }
  }
  constexpr std::string_view kWrapper = "\\text{";
  const size_t word = StandsAt(text, at, kWrapper) ? at + kWrapper.size() : at;
  for (std::string_view sign : kMinusWords) {
    if (!StandsAtAnyCase(text, word, sign)) {
      continue;
    }
    const size_t end = word + sign.size();
    const size_t after = SkipSpace(text, end);
    if (word == at) {
      return after > end || At(text, end) == '$' ? after - at : 0;
    }
    return At(text, after) == '}' ? SkipSpace(text, after + 1) - at : 0;
  }
  return 0;
}

size_t NumberLength(std::string_view text, size_t at) {
  return ReadNumber(text, at, /*allow_space=*/false).length;
}

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
  if (DigitRun(text, name_end) == 2) {
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

// Numerals of two characters or more: a single one is mostly part of a word.
std::vector<std::string_view> FindChineseNumerals(std::string_view text) {
  std::vector<std::string_view> numerals;
  for (size_t i = 0; i < text.size();) {
    const size_t length = IsAscii(text[i]) ? 0 : ReadChineseNumeral(text, i).length;
    if (length > 3) {
      numerals.push_back(text.substr(i, length));
    }
    i += length > 0 ? length : CharacterLength(text, i);
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
    size_t length = starts ? NumberLength(text, i) : 0;
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
constexpr std::array<std::string_view, 9> kTotalWords = {
    "a", "the", "total", "of", "all", "these", "those", "whole", "possible"};

// Whether the digits that end at `last` are the lower half of a fraction: 2/3 of 90 is no share.
bool IsFractionEnd(std::string_view text, size_t last) {
  while (last > 0 && IsDigit(text[last])) {
    --last;
  }
  return text[last] == '/';
}

// Whether the number at `at` is the total of a share: "13 out of 20", "13 of 20", "13 of the 20".
bool IsTotal(std::string_view text, size_t at) {
  constexpr int kMostWords = 6;
  for (int words = 0; words < kMostWords; ++words) {
    const std::string_view word = WordBefore(text, at);
    const auto begin = static_cast<size_t>(word.data() - text.data());
    if (EqualsAnyCase(word, "of")) {
      if (EqualsAnyCase(WordBefore(text, begin), "out")) {
        return true;
      }
      const size_t gap = begin > 0 && text[begin - 1] == ' ' ? begin - 1 : 0;
      if (gap > 0 && IsDigit(text[gap - 1]) && !IsFractionEnd(text, gap - 1)) {
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

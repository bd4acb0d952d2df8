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
  Numeral numeral = ReadChineseNumeral(text, at);
  if (parts.length == 0 && numeral.length == 0) {
    numeral = ReadEnglishNumeral(text, at);
  }
  if (numeral.length > 0) {
    if (style.drop_percent && numeral.plain.ends_with('%')) {
      numeral.plain.pop_back();
    }
    const size_t point = std::min(numeral.plain.find('.'), numeral.plain.size());
    parts.digits = numeral.plain.substr(0, point);
    parts.decimals = numeral.plain.substr(std::min(point + 1, numeral.plain.size()));
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

}  // namespace hyper::extract

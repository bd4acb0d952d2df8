#include "src/extract/numerals.h"

#include <array>
#include <cstdint>
#include <optional>

#include "src/base/utf8.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

using base::Character;
using base::CharacterAt;

// The zeros of scripts whose ten digits stand in a row: Arabic, Persian, N'Ko, the scripts of
// India, Thai, Lao, Tibetan, Myanmar, Khmer, Mongolian, full-width, and the five mathematical
// alphabets.
constexpr std::array<char32_t, 24> kZeros = {0x0660, 0x06F0,  0x07C0,  0x0966,  0x09E6,  0x0A66,
                                             0x0AE6, 0x0B66,  0x0BE6,  0x0C66,  0x0CE6,  0x0D66,
                                             0x0E50, 0x0ED0,  0x0F20,  0x1040,  0x17E0,  0x1810,
                                             0xFF10, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6};

// The zero of the script of the digit `code`, 0 if it is none.
char32_t ZeroOf(char32_t code) {
  if (code < kZeros.front()) {
    return 0;
  }
  for (const char32_t zero : kZeros) {
    if (code >= zero && code < zero + 10) {
      return zero;
    }
  }
  return 0;
}

// The ASCII mark that a separator between digits stands for, NUL for others.
char SeparatorOf(char32_t code) {
  switch (code) {
    case U',':
    case 0x066C:  // Arabic thousands separator
    case 0xFF0C:
      return ',';
    case U'.':
    case 0x066B:  // Arabic decimal separator
    case 0xFF0E:
      return '.';
    default:
      return '\0';
  }
}

}  // namespace

Numeral ReadOtherDigits(std::string_view text, size_t at, bool separators) {
  Numeral number;
  const char32_t zero = ZeroOf(CharacterAt(text, at).code);
  if (zero == 0) {
    return number;
  }
  const auto is_digit = [zero](const Character& c) { return c.code >= zero && c.code < zero + 10; };
  constexpr size_t kLongest = 24;  // with marks: a list of digits is not read again and again
  for (size_t i = at; i < text.size();) {
    if (separators && number.plain.size() > kLongest) {
      return {};
    }
    const Character c = CharacterAt(text, i);
    const char mark = separators ? SeparatorOf(c.code) : '\0';
    if (is_digit(c)) {
      number.plain += static_cast<char>('0' + (c.code - zero));
    } else if (mark != '\0' && is_digit(CharacterAt(text, i + c.length))) {
      number.plain += mark;
    } else {
      break;
    }
    i += c.length;
    number.length = i - at;
  }
  return number;
}

namespace {

// What an English word of a numeral stands for, -1 for any other word.
int64_t ValueOfWord(std::string_view word) {
  constexpr std::array<std::string_view, 20> kSmall = {
      "zero",     "one",     "two",     "three",     "four",     "five",    "six",
      "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
      "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  constexpr std::array<std::string_view, 8> kTens = {"twenty", "thirty",  "forty",  "fifty",
                                                     "sixty",  "seventy", "eighty", "ninety"};
  constexpr size_t kShortest = 3;
  if (word.size() < kShortest) {
    return -1;
  }
  for (size_t i = 0; i < kSmall.size(); ++i) {
    if (EqualsAnyCase(word, kSmall[i])) {
      return static_cast<int64_t>(i);
    }
  }
  for (size_t i = 0; i < kTens.size(); ++i) {
    if (EqualsAnyCase(word, kTens[i])) {
      return static_cast<int64_t>(10 * (i + 2));
    }
  }
  const bool hundred = EqualsAnyCase(word, "hundred");
  const bool thousand = EqualsAnyCase(word, "thousand");
  return hundred ? 100 : thousand ? 1000 : EqualsAnyCase(word, "million") ? 1'000'000 : -1;
}

}  // namespace

Numeral ReadEnglishNumeral(std::string_view text, size_t at) {
  constexpr int kMostWords = 16;
  Numeral number;
  int64_t total = 0;
  int64_t section = 0;  // below the next "thousand" or "million"
  int64_t room = 1000;  // what the next word must be below
  int64_t smallest = 1'000'000'000;
  size_t begin = at;
  for (int words = 0; words < kMostWords; ++words) {
    size_t end = begin;
    while (end < text.size() && IsLetter(text[end])) {
      ++end;
    }
    const std::string_view word = Slice(text, begin, end);
    const int64_t value = ValueOfWord(word);
    const bool joint = EqualsAnyCase(word, "and") && number.length > 0 && At(text, end) == ' ';
    if (value < 0 && !joint) {
      break;
    }
    if (value >= 1000) {
      if (section == 0 || value >= smallest) {
        break;
      }
      total += section * value;
      section = 0;
      smallest = value;
      room = 1000;
    } else if (value == 100) {
      if (section < 1 || section > 9) {
        break;
      }
      section *= 100;
      room = 100;
    } else if (value >= 0) {
      if (value >= room) {
        break;
      }
      section += value;
      room = value >= 20 ? 10 : 0;
    }
    if (value >= 0) {
      number.length = end - at;
    }
    if (At(text, end) != ' ' && At(text, end) != '-') {
      break;
    }
    begin = end + 1;
  }
  if (number.length > 0) {
    number.plain = std::to_string(total + section);
  }
  return number;
}

}  // namespace hyper::extract

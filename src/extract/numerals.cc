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

// What a character of a Chinese numeral stands for: a digit, or a unit of ten or more.
uint64_t ValueOf(char32_t code) {
  if (code < 0x3007) {
    return UINT64_MAX;
  }
  constexpr std::u32string_view kDigits = U"〇一二三四五六七八九";
  constexpr std::u32string_view kFormal = U"零壹贰叁肆伍陆柒捌玖";
  constexpr std::u32string_view kOther = U"零弌貳參亖伍陸柒捌玖";
  for (const std::u32string_view digits : {kDigits, kFormal, kOther}) {
    const size_t place = digits.find(code);
    if (place != std::u32string_view::npos) {
      return place;
    }
  }
  switch (code) {
    case U'两':
    case U'兩':
      return 2;
    case U'十':
    case U'拾':
      return 10;
    case U'百':
    case U'佰':
      return 100;
    case U'千':
    case U'仟':
      return 1000;
    case U'万':
    case U'萬':
      return 10'000;
    case U'亿':
    case U'億':
      return 100'000'000;
    default:
      return UINT64_MAX;
  }
}

// Adds up the characters of a numeral, one after another.
class ChineseSum {
 public:
  // False where `value` cannot follow what was read before.
  bool Add(uint64_t value) {
    if (value == 0) {
      after_unit_ = 0;
      return !digit_;
    }
    if (value < 10) {
      if (digit_) {
        return false;
      }
      digit_ = value;
      return true;
    }
    return value < 10'000 ? AddUnit(value) : CloseSection(value);
  }

  // The number; of "一百二" the last digit stands for tens.
  uint64_t Total() const {
    const uint64_t place = after_unit_ >= 100 ? after_unit_ / 10 : 1;
    return total_ + section_ + digit_.value_or(0) * place;
  }

 private:
  bool AddUnit(uint64_t unit) {
    const bool starts = section_ == 0 && !digit_;  // "十二" is twelve
    if (unit >= smallest_ || (!digit_ && !(starts && unit == 10))) {
      return false;
    }
    section_ += digit_.value_or(1) * unit;
    smallest_ = after_unit_ = unit;
    digit_.reset();
    return true;
  }

  // At "万" and "亿". "万亿" and "一万二千亿" count the second unit in the first.
  bool CloseSection(uint64_t unit) {
    const bool higher = unit > 10'000;
    section_ += digit_.value_or(0);
    if (higher ? had_higher_ || total_ + section_ == 0 : had_lower_ || section_ == 0) {
      return false;
    }
    total_ = higher ? (total_ + section_) * unit : total_ + section_ * unit;
    had_higher_ = had_higher_ || higher;
    had_lower_ = !higher;
    section_ = 0;
    smallest_ = 10'000;
    after_unit_ = unit;
    digit_.reset();
    return true;
  }

  uint64_t total_ = 0;
  uint64_t section_ = 0;
  std::optional<uint64_t> digit_;
  uint64_t smallest_ = 10'000;  // units of a section become smaller
  bool had_lower_ = false;      // "万", since the last "亿"
  bool had_higher_ = false;
  uint64_t after_unit_ = 0;  // the unit before a digit, 0 behind a zero
};

bool IsHan(char32_t code) { return code >= 0x4E00 && code <= 0x9FFF; }

// Words that count things: what follows a number in Chinese and Japanese.
constexpr std::u32string_view kCounters =
    U"个個只隻条條元块塊人天日年月次种種本米岁歲分秒名位件张張斤克点點时時小倍步度円回枚匹台箱组組"
    U"对對"
    U"朵棵头頭辆輛支册間间道题題套颗顆升里厘毫公平立";

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

Numeral ReadChineseNumeral(std::string_view text, size_t at) {
  constexpr size_t kLongest = 16;  // characters; a longer run is no number that a text would write
  Numeral number;
  ChineseSum sum;
  bool adds_up = true;
  bool positional = true;  // "二〇二六"
  size_t count = 0;
  size_t end = at;
  for (; count < kLongest; ++count) {
    const Character c = CharacterAt(text, end);
    const uint64_t value = c.length == 0 ? UINT64_MAX : ValueOf(c.code);
    if (value == UINT64_MAX) {
      break;
    }
    positional = positional && value < 10;
    number.plain += static_cast<char>('0' + value % 10);
    adds_up = adds_up && sum.Add(value);
    end += c.length;
  }
  if (count == 0 || count == kLongest || !(positional || adds_up)) {
    return {};
  }
  if (!positional) {
    number.plain = std::to_string(sum.Total());
  }
  number.length = end - at;
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

size_t AnnouncedNumeralLength(std::string_view text, size_t at) {
  const Numeral number = ReadChineseNumeral(text, at);
  if (number.length == 0) {
    return 0;
  }
  const Character next = CharacterAt(text, at + number.length);
  if (!IsHan(next.code)) {
    return number.length;
  }
  if (kCounters.find(next.code) == std::u32string_view::npos) {
    return 0;
  }
  const bool article =
      number.plain == "1" && IsHan(CharacterAt(text, at + number.length + next.length).code);
  return article ? 0 : number.length;
}

}  // namespace hyper::extract

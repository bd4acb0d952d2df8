// Chinese and Japanese numerals.
#include <array>
#include <cstdint>
#include <optional>

#include "src/base/utf8.h"
#include "src/extract/numerals.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

using base::Character;
using base::CharacterAt;

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
    if (unit >= smallest_) {
      return false;
    }
    section_ += digit_.value_or(1) * unit;  // "十二" is twelve, "千五百" fifteen hundred
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

constexpr std::string_view kAnd = "又";
constexpr std::array<std::string_view, 2> kPoints = {"点", "點"};

// Length of what joins two Chinese numerals to one at `at`, 0 if nothing does.
size_t JointLength(std::string_view text, size_t at) {
  for (const std::string_view joint : {kChineseShare, kAnd, kPoints[0], kPoints[1]}) {
    if (StandsAt(text, at, joint)) {
      return joint.size();
    }
  }
  return 0;
}

// "四十二", "二〇二六": no fraction and no decimals.
Numeral ReadChineseInteger(std::string_view text, size_t at) {
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

// "三点五". "三点" alone is a whole number: three o'clock.
Numeral ReadChineseDecimal(std::string_view text, size_t at) {
  Numeral number = ReadChineseInteger(text, at);
  size_t end = at + number.length;
  const bool point = number.length > 0 && IsOneOf(text.substr(end, kPoints[0].size()), kPoints);
  if (!point) {
    return number;
  }
  end += kPoints[0].size();
  std::string decimals;
  Character c = CharacterAt(text, end);
  for (; ValueOf(c.code) < 10; c = CharacterAt(text, end)) {
    decimals += static_cast<char>('0' + ValueOf(c.code));
    end += c.length;
  }
  const bool time = c.code == U'分' || c.code == U'半' || ValueOf(c.code) != UINT64_MAX;
  if (time) {
    return {};  // "三点五十"
  }
  if (!decimals.empty()) {
    number.plain += '.' + decimals;
    number.length = end - at;
  }
  return number;
}

// A part of a share: a Chinese decimal or one in digits, as in "3分之2".
Numeral ReadSharePart(std::string_view text, size_t at) {
  if (!IsDigit(At(text, at))) {
    return ReadChineseDecimal(text, at);
  }
  size_t end = at;
  const auto skip_digits = [&] {
    while (IsDigit(At(text, end))) {
      ++end;
    }
  };
  skip_digits();
  if (At(text, end) == '.' && IsDigit(At(text, end + 1))) {
    ++end;
    skip_digits();
  }
  return {std::string(Slice(text, at, end)), end - at};
}

// "三分之二", "百分之五十", or a decimal.
Numeral ReadChineseShare(std::string_view text, size_t at) {
  Numeral number = ReadSharePart(text, at);
  const size_t end = at + number.length;
  if (number.length == 0 || !StandsAt(text, end, kChineseShare)) {
    return number;
  }
  const Numeral above = ReadSharePart(text, end + kChineseShare.size());
  if (above.length == 0) {
    return {};
  }
  return {number.plain == "100" ? above.plain + '%' : above.plain + '/' + number.plain,
          number.length + kChineseShare.size() + above.length};
}

}  // namespace

Numeral ReadChineseNumeral(std::string_view text, size_t at) {
  Numeral number = ReadChineseShare(text, at);
  if (number.length > 0 && StandsAt(text, at + number.length, kAnd)) {
    const Numeral part = ReadChineseShare(text, at + number.length + kAnd.size());
    const size_t slash = part.plain.find('/');
    if (slash != kNone) {  // "一又三分之二"
      number.plain +=
          "\\frac{" + part.plain.substr(0, slash) + "}{" + part.plain.substr(slash + 1) + '}';
      number.length += kAnd.size() + part.length;
    }
  }
  // What goes on in a way that is not read is no number either.
  const size_t joint = number.length == 0 ? 0 : JointLength(text, at + number.length);
  const bool goes_on =
      joint > 0 && ValueOf(CharacterAt(text, at + number.length + joint).code) != UINT64_MAX;
  const bool digits_alone = IsDigit(At(text, at)) && number.plain.find_first_of("/%{") == kNone;
  return goes_on || digits_alone ? Numeral() : number;
}

size_t ChineseRunLength(std::string_view text, size_t at) {
  size_t end = at;
  for (;;) {
    const Character c = CharacterAt(text, end);
    const bool numeral = c.length > 0 && ValueOf(c.code) != UINT64_MAX;
    const size_t length = numeral ? c.length : JointLength(text, end);
    if (length == 0) {
      return end - at;
    }
    end += length;
  }
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
  // "千克" is a unit.
  const bool prefix = number.length == 3 && (number.plain == "100" || number.plain == "1000");
  if (prefix || kCounters.find(next.code) == std::u32string_view::npos) {
    return 0;
  }
  const bool article =
      number.plain == "1" && IsHan(CharacterAt(text, at + number.length + next.length).code);
  return article ? 0 : number.length;
}

}  // namespace hyper::extract

// Numbers that are not written in ASCII digits: "٤٢", "४२", "４２", "四十二".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hyper::extract {

// A number as written in ASCII digits, and its length in the text in bytes, 0 if there is none.
struct Numeral {
  std::string plain;
  size_t length = 0;
};

// The digits of one script beyond ASCII that start at `at`. With `separators`, the marks between
// them too: "," for marks of groups, "." for a decimal point.
Numeral ReadOtherDigits(std::string_view text, size_t at, bool separators);

// Joins the parts of a Chinese share, the lower one first: "三分之二", "3分之2".
inline constexpr std::string_view kChineseShare = "分之";

// The Chinese or Japanese numeral that starts at `at`: "四十二" is 42, "二〇二六" 2026, "三点五"
// 3.5, "三分之二" 2/3, "一又三分之二" 1\frac{2}{3}, "百分之五十" 50%. Nothing where the characters
// make no number.
Numeral ReadChineseNumeral(std::string_view text, size_t at);

// Length of the characters of such numerals, and of what joins them, that stand in a row at `at`.
size_t ChineseRunLength(std::string_view text, size_t at);

// Length of the numeral at `at` where an answer may start with it: what follows is no word that it
// is a part of ("三角形") and it is no article ("一个圆"). 0 if there is none.
size_t AnnouncedNumeralLength(std::string_view text, size_t at);

// The English words for a number below a billion that stand at `at`: "seven", "twenty-one", "three
// hundred and five".
Numeral ReadEnglishNumeral(std::string_view text, size_t at);

}  // namespace hyper::extract

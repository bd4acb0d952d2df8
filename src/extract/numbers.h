// Plain numbers in texts: reading one that stands alone, and finding those in prose.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyper::extract {

// Words for a minus sign, in lower case. The first ones may also subtract: "the total minus 3".
inline constexpr std::array<std::string_view, 6> kMinusWords = {"minus", "menos",    "moins",
                                                                "meno",  "negative", "negativo"};
inline constexpr size_t kSubtracting = 4;
inline constexpr std::array<std::string_view, 3> kMinusCharacters = {"负", "負", "マイナス"};

// The canonical form of `text` where all of it is one plain number: sign, digits without grouping
// or leading zeros, decimals unless all are zero ("$9{,}500.00" gives "9500", "-.5" gives "-0.5").
// Grouping by commas, "{,}", "\,", "\!", "~", narrow spaces or one space must be in threes, by dots
// in more than one three. A comma behind a lone zero is a decimal one ("0,111"). A minus sign may
// be a word; digits of other scripts and Chinese numerals are read, these also as decimals and
// fractions. Currency signs before the number and percent signs after it are dropped only with
// `drop_percent` for the latter. Nothing where `text` is anything else.
struct NumberStyle {
  bool drop_percent = false;
};
std::optional<std::string> CanonicalNumber(std::string_view text, NumberStyle style = {});

// Length of the minus sign at `at`, or of the word for one with the blanks behind it ("minus ",
// "\text{negative } ", "负"); 0 if there is none.
size_t SignLength(std::string_view text, size_t at);

// Length of the number that starts at `at` (no sign, no currency), 0 if none does. Grouping as in
// CanonicalNumber, except by a plain space, which prose does not tell from two numbers.
size_t NumberLength(std::string_view text, size_t at);

// The numbers of a prose or LaTeX text, in order, sign included where it cannot be a minus between
// two terms. Left out are exponents, indices, digits inside words ("H2O") and the markers of
// numbered lists and steps; "a/b" of two integers and "\frac{a}{b}" are one number. Digits of other
// scripts count too, Chinese numerals only where there is nothing else.
std::vector<std::string_view> FindNumbers(std::string_view text);

// The last of them that is not the total of a share ("13 out of 20"); empty if there is none.
std::string_view LastNumber(std::string_view text);

}  // namespace hyper::extract

// Plain numbers in texts: reading one that stands alone, and finding those in prose.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyper::extract {

// The canonical form of `text` where all of it is one plain number: sign, digits without grouping
// or leading zeros, decimals unless all are zero ("$9{,}500.00" gives "9500", "-.5" gives "-0.5").
// Grouping by commas, "{,}", "\,", "\!", "~", narrow spaces or one space must be in threes.
// Currency signs before the number and percent signs after it are dropped only with `drop_units`
// for the latter. Nothing where `text` is anything else.
struct NumberStyle {
  bool drop_percent = false;
};
std::optional<std::string> CanonicalNumber(std::string_view text, NumberStyle style = {});

// Length of the number that starts at `at` (no sign, no currency), 0 if none does. Grouping as in
// CanonicalNumber, except by a plain space, which prose does not tell from two numbers.
size_t NumberLength(std::string_view text, size_t at);

// The numbers of a prose or LaTeX text, in order, sign included where it cannot be a minus between
// two terms. Left out are exponents, indices, digits inside words ("H2O") and the markers of
// numbered lists and steps; "a/b" of two integers and "\frac{a}{b}" are one number.
std::vector<std::string_view> FindNumbers(std::string_view text);

}  // namespace hyper::extract

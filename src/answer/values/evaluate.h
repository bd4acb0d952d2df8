// Exact rational values of expressions, and texts that only equal expressions share.
#pragma once

#include <optional>
#include <string>

#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// The value of an expression that is a rational number by arithmetic alone (exact roots,
// factorials and the like included); nothing for any other, and where the budget refuses.
std::optional<Rational> RationalValue(const Expression& tree, NodeId id, Budget& budget);

// A text of the expression in which sums, products and sets are sorted and rational parts are
// computed: equal texts, equal expressions. With `keep_decimals` decimals keep their number of
// digits, which rounding looks at. Empty where the budget refuses.
std::string StructuralKey(const Expression& tree, NodeId id, Budget& budget,
                          bool keep_decimals = false);

}  // namespace hyper::answer

// Exact constants through Calcium: algebraic and many transcendental numbers.
#pragma once

#include "hyper/equal.h"
#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// Whether two constant expressions are the same complex number; kUndecided for anything outside
// Calcium's reach or above the size limits. Each call has a context of its own.
Verdict CompareConstants(const Expression& tree, NodeId a, NodeId b, Budget& budget);

}  // namespace hyper::answer

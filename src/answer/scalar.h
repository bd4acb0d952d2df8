// Comparison of two single expressions: numbers, constants, expressions with variables.
#pragma once

#include <string>

#include "hyper/equal.h"
#include "src/answer/exact.h"
#include "src/answer/expression.h"

namespace hyper {

// Whether two expressions of one tree have the same value wherever both are real and defined.
// `reason` is set to one line. May add nodes to the tree.
Verdict CompareScalars(Expression& tree, NodeId a, NodeId b, const EqualOptions& options,
                       Budget& budget, std::string& reason);

}  // namespace hyper

// Where on the real line an answer lies: answers that lie apart are never equal, so that grouping
// compares only neighbours.
#pragma once

#include <limits>

#include "hyper/equal.h"
#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// A closed interval. Everything, where nothing is known.
struct NearRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  friend bool Overlap(const NearRange& a, const NearRange& b) {
    return a.low <= b.high && b.low <= a.high;
  }
};

// An interval such that the comparison never calls two answers equal whose intervals are apart.
// It holds the real part of a number, of an expression with variables its value at a fixed
// point, of a collection its largest element. Everything for what may equal several things: units,
// relations, words, plus-minus, bare logarithms, any answer under `rounded` or renaming.
NearRange NearRangeOf(const Expression& tree, NodeId root, const EqualOptions& options,
                      Budget& budget);

}  // namespace hyper::answer

// Rigorous numerical values: complex balls that contain the exact value of an expression.
#pragma once

#include <acb.h>

#include <map>
#include <string>

#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// A complex ball, freed with its owner.
class Ball {
 public:
  Ball() { acb_init(value_); }
  Ball(const Ball& other) {
    acb_init(value_);
    acb_set(value_, other.value_);
  }
  Ball& operator=(const Ball& other) {
    acb_set(value_, other.value_);
    return *this;
  }
  ~Ball() { acb_clear(value_); }
  acb_ptr raw() { return value_; }
  acb_srcptr raw() const { return value_; }
  // Whether the imaginary part is exactly zero.
  bool IsReal() const { return acb_is_real(value_) != 0; }
  // Whether the two share no point: then the values differ.
  static bool Separated(const Ball& a, const Ball& b) {
    return acb_overlaps(a.value_, b.value_) == 0;
  }

 private:
  acb_t value_;
};

enum class BallStatus {
  kValue,    // the ball holds the value
  kOutside,  // the expression has no real value there (or a pole); the point says nothing
  kUnknown,  // not computable here: an unknown function, too large, too imprecise
};

// Values of the variables; each is a real rational number.
using Point = std::map<std::string, Rational>;

// The value of an expression at a point to about `precision` bits. With an empty point (constant
// expressions) roots and logarithms of negative numbers are complex; with variables they are
// kOutside. An odd root of a negative number is real in both.
BallStatus EvaluateBall(const Expression& tree, NodeId id, const Point& point, long precision,
                        Budget& budget, Ball& result);

}  // namespace hyper::answer

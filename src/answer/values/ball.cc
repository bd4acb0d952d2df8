#include "src/answer/values/ball.h"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// Values beyond 2^±kMaxMagnitude are refused: their exponents would become large numbers.
constexpr long kMaxMagnitude = 1L << 24;

using UnaryFunction = void (*)(acb_t, const acb_t, slong);

void Coth(acb_t result, const acb_t x, slong precision) { acb_coth(result, x, precision); }
void Arccot(acb_t result, const acb_t x, slong precision) {
  // The branch with values in (0, pi): pi/2 - atan(x).
  acb_t half;
  acb_init(half);
  acb_const_pi(half, precision);
  acb_mul_2exp_si(half, half, -1);
  acb_atan(result, x, precision);
  acb_sub(result, half, result, precision);
  acb_clear(half);
}
void Arcsec(acb_t result, const acb_t x, slong precision) {
  acb_inv(result, x, precision);
  acb_acos(result, result, precision);
}
void Arccsc(acb_t result, const acb_t x, slong precision) {
  acb_inv(result, x, precision);
  acb_asin(result, result, precision);
}

struct NamedFunction {
  std::string_view name;
  UnaryFunction function;
};

// Functions that map reals to reals wherever they are defined, or whose real domain shows in a
// result that is not real.
constexpr NamedFunction kFunctions[] = {
    {"sin", acb_sin},     {"cos", acb_cos},       {"tan", acb_tan},       {"cot", acb_cot},
    {"sec", acb_sec},     {"csc", acb_csc},       {"arcsin", acb_asin},   {"arccos", acb_acos},
    {"arctan", acb_atan}, {"arccot", Arccot},     {"arcsec", Arcsec},     {"arccsc", Arccsc},
    {"sinh", acb_sinh},   {"cosh", acb_cosh},     {"tanh", acb_tanh},     {"coth", Coth},
    {"ln", acb_log},      {"arcsinh", acb_asinh}, {"arccosh", acb_acosh}, {"arctanh", acb_atanh}};

class BallEvaluator {
 public:
  BallEvaluator(const Expression& tree, const Point& point, long precision, Budget& budget)
      : tree_(tree), point_(point), precision_(precision), budget_(budget) {}

  BallStatus Evaluate(NodeId id, Ball& result) {
    if (!budget_.Steps(1 + static_cast<size_t>(precision_) / 256)) {
      return BallStatus::kUnknown;
    }
    const BallStatus status = EvaluateNode(tree_.at(id), result);
    if (status != BallStatus::kValue) {
      return status;
    }
    return Bounded(result) ? status : BallStatus::kUnknown;
  }

 private:
  static bool Bounded(const Ball& ball) {
    if (acb_is_finite(ball.raw()) == 0) {
      return false;
    }
    return Small(acb_realref(ball.raw())) && Small(acb_imagref(ball.raw()));
  }
  static bool Small(const arb_t part) {
    const arf_struct* middle = arb_midref(part);
    return arf_cmpabs_2exp_si(middle, kMaxMagnitude) < 0 &&
           (arf_is_zero(middle) != 0 || arf_cmpabs_2exp_si(middle, -kMaxMagnitude) > 0) &&
           mag_cmp_2exp_si(arb_radref(part), kMaxMagnitude) < 0;
  }

  BallStatus EvaluateNode(const Node& node, Ball& result) {
    switch (node.kind) {
      case Kind::kNumber:
        acb_set_fmpq(result.raw(), node.number.raw(), precision_);
        return BallStatus::kValue;
      case Kind::kSymbol: {
        const auto found = point_.find(node.text);
        if (found == point_.end()) {
          return BallStatus::kUnknown;
        }
        acb_set_fmpq(result.raw(), found->second.raw(), precision_);
        return BallStatus::kValue;
      }
      case Kind::kConstant:
        return Constant(node.text, result);
      case Kind::kUnit:
        return Unit(node.text, result);
      case Kind::kSum:
      case Kind::kProduct:
        return Fold(node, result);
      case Kind::kPower:
        return Power(node, result);
      case Kind::kCall:
        return Call(node, result);
      default:
        return BallStatus::kUnknown;
    }
  }

  BallStatus Constant(const std::string& name, Ball& result) {
    if (name == "pi") {
      acb_const_pi(result.raw(), precision_);
    } else if (name == "e") {
      acb_zero(result.raw());
      arb_const_e(acb_realref(result.raw()), precision_);
    } else if (name == "i") {
      acb_onei(result.raw());
    } else {
      return BallStatus::kUnknown;
    }
    return BallStatus::kValue;
  }

  BallStatus Unit(const std::string& name, Ball& result) {
    if (name != "degree" && name != "percent") {
      return BallStatus::kUnknown;
    }
    acb_const_pi(result.raw(), precision_);
    if (name == "percent") {
      acb_one(result.raw());
    }
    acb_div_si(result.raw(), result.raw(), name == "degree" ? 180 : 100, precision_);
    return BallStatus::kValue;
  }

  BallStatus Fold(const Node& node, Ball& result) {
    BallStatus status = Evaluate(node.args[0], result);
    for (size_t i = 1; i < node.args.size() && status == BallStatus::kValue; ++i) {
      Ball next;
      status = Evaluate(node.args[i], next);
      if (node.kind == Kind::kSum) {
        acb_add(result.raw(), result.raw(), next.raw(), precision_);
      } else {
        acb_mul(result.raw(), result.raw(), next.raw(), precision_);
      }
    }
    return status;
  }

  // What a value that should be real says about the point when it is not.
  BallStatus RealOnly(const Ball& value) const {
    if (point_.empty() || value.IsReal()) {
      return BallStatus::kValue;
    }
    return arb_contains_zero(acb_imagref(value.raw())) != 0 ? BallStatus::kUnknown
                                                            : BallStatus::kOutside;
  }

  BallStatus Power(const Node& node, Ball& result) {
    Ball base;
    const BallStatus status = Evaluate(node.args[0], base);
    if (status != BallStatus::kValue) {
      return status;
    }
    if (const auto exponent = RationalExponent(node.args[1])) {
      return RationalPower(base, *exponent, result);
    }
    Ball exponent;
    const BallStatus upper = Evaluate(node.args[1], exponent);
    if (upper != BallStatus::kValue) {
      return upper;
    }
    if (base.IsReal() && arb_contains_zero(acb_realref(base.raw())) != 0) {
      return BallStatus::kUnknown;
    }
    const bool negative = base.IsReal() && arb_is_negative(acb_realref(base.raw())) != 0;
    if (negative && !point_.empty()) {
      return BallStatus::kOutside;
    }
    Ball logarithm;
    acb_log(logarithm.raw(), base.raw(), precision_);
    acb_mul(logarithm.raw(), logarithm.raw(), exponent.raw(), precision_);
    return Exponential(logarithm, result);
  }

  BallStatus Exponential(const Ball& exponent, Ball& result) const {
    if (arf_cmpabs_2exp_si(arb_midref(acb_realref(exponent.raw())), 23) >= 0) {
      return BallStatus::kUnknown;
    }
    acb_exp(result.raw(), exponent.raw(), precision_);
    return BallStatus::kValue;
  }

  // The exponent as a rational number, with the variables at their values.
  std::optional<Rational> RationalExponent(NodeId id) {
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kSymbol) {
      const auto found = point_.find(node.text);
      if (found == point_.end()) {
        return std::nullopt;
      }
      return found->second;
    }
    if (node.kind == Kind::kSum || node.kind == Kind::kProduct) {
      std::optional<Rational> total = RationalExponent(node.args[0]);
      for (size_t i = 1; total && i < node.args.size(); ++i) {
        const auto next = RationalExponent(node.args[i]);
        if (!next) {
          return std::nullopt;
        }
        total =
            node.kind == Kind::kSum ? total->Add(*next, budget_) : total->Multiply(*next, budget_);
      }
      return total;
    }
    return RationalValue(tree_, id, budget_);
  }

  BallStatus RationalPower(const Ball& base, const Rational& exponent, Ball& result) {
    const auto p = exponent.Numerator().ToLong(1L << 22);
    const auto q = exponent.Denominator().ToLong(1L << 22);
    if (!p || !q) {
      return BallStatus::kUnknown;
    }
    const bool real = base.IsReal();
    if (*p < 0 && acb_contains_zero(base.raw()) != 0) {
      return acb_is_zero(base.raw()) != 0 ? BallStatus::kOutside : BallStatus::kUnknown;
    }
    // 0^0 has no agreed value.
    if (*p == 0 && acb_contains_zero(base.raw()) != 0) {
      return BallStatus::kUnknown;
    }
    if (*q != 1) {
      if (!real || arb_contains_zero(acb_realref(base.raw())) != 0) {
        if (!point_.empty()) {
          return acb_is_zero(base.raw()) != 0 ? BallStatus::kOutside : BallStatus::kUnknown;
        }
        return ComplexPower(base, exponent, result);
      }
      const bool negative = arb_is_negative(acb_realref(base.raw())) != 0;
      if (negative && *q % 2 == 0) {
        return point_.empty() ? ComplexPower(base, exponent, result) : BallStatus::kOutside;
      }
      Ball root(base);
      if (negative) {
        acb_neg(root.raw(), root.raw());
      }
      arb_root_ui(acb_realref(root.raw()), acb_realref(root.raw()), static_cast<ulong>(*q),
                  precision_);
      if (negative) {
        acb_neg(root.raw(), root.raw());
      }
      return IntegerPower(root, *p, result);
    }
    return IntegerPower(base, *p, result);
  }

  BallStatus ComplexPower(const Ball& base, const Rational& exponent, Ball& result) const {
    if (acb_is_zero(base.raw()) != 0) {
      acb_zero(result.raw());
      return BallStatus::kValue;
    }
    if (acb_contains_zero(base.raw()) != 0) {
      return BallStatus::kUnknown;
    }
    Ball logarithm;
    Ball power;
    acb_log(logarithm.raw(), base.raw(), precision_);
    acb_set_fmpq(power.raw(), exponent.raw(), precision_);
    acb_mul(logarithm.raw(), logarithm.raw(), power.raw(), precision_);
    return Exponential(logarithm, result);
  }

  // |log2| of the middle of a ball, roughly; 0 for zero.
  static double Magnitude(const arb_t part) {
    if (arf_is_zero(arb_midref(part)) != 0) {
      return 0;
    }
    return std::fabs(static_cast<double>(arf_abs_bound_lt_2exp_si(arb_midref(part))));
  }

  BallStatus IntegerPower(const Ball& base, long exponent, Ball& result) const {
    // The result must stay below the bound on magnitudes before it is computed.
    const double size = Magnitude(acb_realref(base.raw())) + Magnitude(acb_imagref(base.raw()));
    if ((size + 1) * static_cast<double>(std::labs(exponent)) >
        static_cast<double>(kMaxMagnitude)) {
      return BallStatus::kUnknown;
    }
    acb_pow_si(result.raw(), base.raw(), exponent, precision_);
    return BallStatus::kValue;
  }

  BallStatus Call(const Node& node, Ball& result) {
    if (node.args.empty()) {
      return BallStatus::kUnknown;
    }
    Ball x;
    const BallStatus status = Evaluate(node.args[0], x);
    if (status != BallStatus::kValue) {
      return status;
    }
    if (node.args.size() == 2 && node.text == "log") {
      Ball base;
      const BallStatus lower = Evaluate(node.args[1], base);
      return lower == BallStatus::kValue ? Logarithm(x, base, result) : lower;
    }
    if (node.args.size() == 1) {
      for (const NamedFunction& named : kFunctions) {
        if (named.name == node.text) {
          return Known(named, x, result);
        }
      }
      return Rounding(node.text, x, result);
    }
    return BallStatus::kUnknown;
  }

  BallStatus Known(const NamedFunction& named, const Ball& x, Ball& result) const {
    // Exponentially large arguments would only cost time.
    if (arf_cmpabs_2exp_si(arb_midref(acb_realref(x.raw())), 20) > 0 && named.name != "ln") {
      return BallStatus::kUnknown;
    }
    if (named.name == "ln" && acb_contains_zero(x.raw()) != 0) {
      return acb_is_zero(x.raw()) != 0 ? BallStatus::kOutside : BallStatus::kUnknown;
    }
    named.function(result.raw(), x.raw(), precision_);
    return x.IsReal() ? RealOnly(result) : BallStatus::kValue;
  }

  BallStatus Logarithm(const Ball& x, const Ball& base, Ball& result) const {
    if (acb_contains_zero(x.raw()) != 0 || acb_contains_zero(base.raw()) != 0) {
      return BallStatus::kUnknown;
    }
    Ball below;
    acb_log(result.raw(), x.raw(), precision_);
    acb_log(below.raw(), base.raw(), precision_);
    if (acb_contains_zero(below.raw()) != 0) {
      return BallStatus::kUnknown;
    }
    acb_div(result.raw(), result.raw(), below.raw(), precision_);
    return RealOnly(result);
  }

  BallStatus Rounding(const std::string& name, const Ball& x, Ball& result) {
    if (name == "abs") {
      acb_zero(result.raw());
      acb_abs(acb_realref(result.raw()), x.raw(), precision_);
      return BallStatus::kValue;
    }
    if (name == "re" || name == "im") {
      acb_zero(result.raw());
      arb_set(acb_realref(result.raw()),
              name == "re" ? acb_realref(x.raw()) : acb_imagref(x.raw()));
      return BallStatus::kValue;
    }
    if ((name != "floor" && name != "ceil") || !x.IsReal()) {
      return BallStatus::kUnknown;
    }
    acb_zero(result.raw());
    if (name == "floor") {
      arb_floor(acb_realref(result.raw()), acb_realref(x.raw()), precision_);
    } else {
      arb_ceil(acb_realref(result.raw()), acb_realref(x.raw()), precision_);
    }
    return BallStatus::kValue;
  }

  const Expression& tree_;
  const Point& point_;
  long precision_;
  Budget& budget_;
};

}  // namespace

BallStatus EvaluateBall(const Expression& tree, NodeId id, const Point& point, long precision,
                        Budget& budget, Ball& result) {
  return BallEvaluator(tree, point, precision, budget).Evaluate(id, result);
}

}  // namespace hyper::answer

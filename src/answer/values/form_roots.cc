// Roots, logarithms and absolute values of a form, by its factors.
#include <flint/fmpz.h>
// Needs fmpz.h before it.
#include <flint/fmpz_factor.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/values/form.h"

namespace hyper::answer {
namespace {

// Numbers up to this size are factored completely; a larger one counts as its own factor.
constexpr double kMaxFactoredBits = 64;

}  // namespace

// Prime powers of a positive rational number, those of the denominator negative.
std::optional<std::vector<std::pair<Rational, long>>> FormBuilder::PrimePowers(
    const Rational& value) {
  std::vector<std::pair<Rational, long>> powers;
  for (const bool below : {false, true}) {
    const Rational part = below ? value.Denominator() : value.Numerator();
    if (part.IsOne()) {
      continue;
    }
    if (!budget_.Steps(20)) {
      return std::nullopt;
    }
    if (part.Bits() > kMaxFactoredBits) {
      powers.emplace_back(part, below ? -1 : 1);
      continue;
    }
    fmpz_factor_t factors;
    fmpz_factor_init(factors);
    fmpz_factor(factors, fmpq_numref(part.raw()));
    for (slong i = 0; i < factors->num; ++i) {
      Rational prime;
      fmpz_set(fmpq_numref(prime.raw()), factors->p + i);
      const auto power = static_cast<long>(factors->exp[i]);
      powers.emplace_back(std::move(prime), below ? -power : power);
    }
    fmpz_factor_clear(factors);
  }
  return powers;
}

// 1 or -1 where the factor is known to have that sign wherever both expressions are defined.
int FormBuilder::SignOf(const Fraction& factor) {
  if (const auto value = factor.AsRational()) {
    return value->Sign();
  }
  const int variable = factor.AsVariable();
  if (variable >= 0 && generators_[static_cast<size_t>(variable)].positive) {
    return 1;
  }
  if (factor.IsEvidentlyNonNegative(budget_)) {
    return 1;
  }
  const auto known = signs_.find(KeyOf(factor));
  return known == signs_.end() ? 0 : known->second;
}

// Sign of a product under an even root or a logarithm; 0 where it is unknown. With variables it
// is positive wherever the expression is real: where a single factor is of unknown sign, that sign
// follows and is learned.
int FormBuilder::SignUnderRoot(const Fraction::Factors& factors) {
  int sign = factors.unit.Sign();
  int unknown_factors = 0;
  const Fraction* unknown = nullptr;
  for (const auto& [factor, power] : factors.powers) {
    if (power % 2 == 0) {
      continue;
    }
    const int known = SignOf(factor);
    if (known == 0) {
      unknown = &factor;
      ++unknown_factors;
    } else {
      sign *= known;
    }
  }
  if (unknown_factors == 0) {
    return sign;
  }
  if (symbols_ == 0) {
    return 0;
  }
  if (unknown_factors == 1) {
    signs_.emplace(KeyOf(*unknown), sign);
    restart_ = true;
  }
  return 1;
}

// |factor|^(numerator/denominator).
FormBuilder::Form FormBuilder::AbsoluteRoot(const Fraction& factor, long numerator,
                                            long denominator) {
  if (denominator == 1) {
    const int sign = SignOf(factor);
    if (sign != 0) {
      return (sign > 0 ? factor : factor.Negated()).Power(numerator, budget_);
    }
    if (numerator % 2 == 0) {
      return factor.Power(numerator, budget_);
    }
  }
  if (root_denominator_ % denominator != 0) {
    Raise(root_denominator_, denominator);
    return std::nullopt;
  }
  const int variable = factor.AsVariable();
  if (variable >= static_cast<int>(symbols_)) {
    const Generator& base = generators_[static_cast<size_t>(variable)];
    if (denominator > 1 && base.key.rfind("root:", 0) == 0) {
      Raise(root_denominator_, root_denominator_ * denominator);
      return std::nullopt;
    }
    // A root of a root, or of an exponential.
    if (base.positive && base.logarithm) {
      const Form scaled = base.logarithm->Multiply(
          *Number(Rational(numerator, static_cast<unsigned long>(denominator))), budget_);
      return scaled ? Exponential(*scaled) : std::nullopt;
    }
  }
  const int index = Variable("root:" + std::to_string(root_denominator_) + ":" + KeyOf(factor));
  if (index < 0) {
    return std::nullopt;
  }
  if (generators_[static_cast<size_t>(index)].degree == 0) {
    const int sign = SignOf(factor);
    Form value = sign < 0 ? Form(factor.Negated())
                          : (sign > 0 ? Form(factor) : factor.Multiply(factor, budget_));
    if (!value) {
      return std::nullopt;
    }
    Generator& generator = generators_[static_cast<size_t>(index)];
    generator.degree = sign == 0 ? 2 * root_denominator_ : root_denominator_;
    generator.value = std::move(value);
    generator.of = factor;
    generator.positive = true;
  }
  return Fraction::Variable(*ring_, index)
      .Power(numerator * (root_denominator_ / denominator), budget_);
}

// One factor of the radicand: |f|^(power/q) under an even root, the real root under an odd one.
FormBuilder::Form FormBuilder::RootOfFactor(const Fraction& factor, long power, long q, bool even,
                                            int sign) {
  const long common = std::gcd(std::labs(power), q);
  const long numerator = power / common;
  const long denominator = q / common;
  if (even || sign > 0) {
    return AbsoluteRoot(factor, numerator, denominator);
  }
  if (denominator == 1) {
    return factor.Power(numerator, budget_);
  }
  if (sign < 0) {
    const Form root = AbsoluteRoot(factor, numerator, denominator);
    return root && numerator % 2 != 0 ? root->Negated() : root;
  }
  const int index = Variable("odd:" + std::to_string(denominator) + ":" + KeyOf(factor));
  if (index < 0) {
    return std::nullopt;
  }
  Generator& generator = generators_[static_cast<size_t>(index)];
  if (generator.degree == 0) {
    generator.degree = denominator;
    generator.value = factor;
  }
  return Fraction::Variable(*ring_, index).Power(numerator, budget_);
}

FormBuilder::Form FormBuilder::RootOfUnit(const Rational& unit, long p, long q) {
  Form result = Number(Rational(1));
  if (unit.Sign() < 0) {
    if (q % 2 != 0) {
      result = Number(Rational(p % 2 == 0 ? 1 : -1));
    } else if (q == 2) {
      const Form imaginary = Constant("i");
      result = imaginary ? imaginary->Power(p, budget_) : std::nullopt;
    } else {
      return OpaqueRoot(*Number(unit), p, q);
    }
  }
  const auto primes = PrimePowers(unit.Sign() < 0 ? unit.Negated() : unit);
  if (!primes) {
    return std::nullopt;
  }
  for (const auto& [prime, power] : *primes) {
    if (!result) {
      return std::nullopt;
    }
    const long common = std::gcd(std::labs(power * p), q);
    const Form root = AbsoluteRoot(*Number(prime), power * p / common, q / common);
    result = root ? result->Multiply(*root, budget_) : std::nullopt;
  }
  return result;
}

// base^(p/q) of which only the q-th power is known.
FormBuilder::Form FormBuilder::OpaqueRoot(const Fraction& base, long p, long q) {
  const Form root = Opaque("root(" + KeyOf(base) + "," + std::to_string(q) + ")");
  if (!root) {
    return std::nullopt;
  }
  Generator& generator = generators_[static_cast<size_t>(root->AsVariable())];
  generator.degree = q;
  generator.value = base;
  return root->Power(p, budget_);
}

// base^(p/q) in lowest terms, q > 1.
FormBuilder::Form FormBuilder::Root(const Fraction& base, long p, long q) {
  if (!IsReal(base)) {
    return OpaqueRoot(base, p, q);
  }
  const auto factors = base.Factor(budget_);
  if (!factors) {
    return std::nullopt;
  }
  const bool even = q % 2 == 0;
  Rational unit = factors->unit;
  if (even && !factors->powers.empty()) {
    const int sign = SignUnderRoot(*factors);
    if (restart_) {
      return std::nullopt;
    }
    if (sign == 0 || (sign < 0 && q != 2)) {
      return OpaqueRoot(base, p, q);
    }
    // sqrt(-R) = i sqrt(R): the sign of the whole goes with the unit.
    if ((unit.Sign() < 0) != (sign < 0)) {
      unit = unit.Negated();
    }
  }
  Form result = RootOfUnit(unit, p, q);
  for (const auto& [factor, power] : factors->powers) {
    if (!result) {
      return std::nullopt;
    }
    const Form root = RootOfFactor(factor, power * p, q, even, SignOf(factor));
    result = root ? result->Multiply(*root, budget_) : std::nullopt;
  }
  return result;
}

// ln|f|. Roots and exponentials give theirs away.
FormBuilder::Form FormBuilder::LogarithmOfFactor(const Fraction& factor) {
  const int variable = factor.AsVariable();
  if (variable >= 0) {
    const Generator generator = generators_[static_cast<size_t>(variable)];
    if (generator.logarithm) {
      return generator.logarithm;
    }
    if (generator.key.rfind("root:", 0) == 0) {
      const Form inner = LogarithmOfFactor(*generator.of);
      const Rational share(1, static_cast<unsigned long>(root_denominator_));
      return inner ? inner->Multiply(*Number(share), budget_) : std::nullopt;
    }
  }
  const int index = Variable("ln:" + KeyOf(factor));
  if (index < 0) {
    return std::nullopt;
  }
  generators_[static_cast<size_t>(index)].of = factor;
  return Fraction::Variable(*ring_, index);
}

FormBuilder::Form FormBuilder::Logarithm(const Fraction& x) {
  if (x.IsZero()) {
    return std::nullopt;
  }
  const auto factors = IsReal(x) ? x.Factor(budget_) : std::nullopt;
  if (!factors) {
    return Opaque("ln(" + KeyOf(x) + ")");
  }
  const int sign = SignUnderRoot(*factors);
  if (restart_) {
    return std::nullopt;
  }
  if (sign <= 0) {
    return Opaque("ln(" + KeyOf(x) + ")");
  }
  const auto primes =
      PrimePowers(factors->unit.Sign() < 0 ? factors->unit.Negated() : factors->unit);
  if (!primes) {
    return std::nullopt;
  }
  std::vector<std::pair<Fraction, long>> parts = factors->powers;
  for (const auto& [prime, power] : *primes) {
    parts.emplace_back(*Number(prime), power);
  }
  Form total = Number(Rational(0));
  for (const auto& [factor, power] : parts) {
    const Form logarithm = LogarithmOfFactor(factor);
    if (!logarithm) {
      return std::nullopt;
    }
    const Form scaled = logarithm->Multiply(*Number(Rational(power)), budget_);
    total = scaled ? total->Add(*scaled, budget_) : std::nullopt;
    if (!total) {
      return std::nullopt;
    }
  }
  return total;
}

FormBuilder::Form FormBuilder::Absolute(const Fraction& x) {
  if (x.IsZero()) {
    return x;
  }
  const auto factors = IsReal(x) ? x.Factor(budget_) : std::nullopt;
  if (!factors) {
    return Opaque("abs(" + KeyOf(x) + ")");
  }
  Form result = Number(factors->unit.Sign() < 0 ? factors->unit.Negated() : factors->unit);
  for (const auto& [factor, power] : factors->powers) {
    const Form part = AbsoluteRoot(factor, power, 1);
    result = part ? result->Multiply(*part, budget_) : std::nullopt;
    if (!result) {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace hyper::answer

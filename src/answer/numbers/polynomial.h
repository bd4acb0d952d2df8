// Rational functions with integer coefficients in a fixed number of variables, over FLINT.
#pragma once

#include <flint/fmpz_mpoly.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/numbers/exact.h"

namespace hyper::answer {

// The variables of a computation. Outlives every Fraction over it.
class PolynomialRing {
 public:
  explicit PolynomialRing(int variables) : variables_(variables) {
    fmpz_mpoly_ctx_init(context_, variables, ORD_LEX);
  }
  PolynomialRing(const PolynomialRing&) = delete;
  PolynomialRing& operator=(const PolynomialRing&) = delete;
  ~PolynomialRing() { fmpz_mpoly_ctx_clear(context_); }
  int variables() const { return variables_; }
  const fmpz_mpoly_ctx_struct* raw() const { return context_; }
  fmpz_mpoly_ctx_struct* raw() { return context_; }

 private:
  int variables_;
  fmpz_mpoly_ctx_t context_;
};

// A quotient of polynomials in lowest terms. Operations estimate their work first and return
// nothing when the budget refuses, or for a division by zero.
class Fraction {
 public:
  explicit Fraction(PolynomialRing& ring) : ring_(&ring) {
    fmpz_mpoly_init(above_, ring.raw());
    fmpz_mpoly_init(below_, ring.raw());
    fmpz_mpoly_one(below_, ring.raw());
  }
  Fraction(const Fraction& other) : Fraction(*other.ring_) { *this = other; }
  Fraction(Fraction&& other) noexcept : Fraction(*other.ring_) { *this = std::move(other); }
  Fraction& operator=(const Fraction& other) {
    if (this == &other) {
      return *this;
    }
    fmpz_mpoly_set(above_, other.above_, ring_->raw());
    fmpz_mpoly_set(below_, other.below_, ring_->raw());
    return *this;
  }
  Fraction& operator=(Fraction&& other) noexcept {
    fmpz_mpoly_swap(above_, other.above_, ring_->raw());
    fmpz_mpoly_swap(below_, other.below_, ring_->raw());
    return *this;
  }
  ~Fraction() {
    fmpz_mpoly_clear(above_, ring_->raw());
    fmpz_mpoly_clear(below_, ring_->raw());
  }

  static Fraction Of(PolynomialRing& ring, const Rational& value);
  static Fraction Variable(PolynomialRing& ring, int index);

  bool IsZero() const { return fmpz_mpoly_is_zero(above_, ring_->raw()) != 0; }
  // The value where no variable is left.
  std::optional<Rational> AsRational() const;
  // Whether the variable occurs.
  bool Uses(int variable) const;
  // Size that the cost of operations grows with: terms of numerator and denominator.
  double Terms() const;

  std::optional<Fraction> Add(const Fraction& other, Budget& budget) const;
  std::optional<Fraction> Multiply(const Fraction& other, Budget& budget) const;
  std::optional<Fraction> Power(long exponent, Budget& budget) const;
  Fraction Negated() const;
  // Times its denominator.
  Fraction Numerator() const;

  // With variable^degree replaced by `value` in numerator and denominator until no such power is
  // left; nothing where the denominator becomes zero.
  std::optional<Fraction> Reduced(int variable, long degree, const Fraction& value,
                                  Budget& budget) const;

  // Irreducible factors of numerator (positive powers) and denominator (negative), and the
  // rational unit in front. Factors have a positive leading coefficient and are no constants.
  struct Factors {
    Rational unit;
    std::vector<std::pair<Fraction, long>> powers;
  };
  std::optional<Factors> Factor(Budget& budget) const;

  // The terms of a polynomial (denominator a constant): coefficient and monomial; nothing for a
  // proper fraction.
  struct Term {
    Rational coefficient;
    std::vector<unsigned long> exponents;
  };
  std::optional<std::vector<Term>> Terms(Budget& budget) const;
  // The variable if this is one alone, else -1.
  int AsVariable() const;
  // Whether every term of this polynomial is non-negative for all real variables: even powers
  // with positive coefficients.
  bool IsEvidentlyNonNegative(Budget& budget) const;

  // One text per value, given names for the variables (a name per variable of the ring).
  std::string ToString(const std::vector<std::string>& names) const;

 private:
  // Takes the steps of an operation on operands with so many terms.
  static bool Spend(double terms, const Fraction& a, const Fraction& b, Budget& budget);
  double CoefficientBits() const;
  bool IsPolynomial() const { return fmpz_mpoly_is_fmpz(below_, ring_->raw()) != 0; }
  // One polynomial with variable^degree replaced.
  std::optional<Fraction> Substitute(const fmpz_mpoly_struct* polynomial, int variable, long degree,
                                     const Fraction& value, Budget& budget) const;

  PolynomialRing* ring_;
  // Without a common divisor, and with a positive leading coefficient below.
  fmpz_mpoly_t above_;
  fmpz_mpoly_t below_;
};

}  // namespace hyper::answer

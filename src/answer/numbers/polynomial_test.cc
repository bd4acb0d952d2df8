#include "src/answer/numbers/polynomial.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace hyper::answer {
namespace {

// A polynomial in x and y by its coefficients: of 1, x, y, xy.
using Coefficients = std::vector<long>;

long ValueAt(const Coefficients& c, long x, long y) {
  return c[0] + c[1] * x + c[2] * y + c[3] * x * y;
}

class FractionTest : public ::testing::Test {
 protected:
  Fraction Number(long value) { return Fraction::Of(ring_, Rational(value)); }
  Fraction Times(const Fraction& a, const Fraction& b) { return *a.Multiply(b, budget_); }
  Fraction Plus(const Fraction& a, const Fraction& b) { return *a.Add(b, budget_); }
  Fraction Polynomial(const Coefficients& c) {
    const Fraction linear = Plus(Times(Number(c[1]), x_), Times(Number(c[2]), y_));
    return Plus(Plus(Number(c[0]), linear), Times(Number(c[3]), Times(x_, y_)));
  }

  // The value at a point, by the factors of the fraction; nothing at a pole.
  std::optional<Rational> Evaluate(const Fraction& fraction, long x, long y) {
    if (fraction.IsZero()) {
      return Rational(0);
    }
    const auto factors = fraction.Factor(budget_);
    std::optional<Rational> value = factors->unit;
    for (const auto& [factor, power] : factors->powers) {
      Rational sum(0);
      const auto terms = factor.Terms(budget_);
      for (const Fraction::Term& term : *terms) {
        Rational product = term.coefficient;
        product = *product.Multiply(
            *Rational(x).Power(static_cast<long>(term.exponents[0]), budget_), budget_);
        product = *product.Multiply(
            *Rational(y).Power(static_cast<long>(term.exponents[1]), budget_), budget_);
        sum = *sum.Add(product, budget_);
      }
      const auto raised = sum.Power(power, budget_);
      value = raised ? value->Multiply(*raised, budget_) : std::nullopt;
      if (!value) {
        return std::nullopt;
      }
    }
    return value;
  }

  Budget budget_{10'000'000, size_t{1} << 30};
  PolynomialRing ring_{2};
  Fraction x_ = Fraction::Variable(ring_, 0);
  Fraction y_ = Fraction::Variable(ring_, 1);
};

TEST_F(FractionTest, AnInverseTimesItsFractionIsOne) {
  for (const Coefficients& c : std::vector<Coefficients>{
           {1, -1, 0, 0}, {-1, 1, 0, 0}, {-2, 0, 0, 0}, {3, 0, -2, 0}, {0, 0, 0, -1}}) {
    const Fraction fraction = Polynomial(c);
    const auto inverse = fraction.Power(-1, budget_);
    ASSERT_TRUE(inverse);
    EXPECT_EQ(Times(*inverse, fraction).AsRational(), Rational(1));
    EXPECT_EQ(inverse->Power(-1, budget_)->ToString({"x", "y"}), fraction.ToString({"x", "y"}));
  }
}

TEST_F(FractionTest, ZeroHasNoInverse) {
  EXPECT_FALSE(Number(0).Power(-1, budget_));
  EXPECT_EQ(Number(0).Power(0, budget_)->AsRational(), Rational(1));
}

// Against the values of numerator and denominator at integer points.
TEST_F(FractionTest, PowersOfRandomFractionsHaveTheirValues) {
  std::mt19937 random(7);
  std::uniform_int_distribution<long> small(-3, 3);
  int compared = 0;
  for (int round = 0; round < 200; ++round) {
    const Coefficients above = {small(random), small(random), small(random), small(random)};
    const Coefficients below = {small(random), small(random), small(random), small(random)};
    if (Polynomial(above).IsZero() || Polynomial(below).IsZero()) {
      continue;
    }
    const Fraction fraction = Times(Polynomial(above), *Polynomial(below).Power(-1, budget_));
    for (const long exponent : {-3L, -2L, -1L, 1L, 2L, 3L}) {
      const auto power = fraction.Power(exponent, budget_);
      ASSERT_TRUE(power);
      for (const auto& [x, y] : {std::pair(5L, 2L), std::pair(-4L, 7L), std::pair(3L, -11L)}) {
        const long top = ValueAt(above, x, y);
        const long bottom = ValueAt(below, x, y);
        if (top == 0 || bottom == 0) {
          continue;
        }
        const auto quotient = Rational(top).Multiply(*Rational(bottom).Power(-1, budget_), budget_);
        const auto value = Evaluate(*power, x, y);
        ASSERT_TRUE(value);
        EXPECT_EQ(*value, *quotient->Power(exponent, budget_))
            << fraction.ToString({"x", "y"}) << " to the " << exponent << " at " << x << ", " << y;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 2000);
}

}  // namespace
}  // namespace hyper::answer

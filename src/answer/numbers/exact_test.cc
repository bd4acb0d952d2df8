#include "src/answer/numbers/exact.h"

#include <gtest/gtest.h>

namespace hyper::answer {
namespace {

class ExactTest : public ::testing::Test {
 protected:
  Budget budget_{100'000, 1 << 24};
  Rational Long(const char* digits, long fraction_digits) {
    const auto value = Rational::FromDigits(digits, fraction_digits, 0, 10, budget_);
    return RationalOfLongDecimal(*value, fraction_digits, budget_);
  }
};

TEST_F(ExactTest, DigitsWithPointExponentAndBase) {
  EXPECT_EQ(Rational::FromDigits("125", 2, 0, 10, budget_)->ToString(), "5/4");
  EXPECT_EQ(Rational::FromDigits("672", 3, -4, 10, budget_)->ToString(), "21/312500");
  EXPECT_EQ(Rational::FromDigits("52", 0, 0, 8, budget_)->ToString(), "42");
}

TEST_F(ExactTest, LongDecimalStandsForOneSmallFraction) {
  EXPECT_EQ(Long("00833333333333333", 16), Rational(1, 12));
  EXPECT_EQ(Long("0333333333333", 12), Rational(1, 3));
  // The last digit is wrongly rounded: it is not 2/3.
  EXPECT_FALSE(Long("0666666666666", 12) == Rational(2, 3));
  EXPECT_EQ(Long("0666666666667", 12), Rational(2, 3));
}

TEST_F(ExactTest, LongDecimalWithoutAFractionKeepsItsValue) {
  // sqrt(2) to 15 decimals: no fraction with a denominator below 10^6 rounds to it.
  EXPECT_EQ(Long("1414213562373095", 15).ToString(), "282842712474619/200000000000000");
  // Many fractions with such denominators round to one decimal this coarse.
  EXPECT_EQ(Long("123456789123", 1).ToString(), "123456789123/10");
}

TEST_F(ExactTest, RootsAreExactOrNothing) {
  EXPECT_EQ(Rational(4, 9).Root(2, budget_)->ToString(), "2/3");
  EXPECT_EQ(Rational(-8).Root(3, budget_)->ToString(), "-2");
  EXPECT_FALSE(Rational(2).Root(2, budget_));
  EXPECT_FALSE(Rational(-4).Root(2, budget_));
}

TEST_F(ExactTest, HugePowerIsRefusedAndExhausts) {
  EXPECT_FALSE(Rational(5).Power(1L << 40, budget_));
  EXPECT_TRUE(budget_.exhausted());
  EXPECT_FALSE(Rational(1).Add(Rational(1), budget_));
}

TEST_F(ExactTest, ZeroToANegativePowerIsNothing) {
  EXPECT_FALSE(Rational(0).Power(-1, budget_));
  EXPECT_FALSE(budget_.exhausted());
}

}  // namespace
}  // namespace hyper::answer

// Exact rational numbers over FLINT, and the work budget that every computation draws on.
#pragma once

#include <flint/fmpq.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hyper::answer {

// Steps and bytes left in one call. Everything that loops or allocates asks first; once a
// request is refused, the budget stays exhausted and every later request is refused too.
class Budget {
 public:
  Budget(size_t steps, size_t bytes) : steps_(steps), bytes_(bytes) {}
  // Takes n steps; false when they are not there.
  bool Steps(size_t n = 1);
  // Takes the bytes of an operand of so many bits, and the steps to write it.
  bool Bits(double bits);
  // Refuses everything from now on: the computation is known to be out of reach.
  void Exhaust() { exhausted_ = true; }
  bool exhausted() const { return exhausted_; }

 private:
  size_t steps_;
  size_t bytes_;
  bool exhausted_ = false;
};

// A rational number in lowest terms. Value type; operations that can grow ask the budget first
// and return nothing when it refuses.
class Rational {
 public:
  Rational() { fmpq_init(value_); }
  explicit Rational(long numerator, unsigned long denominator = 1);
  Rational(const Rational& other);
  Rational(Rational&& other) noexcept;
  Rational& operator=(const Rational& other);
  Rational& operator=(Rational&& other) noexcept;
  ~Rational() { fmpq_clear(value_); }

  // The number that `digits` (non-empty, valid in the base, 2 to 36) with the last
  // `fraction_digits` of them behind the point stands for, times base^exponent.
  static std::optional<Rational> FromDigits(std::string_view digits, long fraction_digits,
                                            long exponent, int base, Budget& budget);

  bool IsZero() const { return fmpq_is_zero(value_) != 0; }
  bool IsOne() const { return fmpq_is_one(value_) != 0; }
  bool IsInteger() const { return fmpz_is_one(fmpq_denref(value_)) != 0; }
  int Sign() const { return fmpq_sgn(value_); }
  // Upper bound for the bits of numerator and denominator together.
  double Bits() const;
  // The value as an integer, when it is one and lies in [-limit, limit].
  std::optional<long> ToLong(long limit) const;
  std::string ToString() const;

  std::optional<Rational> Add(const Rational& other, Budget& budget) const;
  std::optional<Rational> Multiply(const Rational& other, Budget& budget) const;
  // Nothing for 0 to a negative power.
  std::optional<Rational> Power(long exponent, Budget& budget) const;
  // The exact q-th root (q >= 1), real; nothing where it is irrational or not real.
  std::optional<Rational> Root(unsigned long q, Budget& budget) const;
  // What is left after division by a positive number, in [0, other).
  std::optional<Rational> Modulo(const Rational& other, Budget& budget) const;
  Rational Negated() const;
  Rational Floor() const;
  Rational Numerator() const;
  Rational Denominator() const;

  friend bool operator==(const Rational& a, const Rational& b) {
    return fmpq_equal(a.value_, b.value_) != 0;
  }
  friend bool operator<(const Rational& a, const Rational& b) {
    return fmpq_cmp(a.value_, b.value_) < 0;
  }

  fmpq* raw() { return value_; }
  const fmpq* raw() const { return value_; }

 private:
  fmpq_t value_;
};

// The one rational with denominator below 10^6 that rounds to this decimal of at least 12
// significant digits, if there is exactly one; else the decimal's own value.
//   value: what the digits say      fraction_digits: how many of them are behind the point
Rational RationalOfLongDecimal(const Rational& value, long fraction_digits, Budget& budget);

}  // namespace hyper::answer

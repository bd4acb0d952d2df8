#include "src/answer/numbers/exact.h"

#include <cmath>
#include <string>
#include <utility>

namespace hyper::answer {
namespace {

// Frees FLINT's per-thread caches when a thread that used them ends.
struct FlintThread {
  ~FlintThread() { flint_cleanup(); }
};

constexpr double kMaxOperandBits = 1 << 20;
constexpr long kRationalDenominators = 1'000'000;

}  // namespace

bool Budget::Steps(size_t n) {
  if (exhausted_ || n > steps_) {
    exhausted_ = true;
    return false;
  }
  steps_ -= n;
  return true;
}

bool Budget::Bits(double bits) {
  thread_local FlintThread thread;
  (void)thread;
  if (exhausted_ || !(bits <= kMaxOperandBits) || bits / 8 > static_cast<double>(bytes_)) {
    exhausted_ = true;
    return false;
  }
  bytes_ -= static_cast<size_t>(bits / 8);
  return Steps(1 + static_cast<size_t>(bits / 4096));
}

Rational::Rational(long numerator, unsigned long denominator) {
  fmpq_init(value_);
  fmpq_set_si(value_, numerator, denominator);
}

Rational::Rational(const Rational& other) {
  fmpq_init(value_);
  fmpq_set(value_, other.value_);
}

Rational::Rational(Rational&& other) noexcept {
  fmpq_init(value_);
  fmpq_swap(value_, other.value_);
}

Rational& Rational::operator=(const Rational& other) {
  if (this != &other) {
    fmpq_set(value_, other.value_);
  }
  return *this;
}

Rational& Rational::operator=(Rational&& other) noexcept {
  fmpq_swap(value_, other.value_);
  return *this;
}

std::optional<Rational> Rational::FromDigits(std::string_view digits, long fraction_digits,
                                             long exponent, int base, Budget& budget) {
  const double bits_per_digit = std::log2(base);
  const double shift = static_cast<double>(exponent) - static_cast<double>(fraction_digits);
  if (!budget.Bits((static_cast<double>(digits.size()) + std::fabs(shift)) * bits_per_digit + 64)) {
    return std::nullopt;
  }
  Rational result;
  const std::string text(digits);
  if (fmpz_set_str(fmpq_numref(result.value_), text.c_str(), base) != 0) {
    return std::nullopt;
  }
  Rational scale(base);
  const long power = exponent - fraction_digits;
  fmpq_pow_si(scale.value_, scale.value_, power);
  fmpq_mul(result.value_, result.value_, scale.value_);
  return result;
}

double Rational::Bits() const {
  return static_cast<double>(fmpz_bits(fmpq_numref(value_))) +
         static_cast<double>(fmpz_bits(fmpq_denref(value_)));
}

std::optional<long> Rational::ToLong(long limit) const {
  if (!IsInteger() || fmpz_cmpabs(fmpq_numref(value_), fmpq_numref(Rational(limit).value_)) > 0) {
    return std::nullopt;
  }
  return fmpz_get_si(fmpq_numref(value_));
}

std::string Rational::ToString() const {
  char* text = fmpq_get_str(nullptr, 10, value_);
  std::string result(text);
  flint_free(text);
  return result;
}

std::optional<Rational> Rational::Add(const Rational& other, Budget& budget) const {
  if (!budget.Bits(Bits() + other.Bits() + 1)) {
    return std::nullopt;
  }
  Rational result;
  fmpq_add(result.value_, value_, other.value_);
  return result;
}

std::optional<Rational> Rational::Multiply(const Rational& other, Budget& budget) const {
  if (!budget.Bits(Bits() + other.Bits())) {
    return std::nullopt;
  }
  Rational result;
  fmpq_mul(result.value_, value_, other.value_);
  return result;
}

std::optional<Rational> Rational::Power(long exponent, Budget& budget) const {
  if (IsZero() && exponent < 0) {
    return std::nullopt;
  }
  if (!budget.Bits(Bits() * std::fabs(static_cast<double>(exponent)) + 64)) {
    return std::nullopt;
  }
  Rational result;
  fmpq_pow_si(result.value_, value_, exponent);
  return result;
}

std::optional<Rational> Rational::Root(unsigned long q, Budget& budget) const {
  if (q == 1) {
    return *this;
  }
  if (Sign() < 0 && q % 2 == 0) {
    return std::nullopt;
  }
  if (!budget.Bits(Bits())) {
    return std::nullopt;
  }
  Rational result;
  if (fmpz_root(fmpq_numref(result.value_), fmpq_numref(value_), static_cast<slong>(q)) == 0 ||
      fmpz_root(fmpq_denref(result.value_), fmpq_denref(value_), static_cast<slong>(q)) == 0) {
    return std::nullopt;
  }
  return result;
}

std::optional<Rational> Rational::Modulo(const Rational& other, Budget& budget) const {
  const auto inverse = other.Power(-1, budget);
  const auto quotient = inverse ? Multiply(*inverse, budget) : std::nullopt;
  const auto whole = quotient ? quotient->Floor().Multiply(other, budget) : std::nullopt;
  return whole ? Add(whole->Negated(), budget) : std::nullopt;
}

Rational Rational::Negated() const {
  Rational result;
  fmpq_neg(result.value_, value_);
  return result;
}

Rational Rational::Floor() const {
  Rational result;
  fmpz_fdiv_q(fmpq_numref(result.value_), fmpq_numref(value_), fmpq_denref(value_));
  return result;
}

Rational Rational::Numerator() const {
  Rational result;
  fmpz_set(fmpq_numref(result.value_), fmpq_numref(value_));
  return result;
}

Rational Rational::Denominator() const {
  Rational result;
  fmpz_set(fmpq_numref(result.value_), fmpq_denref(value_));
  return result;
}

Rational RationalOfLongDecimal(const Rational& value, long fraction_digits, Budget& budget) {
  const auto half_unit = Rational::FromDigits("5", 1, -fraction_digits, 10, budget);
  if (!half_unit) {
    return value;
  }
  const auto low = value.Add(half_unit->Negated(), budget);
  const auto high = value.Add(*half_unit, budget);
  if (!low || !high) {
    return value;
  }
  Rational simplest;
  fmpq_simplest_between(simplest.raw(), low->raw(), high->raw());
  const fmpz* denominator = fmpq_denref(simplest.raw());
  if (fmpz_cmp_si(denominator, kRationalDenominators) >= 0) {
    return value;
  }
  Rational left;
  Rational right;
  const Rational largest(kRationalDenominators - 1);
  fmpq_farey_neighbors(left.raw(), right.raw(), simplest.raw(), fmpq_numref(largest.raw()));
  const bool alone = left < *low && *high < right;
  return alone ? simplest : value;
}

}  // namespace hyper::answer

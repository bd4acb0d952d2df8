#include "src/answer/numbers/polynomial.h"

#include <flint/fmpz_mpoly_factor.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/numbers/quotient.h"

namespace hyper::answer {
namespace {

// Beyond these a greatest common divisor or a factorisation could take seconds; sums and products
// of polynomials need neither.
constexpr double kMaxTerms = 800;
constexpr double kMaxPolynomialTerms = 20'000;
constexpr double kMaxCoefficientBits = 20'000;
constexpr long kMaxDegree = 2'000;
constexpr long kMaxFactorTerms = 60;
constexpr long kMaxFactorDegree = 40;

// Total degree, or a number beyond every limit.
long TotalDegree(const fmpz_mpoly_struct* polynomial, const fmpz_mpoly_ctx_struct* context) {
  if (fmpz_mpoly_total_degree_fits_si(polynomial, context) == 0) {
    return kMaxDegree * 1000;
  }
  return fmpz_mpoly_total_degree_si(polynomial, context);
}

}  // namespace

Fraction Fraction::Of(PolynomialRing& ring, const Rational& value) {
  Fraction result(ring);
  fmpz_mpoly_set_fmpz(result.above_, fmpq_numref(value.raw()), ring.raw());
  fmpz_mpoly_set_fmpz(result.below_, fmpq_denref(value.raw()), ring.raw());
  return result;
}

Fraction Fraction::Variable(PolynomialRing& ring, int index) {
  Fraction result(ring);
  fmpz_mpoly_gen(result.above_, index, ring.raw());
  return result;
}

std::optional<Rational> Fraction::AsRational() const {
  if (fmpz_mpoly_is_fmpz(above_, ring_->raw()) == 0 || !IsPolynomial()) {
    return std::nullopt;
  }
  Rational result;
  fmpz_mpoly_get_fmpz(fmpq_numref(result.raw()), above_, ring_->raw());
  fmpz_mpoly_get_fmpz(fmpq_denref(result.raw()), below_, ring_->raw());
  return result;
}

bool Fraction::Uses(int variable) const {
  return fmpz_mpoly_degree_si(above_, variable, ring_->raw()) > 0 ||
         fmpz_mpoly_degree_si(below_, variable, ring_->raw()) > 0;
}

double Fraction::Terms() const {
  return static_cast<double>(fmpz_mpoly_length(above_, ring_->raw()) +
                             fmpz_mpoly_length(below_, ring_->raw()));
}

double Fraction::CoefficientBits() const {
  const slong numerator = fmpz_mpoly_max_bits(above_);
  const slong denominator = fmpz_mpoly_max_bits(below_);
  return static_cast<double>(std::labs(numerator) + std::labs(denominator));
}

bool Fraction::Spend(double terms, const Fraction& a, const Fraction& b, Budget& budget) {
  const fmpz_mpoly_ctx_struct* context = a.ring_->raw();
  const double bits = a.CoefficientBits() + b.CoefficientBits();
  long degree = 0;
  for (const Fraction* operand : {&a, &b}) {
    degree = std::max(degree, TotalDegree(operand->above_, context));
    degree = std::max(degree, TotalDegree(operand->below_, context));
  }
  // A single term is cheap whatever its degree.
  const bool single = a.Terms() <= 2 && b.Terms() <= 2;
  const bool dense = degree > (single ? kMaxDegree * 100 : kMaxDegree);
  const bool polynomials = a.IsPolynomial() && b.IsPolynomial();
  if (terms > (polynomials ? kMaxPolynomialTerms : kMaxTerms) || bits > kMaxCoefficientBits ||
      dense) {
    return false;
  }
  return budget.Bits(terms * (bits + 64)) &&
         budget.Steps(2 + static_cast<size_t>(polynomials ? terms / 16 : terms / 2));
}

std::optional<Fraction> Fraction::Add(const Fraction& other, Budget& budget) const {
  const double terms =
      IsPolynomial() && other.IsPolynomial() ? Terms() + other.Terms() : Terms() * other.Terms();
  if (!Spend(terms, *this, other, budget)) {
    return std::nullopt;
  }
  Fraction result(*ring_);
  HyperQuotientAdd(result.above_, result.below_, above_, below_, other.above_, other.below_,
                   ring_->raw());
  return result;
}

std::optional<Fraction> Fraction::Multiply(const Fraction& other, Budget& budget) const {
  if (!Spend(Terms() * other.Terms(), *this, other, budget)) {
    return std::nullopt;
  }
  Fraction result(*ring_);
  HyperQuotientMultiply(result.above_, result.below_, above_, below_, other.above_, other.below_,
                        ring_->raw());
  return result;
}

std::optional<Fraction> Fraction::Power(long exponent, Budget& budget) const {
  if (exponent < 0) {
    if (IsZero()) {
      return std::nullopt;
    }
    Fraction inverse(*this);
    fmpz_mpoly_swap(inverse.above_, inverse.below_, ring_->raw());
    if (fmpz_sgn(inverse.below_->coeffs) < 0) {
      fmpz_mpoly_neg(inverse.above_, inverse.above_, ring_->raw());
      fmpz_mpoly_neg(inverse.below_, inverse.below_, ring_->raw());
    }
    return inverse.Power(-exponent, budget);
  }
  Fraction result = Of(*ring_, Rational(1));
  Fraction square = *this;
  for (long left = exponent; left > 0; left >>= 1) {
    if ((left & 1) != 0) {
      auto product = result.Multiply(square, budget);
      if (!product) {
        return std::nullopt;
      }
      result = std::move(*product);
    }
    if (left > 1) {
      auto next = square.Multiply(square, budget);
      if (!next) {
        return std::nullopt;
      }
      square = std::move(*next);
    }
  }
  return result;
}

Fraction Fraction::Negated() const {
  Fraction result(*this);
  fmpz_mpoly_neg(result.above_, result.above_, ring_->raw());
  return result;
}

Fraction Fraction::Numerator() const {
  Fraction result(*this);
  fmpz_mpoly_one(result.below_, ring_->raw());
  return result;
}

std::optional<Fraction> Fraction::Substitute(const fmpz_mpoly_struct* polynomial, int variable,
                                             long degree, const Fraction& value,
                                             Budget& budget) const {
  // Terms grouped by how often the power goes into them; the group's factor is value^times.
  std::vector<std::pair<long, Fraction>> groups;
  const slong length = fmpz_mpoly_length(polynomial, ring_->raw());
  std::vector<ulong> exponents(static_cast<size_t>(ring_->variables()));
  for (slong i = 0; i < length; ++i) {
    fmpz_mpoly_get_term_exp_ui(exponents.data(), polynomial, i, ring_->raw());
    ulong& exponent = exponents[static_cast<size_t>(variable)];
    const long times = static_cast<long>(exponent / static_cast<ulong>(degree));
    exponent %= static_cast<ulong>(degree);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& entry) { return entry.first == times; });
    if (group == groups.end()) {
      groups.emplace_back(times, Fraction(*ring_));
      group = groups.end() - 1;
    }
    Rational coefficient;
    fmpz_mpoly_get_term_coeff_fmpz(fmpq_numref(coefficient.raw()), polynomial, i, ring_->raw());
    fmpz_mpoly_struct* numerator = group->second.above_;
    fmpz_mpoly_push_term_fmpz_ui(numerator, fmpq_numref(coefficient.raw()), exponents.data(),
                                 ring_->raw());
  }
  Fraction total(*ring_);
  for (auto& [times, group] : groups) {
    fmpz_mpoly_struct* numerator = group.above_;
    fmpz_mpoly_sort_terms(numerator, ring_->raw());
    fmpz_mpoly_combine_like_terms(numerator, ring_->raw());
    const auto factor = value.Power(times, budget);
    if (!factor) {
      return std::nullopt;
    }
    const auto product = group.Multiply(*factor, budget);
    if (!product) {
      return std::nullopt;
    }
    auto sum = total.Add(*product, budget);
    if (!sum) {
      return std::nullopt;
    }
    total = std::move(*sum);
  }
  return total;
}

std::optional<Fraction> Fraction::Reduced(int variable, long degree, const Fraction& value,
                                          Budget& budget) const {
  const auto numerator = Substitute(above_, variable, degree, value, budget);
  const auto denominator = Substitute(below_, variable, degree, value, budget);
  if (!numerator || !denominator || denominator->IsZero()) {
    return std::nullopt;
  }
  const auto inverse = denominator->Power(-1, budget);
  return inverse ? numerator->Multiply(*inverse, budget) : std::nullopt;
}

std::optional<Fraction::Factors> Fraction::Factor(Budget& budget) const {
  if (IsZero()) {
    return std::nullopt;
  }
  Factors result;
  result.unit = Rational(1);
  for (const bool below : {false, true}) {
    const fmpz_mpoly_struct* polynomial = below ? below_ : above_;
    const slong length = fmpz_mpoly_length(polynomial, ring_->raw());
    if (length > kMaxFactorTerms ||
        (length > 1 && TotalDegree(polynomial, ring_->raw()) > kMaxFactorDegree) ||
        !budget.Steps(static_cast<size_t>(length * length) + 20)) {
      return std::nullopt;
    }
    fmpz_mpoly_factor_t factors;
    fmpz_mpoly_factor_init(factors, ring_->raw());
    const bool done = fmpz_mpoly_factor(factors, polynomial, ring_->raw()) != 0;
    Rational constant;
    if (done) {
      fmpz_set(fmpq_numref(constant.raw()), factors->constant);
      for (slong i = 0; i < factors->num; ++i) {
        Fraction factor(*ring_);
        fmpz_mpoly_set(factor.above_, factors->poly + i, ring_->raw());
        const long power = fmpz_get_si(factors->exp + i);
        result.powers.emplace_back(std::move(factor), below ? -power : power);
      }
    }
    fmpz_mpoly_factor_clear(factors, ring_->raw());
    if (!done) {
      return std::nullopt;
    }
    auto scale = constant.Power(below ? -1 : 1, budget);
    auto unit = scale ? result.unit.Multiply(*scale, budget) : std::nullopt;
    if (!unit) {
      return std::nullopt;
    }
    result.unit = std::move(*unit);
  }
  return result;
}

std::optional<std::vector<Fraction::Term>> Fraction::Terms(Budget& budget) const {
  if (!IsPolynomial()) {
    return std::nullopt;
  }
  Rational scale;
  fmpz_mpoly_get_fmpz(fmpq_numref(scale.raw()), below_, ring_->raw());
  const auto inverse = scale.Power(-1, budget);
  if (!inverse) {
    return std::nullopt;
  }
  std::vector<Term> terms;
  for (slong i = 0; i < fmpz_mpoly_length(above_, ring_->raw()); ++i) {
    Rational coefficient;
    fmpz_mpoly_get_term_coeff_fmpz(fmpq_numref(coefficient.raw()), above_, i, ring_->raw());
    auto scaled = coefficient.Multiply(*inverse, budget);
    if (!scaled) {
      return std::nullopt;
    }
    Term term{std::move(*scaled),
              std::vector<unsigned long>(static_cast<size_t>(ring_->variables()))};
    fmpz_mpoly_get_term_exp_ui(term.exponents.data(), above_, i, ring_->raw());
    terms.push_back(std::move(term));
  }
  return terms;
}

int Fraction::AsVariable() const {
  if (fmpz_mpoly_is_one(below_, ring_->raw()) == 0) {
    return -1;
  }
  for (int i = 0; i < ring_->variables(); ++i) {
    if (fmpz_mpoly_is_gen(above_, i, ring_->raw()) != 0) {
      return i;
    }
  }
  return -1;
}

bool Fraction::IsEvidentlyNonNegative(Budget& budget) const {
  const auto terms = Terms(budget);
  return terms && std::all_of(terms->begin(), terms->end(), [](const Term& term) {
           return term.coefficient.Sign() > 0 &&
                  std::all_of(term.exponents.begin(), term.exponents.end(),
                              [](unsigned long exponent) { return exponent % 2 == 0; });
         });
}

std::string Fraction::ToString(const std::vector<std::string>& names) const {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names) {
    pointers.push_back(name.c_str());
  }
  std::string result;
  for (const fmpz_mpoly_struct* part : {above_, below_}) {
    char* text = fmpz_mpoly_get_str_pretty(part, pointers.data(), ring_->raw());
    result += (result.empty() ? "(" : "/(") + std::string(text) + ")";
    flint_free(text);
  }
  return result;
}

}  // namespace hyper::answer

// Functions over the generators of a form.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/values/form.h"

namespace hyper::answer {

FormBuilder::Form FormBuilder::Call(const Node& node) {
  std::vector<Fraction> args;
  std::string key = node.text + "(";
  for (const NodeId arg : node.args) {
    Form value = Reduce(Build(arg));
    if (!value) {
      return std::nullopt;
    }
    key += KeyOf(*value) + ",";
    args.push_back(std::move(*value));
  }
  if (args.empty()) {
    return std::nullopt;
  }
  const Fraction& x = args[0];
  const std::string& name = node.text;
  if (name == "log" && args.size() == 2) {
    const Form above = Logarithm(x);
    const Form below = above ? Logarithm(args[1]) : std::nullopt;
    return below && !below->IsZero() ? Quotient(*above, *below) : std::nullopt;
  }
  if (args.size() == 1) {
    if (name == "ln") {
      return Logarithm(x);
    }
    if (name == "abs") {
      return Absolute(x);
    }
    for (const char* function : {"sin", "cos", "tan", "cot", "sec", "csc"}) {
      if (name == function) {
        return Trigonometric(name, x);
      }
    }
    for (const char* function : {"sinh", "cosh", "tanh", "coth"}) {
      if (name == function) {
        return Hyperbolic(name, x);
      }
    }
  }
  return Opaque(key + ")");
}

// Sine, cosine and quotients of them by exp(i x); with rational multiples of pi by radicals.
FormBuilder::Form FormBuilder::Trigonometric(const std::string& name, const Fraction& x) {
  const auto quotient = [&](const char* above, const char* below) -> Form {
    const Form top = above == nullptr ? Number(Rational(1)) : Trigonometric(above, x);
    const Form bottom = top ? Reduce(Trigonometric(below, x)) : std::nullopt;
    return bottom && !bottom->IsZero() ? Quotient(*top, *bottom) : std::nullopt;
  };
  if (name == "tan") {
    return quotient("sin", "cos");
  }
  if (name == "cot") {
    return quotient("cos", "sin");
  }
  if (name == "sec") {
    return quotient(nullptr, "cos");
  }
  if (name == "csc") {
    return quotient(nullptr, "sin");
  }
  const Form pi = Constant("pi");
  const Form turns = pi ? Quotient(x, *pi) : std::nullopt;
  if (!turns) {
    return std::nullopt;
  }
  if (const auto half_turns = turns->AsRational()) {
    if (name == "cos") {
      return CosineOfTurn(*half_turns);
    }
    const auto shifted = Rational(1, 2).Add(half_turns->Negated(), budget_);
    return shifted ? CosineOfTurn(*shifted) : std::nullopt;
  }
  const Form unit = Constant("i");
  const Form angle = unit ? x.Multiply(*unit, budget_) : std::nullopt;
  const Form forward = angle ? Exponential(*angle) : std::nullopt;
  const Form backward = forward ? forward->Power(-1, budget_) : std::nullopt;
  if (!backward) {
    return std::nullopt;
  }
  const bool sine = name == "sin";
  const Form sum = forward->Add(sine ? backward->Negated() : *backward, budget_);
  if (!sum) {
    return std::nullopt;
  }
  // 1 / (2 i) = -i / 2
  const Form half =
      sine ? unit->Multiply(*Number(Rational(-1, 2)), budget_) : Number(Rational(1, 2));
  return half ? sum->Multiply(*half, budget_) : std::nullopt;
}

// cos(pi t) for rational t: radicals for multiples of pi/12, else opaque.
FormBuilder::Form FormBuilder::CosineOfTurn(const Rational& half_turns) {
  // Into [0, 1]: cos is even and has the period 2.
  const auto half = half_turns.Multiply(Rational(1, 2), budget_);
  if (!half) {
    return std::nullopt;
  }
  const auto periods = half->Floor().Multiply(Rational(-2), budget_);
  auto t = periods ? half_turns.Add(*periods, budget_) : std::nullopt;
  if (t && Rational(1) < *t) {
    t = Rational(2).Add(t->Negated(), budget_);
  }
  if (!t) {
    return std::nullopt;
  }
  const bool flip = Rational(1, 2) < *t;  // cos(pi - x) = -cos x
  if (flip) {
    t = Rational(1).Add(t->Negated(), budget_);
  }
  const auto steps = t ? t->Multiply(Rational(12), budget_) : std::nullopt;
  if (!steps) {
    return std::nullopt;
  }
  const auto index = steps->ToLong(6);
  if (!index) {
    const Form cosine = Opaque("cospi(" + t->ToString() + ")");
    return cosine && flip ? cosine->Negated() : cosine;
  }
  // cos(k pi / 12) = (sqrt(a) + b sqrt(c)) / 4 for k = 0 .. 6.
  static constexpr long kRadicals[7][3] = {{16, 0, 1}, {6, 1, 2},  {12, 0, 1}, {8, 0, 1},
                                           {4, 0, 1},  {6, -1, 2}, {0, 0, 1}};
  const long* const row = kRadicals[*index];
  Form cosine = Number(Rational(0));
  if (row[0] != 0) {
    cosine = Reduce(RootOfUnit(Rational(row[0]), 1, 2));
  }
  if (cosine && row[1] != 0) {
    const Form second = RootOfUnit(Rational(row[2]), 1, 2);
    const Form signed_second =
        second ? second->Multiply(*Number(Rational(row[1])), budget_) : std::nullopt;
    cosine = signed_second ? cosine->Add(*signed_second, budget_) : std::nullopt;
  }
  if (!cosine) {
    return std::nullopt;
  }
  return cosine->Multiply(*Number(Rational(flip ? -1 : 1, 4)), budget_);
}

FormBuilder::Form FormBuilder::Hyperbolic(const std::string& name, const Fraction& x) {
  if (name == "tanh" || name == "coth") {
    const Form sine = Hyperbolic("sinh", x);
    const Form cosine = sine ? Hyperbolic("cosh", x) : std::nullopt;
    if (!cosine) {
      return std::nullopt;
    }
    const bool inverse = name == "coth";
    if (inverse && sine->IsZero()) {
      return std::nullopt;
    }
    return inverse ? Quotient(*cosine, *sine) : Quotient(*sine, *cosine);
  }
  const Form forward = Exponential(x);
  const Form backward = forward ? forward->Power(-1, budget_) : std::nullopt;
  if (!backward) {
    return std::nullopt;
  }
  const Form sum = forward->Add(name == "sinh" ? backward->Negated() : *backward, budget_);
  return sum ? sum->Multiply(*Number(Rational(1, 2)), budget_) : std::nullopt;
}

// exp of a sum is the product over its terms.
FormBuilder::Form FormBuilder::Exponential(const Fraction& x) {
  const auto terms = x.Terms(budget_);
  if (!terms) {
    return ExponentialTerm(x, Rational(1));
  }
  Form result = Number(Rational(1));
  for (const Fraction::Term& term : *terms) {
    const Form monomial = Monomial(term.exponents);
    const Form factor = monomial ? ExponentialTerm(*monomial, term.coefficient) : std::nullopt;
    result = factor ? result->Multiply(*factor, budget_) : std::nullopt;
    if (!result) {
      return std::nullopt;
    }
  }
  return result;
}

// exp(coefficient * monomial) as a power of the generator exp(monomial / denominator).
FormBuilder::Form FormBuilder::ExponentialTerm(const Fraction& monomial,
                                               const Rational& coefficient) {
  const auto q = coefficient.Denominator().ToLong(1000);
  const auto p = coefficient.Numerator().ToLong(1'000'000);
  if (!p || !q) {
    return std::nullopt;
  }
  // exp(c ln f) = |f|^c
  for (size_t i = symbols_; i < generators_.size(); ++i) {
    if (generators_[i].key.rfind("ln:", 0) != 0 || monomial.AsVariable() != static_cast<int>(i)) {
      continue;
    }
    return AbsoluteRoot(*generators_[i].of, *p, *q);
  }
  // exp(i pi t) = cos(pi t) + i sin(pi t)
  const Form turn = Constant("pi") && Constant("i")
                        ? Constant("pi")->Multiply(*Constant("i"), budget_)
                        : std::nullopt;
  if (!turn) {
    return std::nullopt;
  }
  const Form ratio = Quotient(monomial, *turn);
  if (ratio && ratio->AsRational()) {
    const auto t = coefficient.Multiply(*ratio->AsRational(), budget_);
    const auto shifted = t ? Rational(1, 2).Add(t->Negated(), budget_) : std::nullopt;
    if (!shifted) {
      return std::nullopt;
    }
    const Form cosine = CosineOfTurn(*t);
    const Form sine = cosine ? CosineOfTurn(*shifted) : std::nullopt;
    const Form imaginary = sine ? sine->Multiply(*Constant("i"), budget_) : std::nullopt;
    return imaginary ? cosine->Add(*imaginary, budget_) : std::nullopt;
  }
  if (exp_denominator_ % *q != 0) {
    Raise(exp_denominator_, *q);
    return std::nullopt;
  }
  const int index = Variable("exp:" + KeyOf(monomial));
  if (index < 0) {
    return std::nullopt;
  }
  Generator& generator = generators_[static_cast<size_t>(index)];
  if (IsReal(monomial)) {
    const Rational unit(1, static_cast<unsigned long>(exp_denominator_));
    generator.positive = true;
    generator.logarithm = monomial.Multiply(*Number(unit), budget_);
  } else {
    generator.complex = true;
  }
  return Fraction::Variable(*ring_, index).Power(*p * (exp_denominator_ / *q), budget_);
}

// base^exponent for an exponent with variables.
FormBuilder::Form FormBuilder::GeneralPower(const Fraction& base, const Fraction& exponent) {
  const auto number = base.AsRational();
  const int variable = base.AsVariable();
  const bool positive = (number && number->Sign() > 0) ||
                        (variable >= 0 && generators_[static_cast<size_t>(variable)].positive);
  if (positive) {
    const Form logarithm = Logarithm(base);
    const Form scaled = logarithm ? logarithm->Multiply(exponent, budget_) : std::nullopt;
    return scaled ? Exponential(*scaled) : std::nullopt;
  }
  // Unknown sign: only integer multiples of a term leave the exponent.
  const auto terms = exponent.Terms(budget_);
  if (!terms) {
    return Opaque("pow(" + KeyOf(base) + "," + KeyOf(exponent) + ")");
  }
  Form result = Number(Rational(1));
  for (const Fraction::Term& term : *terms) {
    const auto times = term.coefficient.ToLong(1000);
    if (!times) {
      return Opaque("pow(" + KeyOf(base) + "," + KeyOf(exponent) + ")");
    }
    const Form monomial = Monomial(term.exponents);
    if (!monomial) {
      return std::nullopt;
    }
    const Form unit = monomial->AsRational()
                          ? Form(base)
                          : Opaque("pow(" + KeyOf(base) + "," + KeyOf(*monomial) + ")");
    const Form factor = unit ? unit->Power(*times, budget_) : std::nullopt;
    result = factor ? result->Multiply(*factor, budget_) : std::nullopt;
    if (!result) {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace hyper::answer

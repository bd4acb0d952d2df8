// Canonical rational forms of expressions: quotients of polynomials in the variables and in
// generators for pi, i, roots, logarithms, exponentials and unknown functions, with the algebraic
// relations of the generators divided out. A difference whose form is zero is zero.
//
// Everything is over the reals where roots and logarithms are concerned: the identities used hold
// at every point where both expressions are real and defined.
//   root   R^(p/q), R = c * prod f^e:  prod |f|^(e p/q) for even q, real odd roots for odd q
//   ln R  = ln|c| + sum e ln|f|        sin, cos, tan, ... over exp(i x), sinh, ... over exp(x)
//   |R|   = |c| * prod |f|^e           exp(x + y) = exp(x) exp(y), exp(c ln f) = |f|^c
// Isolated points, where a radicand is zero, may be lost.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/answer/numbers/exact.h"
#include "src/answer/numbers/polynomial.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// What a form could tell about a difference.
enum class FormZero {
  kZero,     // it is zero: proved
  kNonZero,  // a rational function of the variables (and i) that is not zero: proved
  kUnknown,
};

class FormBuilder {
 public:
  FormBuilder(const Expression& tree, Budget& budget) : tree_(tree), budget_(budget) {}

  // Whether a - b is zero.
  FormZero Difference(NodeId a, NodeId b);
  // Whether a / b is a non-zero rational number (positive, if asked): then a = 0 says what b = 0
  // says. kNonZero: proved not to be.
  FormZero Proportional(NodeId a, NodeId b, bool positive);
  // One text of the canonical form; empty where there is none.
  std::string Key(NodeId a);

 private:
  // A variable of the ring: a symbol of the expression, or a generator.
  struct Generator {
    std::string key;
    // key^degree equals `value`; degree 0: no relation.
    long degree = 0;
    std::optional<Fraction> value;
    // Known to be a non-negative real number wherever defined; then roots pass through it.
    bool positive = false;
    // May have values that are not real; symbols are real.
    bool complex = false;
    // f, for |f|^(1/n) and ln|f|.
    std::optional<Fraction> of;
    // For an exponential: its exponent.
    std::optional<Fraction> logarithm;
  };
  using Form = std::optional<Fraction>;

  // form.cc: the frame
  bool Prepare(const std::vector<NodeId>& roots);
  void CollectSymbols(NodeId id, std::vector<std::string>& symbols);
  template <class Action>
  auto WithRestarts(const std::vector<NodeId>& roots, Action action) -> decltype(action());
  Form Build(NodeId id);
  Form Fold(const Node& node);
  Form Power(const Node& node);
  Form Constant(const std::string& name);
  Form Reduce(Form form);
  Form Quotient(const Fraction& a, const Fraction& b);
  Form Number(const Rational& value);
  int Variable(const std::string& key);
  Form Generate(const std::string& key);
  Form Opaque(const std::string& key);
  std::string KeyOf(const Fraction& form);
  bool OnlySymbols(const Fraction& form);
  bool IsReal(const Fraction& form);
  Form Monomial(const std::vector<unsigned long>& exponents);

  // form_functions.cc: functions over the generators
  Form Call(const Node& node);
  Form Trigonometric(const std::string& name, const Fraction& x);
  Form CosineOfTurn(const Rational& half_turns);
  Form Hyperbolic(const std::string& name, const Fraction& x);
  Form Exponential(const Fraction& x);
  Form ExponentialTerm(const Fraction& monomial, const Rational& coefficient);
  Form Logarithm(const Fraction& x);
  Form LogarithmOfFactor(const Fraction& factor);
  Form Absolute(const Fraction& x);
  Form GeneralPower(const Fraction& base, const Fraction& exponent);
  Form Root(const Fraction& base, long p, long q);
  Form RootOfUnit(const Rational& unit, long p, long q);
  Form RootOfFactor(const Fraction& factor, long power, long q, bool even, int sign);
  Form AbsoluteRoot(const Fraction& factor, long numerator, long denominator);
  Form OpaqueRoot(const Fraction& base, long p, long q);
  int SignOf(const Fraction& factor);
  int SignUnderRoot(const Fraction::Factors& factors);
  std::optional<std::vector<std::pair<Rational, long>>> PrimePowers(const Rational& value);

  // Raises a denominator to a multiple of `needed` and starts over; false where it is there.
  bool Raise(long& denominator, long needed);

  const Expression& tree_;
  Budget& budget_;
  std::unique_ptr<PolynomialRing> ring_;
  std::vector<Generator> generators_;
  size_t symbols_ = 0;
  // Common denominators of the exponents of roots and exponentials, and the known signs of
  // factors: learned in one pass, used in the next.
  long root_denominator_ = 1;
  long exp_denominator_ = 1;
  std::map<std::string, int> signs_;
  bool restart_ = false;
};

}  // namespace hyper::answer

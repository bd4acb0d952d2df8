#include "src/answer/compare/scalar.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/values/ball.h"
#include "src/answer/values/constant.h"
#include "src/answer/values/evaluate.h"
#include "src/answer/values/form.h"
#include "src/answer/values/modular.h"

namespace hyper::answer {
namespace {

constexpr std::array<long, 3> kPrecisions = {64, 256, 1024};
constexpr int kPoints = 10;
constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

// SplitMix64 (Steele, Lea, Flood 2014): the points follow from the seed alone.
class PointSource {
 public:
  explicit PointSource(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  long Below(long n) { return static_cast<long>(Next() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t state_;
};

}  // namespace

Verdict ScalarComparer::Say(Verdict verdict, const char* reason) {
  reason_ = reason;
  return verdict;
}

std::vector<std::string> ScalarComparer::Symbols(NodeId a) {
  std::vector<std::string> symbols;
  std::vector<NodeId> open{a};
  while (!open.empty() && budget_.Steps()) {
    const Node& node = tree_.at(open.back());
    open.pop_back();
    if (node.kind == Kind::kSymbol) {
      symbols.push_back(node.text);
    }
    open.insert(open.end(), node.args.begin(), node.args.end());
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

NodeId ScalarComparer::Substituted(NodeId id, const std::string& symbol, NodeId value) {
  if (!budget_.Steps()) {
    return id;
  }
  Node node = tree_.at(id);
  if (node.kind == Kind::kSymbol && node.text == symbol) {
    return value;
  }
  for (NodeId& arg : node.args) {
    arg = Substituted(arg, symbol, value);
  }
  return tree_.Add(std::move(node));
}

Verdict ScalarComparer::Compare(NodeId a, NodeId b) {
  Verdict verdict = Verdict::kUndecided;
  if (HasBareLog(a) || HasBareLog(b)) {
    const auto with = [&](bool natural) {
      return CompareFixed(WithLog(a, natural), WithLog(b, natural));
    };
    if (options_.bare_log != BareLog::kEither) {
      verdict = with(options_.bare_log == BareLog::kNatural);
    } else {
      verdict = with(true);
      if (with(false) != verdict) {
        verdict = Say(Verdict::kUndecided, "it depends on the base of the logarithm");
      }
    }
  } else {
    verdict = CompareFixed(a, b);
  }
  if (verdict == Verdict::kNotEqual && options_.rounded) {
    if (CompareUnderRounding(a, b) == Verdict::kEqual) {
      return Verdict::kEqual;
    }
    reason_ = "different values, also after rounding";
  }
  if (verdict == Verdict::kNotEqual && options_.allow_renamed_constants) {
    return CompareRenamed(a, b);
  }
  return verdict;
}

Verdict ScalarComparer::CompareFixed(NodeId a, NodeId b) {
  const auto left = RationalValue(tree_, a, budget_);
  const auto right = RationalValue(tree_, b, budget_);
  if (budget_.exhausted()) {
    return Say(Verdict::kUndecided, "the numbers are out of reach of the work budget");
  }
  if (left && right) {
    return *left == *right ? Say(Verdict::kEqual, "the same rational number")
                           : Say(Verdict::kNotEqual, "different rational numbers");
  }
  const std::string key = StructuralKey(tree_, a, budget_);
  if (!key.empty() && key == StructuralKey(tree_, b, budget_)) {
    return Say(Verdict::kEqual, "the same expression");
  }
  const auto infinite = CompareInfinite(a, b);
  if (infinite != Verdict::kUndecided) {
    return infinite;
  }
  std::vector<std::string> symbols = Symbols(a);
  for (std::string& symbol : Symbols(b)) {
    symbols.push_back(std::move(symbol));
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  const Verdict verdict = symbols.empty() ? CompareConstant(a, b) : CompareVariable(a, b, symbols);
  if (verdict == Verdict::kUndecided) {
    reason_ = budget_.exhausted() ? "the work budget ran out"
                                  : "neither equality nor difference was proved";
  }
  return verdict;
}

// The sign of an expression that is infinite by its form: infinity times a number.
std::optional<int> ScalarComparer::InfinitySign(NodeId a) {
  const Node& node = tree_.at(a);
  if (node.kind == Kind::kConstant && node.text == "infinity") {
    return 1;
  }
  if (node.kind != Kind::kProduct) {
    return std::nullopt;
  }
  const std::vector<NodeId> factors = node.args;
  int sign = 1;
  bool infinite = false;
  for (const NodeId factor : factors) {
    const auto inner = InfinitySign(factor);
    const auto number = inner ? std::nullopt : RationalValue(tree_, factor, budget_);
    if (!inner && (!number || number->IsZero())) {
      return std::nullopt;
    }
    infinite = infinite || inner.has_value();
    sign *= inner ? *inner : number->Sign();
  }
  return infinite ? std::optional<int>(sign) : std::nullopt;
}

Verdict ScalarComparer::CompareInfinite(NodeId a, NodeId b) {
  const auto left = InfinitySign(a);
  const auto right = InfinitySign(b);
  if (left && right) {
    return *left == *right ? Say(Verdict::kEqual, "the same infinity")
                           : Say(Verdict::kNotEqual, "infinities of different sign");
  }
  if (!left && !right) {
    return Verdict::kUndecided;
  }
  Ball ball;
  const NodeId other = left ? b : a;
  const bool finite = !Symbols(other).empty() ||
                      EvaluateBall(tree_, other, {}, 64, budget_, ball) == BallStatus::kValue;
  return finite ? Say(Verdict::kNotEqual, "only one side is infinite") : Verdict::kUndecided;
}

Verdict ScalarComparer::CompareConstant(NodeId a, NodeId b) {
  Ball left;
  Ball right;
  for (const long precision : kPrecisions) {
    if (EvaluateBall(tree_, a, {}, precision, budget_, left) != BallStatus::kValue ||
        EvaluateBall(tree_, b, {}, precision, budget_, right) != BallStatus::kValue) {
      break;
    }
    if (Ball::Separated(left, right)) {
      return Say(Verdict::kNotEqual, "different numbers");
    }
    // Equal to 64 bits: a proof of equality is far likelier to succeed now.
    if (precision == kPrecisions[0] &&
        FormBuilder(tree_, budget_).Difference(a, b) == FormZero::kZero) {
      return Say(Verdict::kEqual, "the difference simplifies to zero");
    }
  }
  switch (CompareConstants(tree_, a, b, budget_)) {
    case Verdict::kEqual:
      return Say(Verdict::kEqual, "the same number, proved by Calcium");
    case Verdict::kNotEqual:
      return Say(Verdict::kNotEqual, "different numbers, proved by Calcium");
    default:
      return Verdict::kUndecided;
  }
}

Verdict ScalarComparer::CompareVariable(NodeId a, NodeId b,
                                        const std::vector<std::string>& symbols) {
  if (SeparatedModulo(a, b, symbols)) {
    return Say(Verdict::kNotEqual, "different values in a finite field");
  }
  switch (FormBuilder(tree_, budget_).Difference(a, b)) {
    case FormZero::kZero:
      return Say(Verdict::kEqual, "the difference simplifies to zero");
    case FormZero::kNonZero:
      return Say(Verdict::kNotEqual, "different rational functions");
    default:
      break;
  }
  if (SeparatedAtPoints(a, b, symbols)) {
    return Say(Verdict::kNotEqual, "different values at a point");
  }
  return Verdict::kUndecided;
}

bool ScalarComparer::SeparatedModulo(NodeId a, NodeId b, const std::vector<std::string>& symbols) {
  PointSource source(options_.seed);
  ModularPoint point;
  for (const std::string& symbol : symbols) {
    point[symbol] = source.Next() % kPrime;
  }
  const auto left = ModularValue(tree_, a, point, kPrime, budget_);
  const auto right = left ? ModularValue(tree_, b, point, kPrime, budget_) : std::nullopt;
  return right && *left != *right;
}

// The letters from k to n in exponents, and beside pi or degrees in arguments of functions: they
// run through the integers, where (-1)^{2n} is 1. `counted`: the expression stands in such a place.
void ScalarComparer::CollectWhole(NodeId id, bool counted, std::vector<std::string>& letters) {
  if (!budget_.Steps()) {
    return;
  }
  const Node& node = tree_.at(id);
  if (node.kind == Kind::kSymbol && counted && IsIntegerLetter(node.text)) {
    letters.push_back(node.text);
  }
  for (size_t i = 0; i < node.args.size(); ++i) {
    const bool exponent = node.kind == Kind::kPower && i == 1;
    const bool angle = node.kind == Kind::kCall && HasAngle(node.args[i]);
    CollectWhole(node.args[i], counted || exponent || angle, letters);
  }
}

bool ScalarComparer::HasAngle(NodeId id) {
  const Node& node = tree_.at(id);
  return node.text == "pi" || node.text == "degree" ||
         (budget_.Steps() && std::any_of(node.args.begin(), node.args.end(),
                                         [this](NodeId arg) { return HasAngle(arg); }));
}

bool ScalarComparer::SeparatedAtPoints(NodeId a, NodeId b,
                                       const std::vector<std::string>& symbols) {
  std::vector<std::string> whole;
  CollectWhole(a, false, whole);
  CollectWhole(b, false, whole);
  PointSource source(options_.seed);
  for (int i = 0; i < kPoints && !budget_.exhausted(); ++i) {
    Point point;
    for (const std::string& symbol : symbols) {
      // Positive integers first, where most expressions are defined, then fractions, then both
      // signs.
      const long numerator = 2 + source.Below(i < 3 ? 12 : 60);
      const bool negative = i >= 6 && source.Below(2) == 1;
      const long drawn = 7 + source.Below(10);
      const bool integer = i < 3 || std::find(whole.begin(), whole.end(), symbol) != whole.end();
      const auto denominator = static_cast<unsigned long>(integer ? 1 : drawn);
      point[symbol] = Rational(negative ? -numerator : numerator, denominator);
    }
    for (const long precision : {128L, 512L}) {
      Ball left;
      Ball right;
      const BallStatus status = EvaluateBall(tree_, a, point, precision, budget_, left);
      if (status != BallStatus::kValue ||
          EvaluateBall(tree_, b, point, precision, budget_, right) != BallStatus::kValue) {
        break;
      }
      if (Ball::Separated(left, right)) {
        return true;
      }
    }
  }
  return false;
}

std::optional<int> ScalarComparer::Sign(NodeId a) {
  if (const auto infinite = InfinitySign(a)) {
    return infinite;
  }
  if (const auto value = RationalValue(tree_, a, budget_)) {
    return value->Sign();
  }
  for (const long precision : kPrecisions) {
    Ball ball;
    if (EvaluateBall(tree_, a, {}, precision, budget_, ball) != BallStatus::kValue) {
      break;
    }
    if (!ball.IsReal()) {
      return std::nullopt;
    }
    if (arb_is_positive(acb_realref(ball.raw())) != 0) {
      return 1;
    }
    if (arb_is_negative(acb_realref(ball.raw())) != 0) {
      return -1;
    }
  }
  const NodeId zero = tree_.AddNumber(Rational(0));
  if (CompareConstant(a, zero) == Verdict::kEqual) {
    return 0;
  }
  return std::nullopt;
}

}  // namespace hyper::answer

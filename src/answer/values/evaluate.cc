#include "src/answer/values/evaluate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace hyper::answer {
namespace {

constexpr long kMaxFactorial = 50'000;

using Value = std::optional<Rational>;

class RationalEvaluator {
 public:
  // What is left alone, so that the result has no value of its own.
  struct Keep {
    bool decimals = false;
    bool percent = false;
  };
  RationalEvaluator(const Expression& tree, Budget& budget, Keep keep)
      : tree_(tree), budget_(budget), keep_(keep) {}

  Value Evaluate(NodeId id) {
    if (!budget_.Steps()) {
      return std::nullopt;
    }
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kNumber:
        if (keep_.decimals && node.decimals >= 0) {
          return std::nullopt;
        }
        return node.number;
      case Kind::kSum:
      case Kind::kProduct:
        return Fold(node);
      case Kind::kPower:
        return Power(node);
      case Kind::kCall:
        return Call(node);
      case Kind::kUnit:
        if (node.text == "percent" && !keep_.percent) {
          return Rational(1, 100);
        }
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

 private:
  Value Fold(const Node& node) {
    Value total = Evaluate(node.args[0]);
    for (size_t i = 1; total && i < node.args.size(); ++i) {
      const Value next = Evaluate(node.args[i]);
      if (!next) {
        return std::nullopt;
      }
      total =
          node.kind == Kind::kSum ? total->Add(*next, budget_) : total->Multiply(*next, budget_);
    }
    return total;
  }

  Value Power(const Node& node) {
    const Value exponent = Evaluate(node.args[1]);
    if (!exponent) {
      return std::nullopt;
    }
    Value base = Evaluate(node.args[0]);
    if (!base) {
      return std::nullopt;
    }
    // 0^0 has no agreed value.
    if (base->IsZero() && exponent->Sign() <= 0) {
      return std::nullopt;
    }
    if (base->IsOne() || base->IsZero()) {
      return base;
    }
    const auto q = exponent->Denominator().ToLong(1000);
    if (!q) {
      return std::nullopt;
    }
    const Value root = base->Root(static_cast<unsigned long>(*q), budget_);
    if (!root) {
      return std::nullopt;
    }
    const auto p = exponent->Numerator().ToLong(1L << 40);
    if (!p) {
      budget_.Exhaust();
      return std::nullopt;
    }
    return root->Power(*p, budget_);
  }

  Value Call(const Node& node) {
    std::vector<Rational> args;
    for (const NodeId arg : node.args) {
      Value value = Evaluate(arg);
      if (!value) {
        return std::nullopt;
      }
      args.push_back(std::move(*value));
    }
    if (args.empty()) {
      return std::nullopt;
    }
    if (args.size() == 1) {
      if (node.text == "abs") {
        return args[0].Sign() < 0 ? args[0].Negated() : args[0];
      }
      if (node.text == "floor") {
        return args[0].Floor();
      }
      if (node.text == "ceil") {
        return args[0].Negated().Floor().Negated();
      }
      if (node.text == "factorial" || node.text == "factorial2") {
        return Factorial(node, args[0]);
      }
      if (node.text == "sign") {
        return Rational(args[0].Sign());
      }
    }
    if (node.text == "binom" && args.size() == 2) {
      return Binomial(args[0], args[1]);
    }
    if (node.text == "mod" && args.size() == 2) {
      return args[1].Sign() > 0 ? args[0].Modulo(args[1], budget_) : std::nullopt;
    }
    const bool most = node.text == "max";
    if (most || node.text == "min") {
      return most ? *std::max_element(args.begin(), args.end())
                  : *std::min_element(args.begin(), args.end());
    }
    if (node.text == "gcd" || node.text == "lcm") {
      return CommonDivisorOrMultiple(node, args);
    }
    return std::nullopt;
  }

  Value Factorial(const Node& node, const Rational& of) {
    const auto n = of.ToLong(kMaxFactorial);
    if (!n) {
      if (of.IsInteger() && of.Sign() > 0) {
        budget_.Exhaust();
      }
      return std::nullopt;
    }
    if (*n < 0) {
      return std::nullopt;
    }
    const auto size = static_cast<double>(*n);
    if (!budget_.Bits(size * std::log2(size + 2) + 64)) {
      return std::nullopt;
    }
    Rational result(1);
    if (node.text == "factorial") {
      fmpz_fac_ui(fmpq_numref(result.raw()), static_cast<ulong>(*n));
    } else {
      for (long factor = *n; factor > 1; factor -= 2) {
        if (!budget_.Steps()) {
          return std::nullopt;
        }
        fmpz_mul_si(fmpq_numref(result.raw()), fmpq_numref(result.raw()), factor);
      }
    }
    return result;
  }

  Value Binomial(const Rational& n, const Rational& k) {
    const auto top = n.ToLong(kMaxFactorial);
    const auto bottom = k.ToLong(kMaxFactorial);
    if (!top || !bottom || *top < 0 || *bottom < 0) {
      return std::nullopt;
    }
    if (!budget_.Bits(static_cast<double>(*top) + 64)) {
      return std::nullopt;
    }
    Rational result;
    fmpz_bin_uiui(fmpq_numref(result.raw()), static_cast<ulong>(*top), static_cast<ulong>(*bottom));
    return result;
  }

  Value CommonDivisorOrMultiple(const Node& node, const std::vector<Rational>& args) {
    Rational result(node.text == "gcd" ? 0 : 1);
    fmpz* total = fmpq_numref(result.raw());
    for (const Rational& arg : args) {
      if (!arg.IsInteger() || !budget_.Bits(result.Bits() + arg.Bits())) {
        return std::nullopt;
      }
      const fmpz* value = fmpq_numref(arg.raw());
      node.text == "gcd" ? fmpz_gcd(total, total, value) : fmpz_lcm(total, total, value);
    }
    return result;
  }

  const Expression& tree_;
  Budget& budget_;
  Keep keep_;
};

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kSum:
      return "+";
    case Kind::kProduct:
      return "*";
    case Kind::kPower:
      return "^";
    case Kind::kPlusMinus:
      return "pm";
    case Kind::kTuple:
      return "tuple";
    case Kind::kSet:
      return "set";
    case Kind::kList:
      return "list";
    case Kind::kRatio:
      return "ratio";
    case Kind::kRelation:
      return "relation";
    case Kind::kJoin:
      return "join";
    case Kind::kMatrix:
      return "matrix";
    case Kind::kBuilder:
      return "builder";
    case Kind::kQualified:
      return "qualified";
    case Kind::kCases:
      return "cases";
    case Kind::kEllipsis:
      return "...";
    case Kind::kUnit:
      return "unit";
    default:
      return "";
  }
}

class KeyWriter {
 public:
  KeyWriter(const Expression& tree, Budget& budget, bool keep_decimals)
      : tree_(tree), budget_(budget), rational_(tree, budget, {keep_decimals, true}) {}

  std::string Write(NodeId id) {
    const Node& node = tree_.at(id);
    if (node.kind == Kind::kSum || node.kind == Kind::kProduct || node.kind == Kind::kPower ||
        node.kind == Kind::kCall || node.kind == Kind::kNumber) {
      if (const auto value = rational_.Evaluate(id)) {
        const double digits = value->Bits() / 3;
        return budget_.Bits(digits * 8) ? value->ToString() : std::string();
      }
    }
    if (node.kind == Kind::kApproximated) {
      return budget_.Steps() ? Write(node.args[0]) : std::string();
    }
    return budget_.Steps() ? Composite(node) : std::string();
  }

 private:
  std::string Composite(const Node& node) {
    std::vector<std::string> parts;
    parts.reserve(node.args.size());
    size_t length = 0;
    for (const NodeId arg : node.args) {
      parts.push_back(Write(arg));
      length += parts.back().size();
    }
    if (!budget_.Bits(static_cast<double>(length) * 8)) {
      return {};
    }
    // A list keeps its order: it equals another one in any order, but a tuple only in its own.
    const bool unordered =
        node.kind == Kind::kSum || node.kind == Kind::kProduct || node.kind == Kind::kSet;
    if (unordered) {
      std::sort(parts.begin(), parts.end());
    }
    if (node.kind == Kind::kSet) {
      parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    }
    std::string key = KindName(node.kind);
    // With its length, so that no text can imitate structure.
    key += std::to_string(static_cast<int>(node.kind)) + ":" + std::to_string(node.text.size()) +
           ":" + node.text;
    if (node.kind == Kind::kMatrix) {
      key += std::to_string(node.columns);
    }
    if (node.kind == Kind::kNumber) {
      key += node.number.ToString() + '~' + std::to_string(node.decimals);
    }
    key += '(';
    for (const std::string& part : parts) {
      key += part + ',';
    }
    return key + ')';
  }

  const Expression& tree_;
  Budget& budget_;
  RationalEvaluator rational_;
};

}  // namespace

std::optional<Rational> RationalValue(const Expression& tree, NodeId id, Budget& budget) {
  auto value = RationalEvaluator(tree, budget, {}).Evaluate(id);
  return budget.exhausted() ? std::nullopt : value;
}

std::string StructuralKey(const Expression& tree, NodeId id, Budget& budget, bool keep_decimals) {
  std::string key = KeyWriter(tree, budget, keep_decimals).Write(id);
  return budget.exhausted() ? std::string() : key;
}

}  // namespace hyper::answer

#include "src/answer/values/constant.h"

#include <algorithm>
#include <memory>
#include <string>

#include "src/answer/numbers/calculator.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// Sizes up to which Calcium was seen to answer within milliseconds.
constexpr int kMaxNodes = 60;
constexpr int kMaxHardNodes = 8;
constexpr long kMaxRoot = 12;
constexpr long kMaxPower = 40;
constexpr double kMaxBits = 1'000;
constexpr size_t kStepsPerCall = 2'000;

struct CalculatorDeleter {
  void operator()(HyperCalculator* calculator) const { HyperCalculatorFree(calculator); }
};
using Calculator = std::unique_ptr<HyperCalculator, CalculatorDeleter>;

// Whether an expression is within the limits: counted before Calcium sees it.
class SizeCheck {
 public:
  SizeCheck(const Expression& tree, Budget& budget) : tree_(tree), budget_(budget) {}

  bool Fits(NodeId id) {
    if (++nodes_ > kMaxNodes || !budget_.Steps()) {
      return false;
    }
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kNumber:
        return node.number.Bits() <= kMaxBits;
      case Kind::kConstant:
        return node.text != "infinity";
      case Kind::kUnit:
        return node.text == "degree" || node.text == "percent";
      case Kind::kSum:
      case Kind::kProduct:
        break;
      case Kind::kPower:
        if (!PowerFits(node)) {
          return false;
        }
        break;
      case Kind::kCall:
        if (++hard_ > kMaxHardNodes) {
          return false;
        }
        break;
      default:
        return false;
    }
    return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return Fits(arg); });
  }

 private:
  bool PowerFits(const Node& node) {
    const auto exponent = RationalValue(tree_, node.args[1], budget_);
    if (budget_.exhausted()) {
      return false;
    }
    if (!exponent) {
      return ++hard_ <= kMaxHardNodes;
    }
    if (exponent->IsInteger()) {
      return exponent->ToLong(kMaxPower).has_value();
    }
    return ++hard_ <= kMaxHardNodes && exponent->Denominator().ToLong(kMaxRoot) &&
           exponent->Numerator().ToLong(kMaxPower);
  }

  const Expression& tree_;
  Budget& budget_;
  int nodes_ = 0;
  int hard_ = 0;
};

// Leaves the value of an expression on the stack of a calculator.
class CalciumEvaluator {
 public:
  CalciumEvaluator(const Expression& tree, HyperCalculator* calculator, Budget& budget)
      : tree_(tree), calculator_(calculator), budget_(budget) {}

  bool Evaluate(NodeId id) {
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kNumber:
        return HyperCalculatorPushRational(calculator_, node.number.raw()) != 0;
      case Kind::kConstant:
        return HyperCalculatorPushConstant(calculator_, node.text == "pi"  ? kHyperPi
                                                        : node.text == "e" ? kHyperE
                                                                           : kHyperI) != 0;
      case Kind::kUnit:
        if (node.text == "percent") {
          return HyperCalculatorPushRational(calculator_, Rational(1, 100).raw()) != 0;
        }
        return HyperCalculatorPushConstant(calculator_, kHyperPi) != 0 &&
               HyperCalculatorPushRational(calculator_, Rational(1, 180).raw()) != 0 &&
               HyperCalculatorMultiply(calculator_) != 0;
      case Kind::kSum:
      case Kind::kProduct:
        return Fold(node);
      case Kind::kPower:
        return Power(node);
      case Kind::kCall:
        return Call(node);
      default:
        return false;
    }
  }

 private:
  bool Fold(const Node& node) {
    if (!Evaluate(node.args[0])) {
      return false;
    }
    for (size_t i = 1; i < node.args.size(); ++i) {
      if (!Evaluate(node.args[i])) {
        return false;
      }
      const int done = node.kind == Kind::kSum ? HyperCalculatorAdd(calculator_)
                                               : HyperCalculatorMultiply(calculator_);
      if (done == 0) {
        return false;
      }
    }
    return true;
  }

  bool Power(const Node& node) {
    if (!Evaluate(node.args[0])) {
      return false;
    }
    if (const auto rational = RationalValue(tree_, node.args[1], budget_)) {
      return HyperCalculatorRationalPower(calculator_, rational->raw()) != 0;
    }
    return Evaluate(node.args[1]) && HyperCalculatorPower(calculator_) != 0;
  }

  bool Call(const Node& node) {
    for (const NodeId arg : node.args) {
      if (!Evaluate(arg)) {
        return false;
      }
    }
    if (node.text == "log" && node.args.size() == 2) {
      return HyperCalculatorLogarithm(calculator_) != 0;
    }
    return node.args.size() == 1 && HyperCalculatorCall(calculator_, node.text.c_str()) != 0;
  }

  const Expression& tree_;
  HyperCalculator* calculator_;
  Budget& budget_;
};

}  // namespace

Verdict CompareConstants(const Expression& tree, NodeId a, NodeId b, Budget& budget) {
  SizeCheck size(tree, budget);
  if (!size.Fits(a) || !size.Fits(b) || !budget.Steps(kStepsPerCall)) {
    return Verdict::kUndecided;
  }
  const Calculator calculator(HyperCalculatorNew());
  if (!calculator) {
    return Verdict::kUndecided;
  }
  CalciumEvaluator evaluator(tree, calculator.get(), budget);
  if (!evaluator.Evaluate(a) || !evaluator.Evaluate(b)) {
    return Verdict::kUndecided;
  }
  const int equal = HyperCalculatorEqual(calculator.get());
  if (equal < 0) {
    return Verdict::kUndecided;
  }
  return equal == 1 ? Verdict::kEqual : Verdict::kNotEqual;
}

}  // namespace hyper::answer

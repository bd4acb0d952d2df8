// Policies of scalar comparison: rounding, renamed variables, logarithms without a base.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/compare/scalar.h"
#include "src/answer/values/ball.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

constexpr size_t kMaxRenamed = 4;

// Digits behind the point of a decimal, through signs; -1 for anything else.
int Decimals(const Expression& tree, NodeId id) {
  const Node& node = tree.at(id);
  if (node.kind == Kind::kNumber) {
    return node.decimals;
  }
  if (node.kind == Kind::kProduct && node.args.size() == 2 &&
      tree.at(node.args[0]).kind == Kind::kNumber && tree.at(node.args[0]).number == Rational(-1)) {
    return Decimals(tree, node.args[1]);
  }
  return -1;
}

}  // namespace

// A decimal equals what lies within half a unit of its last digit. Of two decimals the one with
// fewer digits rounds.
Verdict ScalarComparer::CompareUnderRounding(NodeId a, NodeId b) {
  int digits = Decimals(tree_, a);
  const int other = Decimals(tree_, b);
  if (digits < 0 || (other >= 0 && other < digits)) {
    digits = other;
  }
  return digits < 0 ? Verdict::kUndecided : CompareWithin(a, b, digits);
}

// Zeros at the end of an integer, through signs; -1 for anything else.
int ScalarComparer::TrailingZeros(NodeId id) {
  const auto value = Decimals(tree_, id) < 0 ? RationalValue(tree_, id, budget_) : std::nullopt;
  if (!value || !value->IsInteger()) {
    return -1;
  }
  const std::string digits = value->ToString();
  const size_t last = digits.find_last_not_of('0');
  return last == std::string::npos ? 0 : static_cast<int>(digits.size() - 1 - last);
}

bool ScalarComparer::MayRoundTo(NodeId rounded, NodeId value) {
  int digits = Decimals(tree_, rounded);
  if (digits < 0) {
    const int zeros = TrailingZeros(rounded);
    if (zeros < 0) {
      return false;
    }
    digits = -zeros;
  } else if (const int other = Decimals(tree_, value); other >= 0) {
    digits = std::min(digits, other);
  }
  return Symbols(value).empty() && CompareWithin(rounded, value, digits) == Verdict::kEqual;
}

// Whether two constants differ by at most half a unit of the last of so many digits behind the
// point.
Verdict ScalarComparer::CompareWithin(NodeId a, NodeId b, int digits) {
  const NodeId minus = tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), b});
  const NodeId difference = tree_.Add(Kind::kSum, {a, minus});
  const auto unit = Rational::FromDigits("5", 1, -digits, 10, budget_);
  if (!unit) {
    return Verdict::kUndecided;
  }
  Verdict verdict = Verdict::kEqual;
  for (const bool upper : {true, false}) {
    const NodeId bound = tree_.AddNumber(upper ? unit->Negated() : *unit);
    const auto sign = Sign(tree_.Add(Kind::kSum, {difference, bound}));
    if (!sign) {
      return Verdict::kUndecided;
    }
    if (upper ? *sign > 0 : *sign < 0) {
      verdict = Verdict::kNotEqual;
    }
  }
  return verdict == Verdict::kEqual ? Say(verdict, "equal after rounding") : verdict;
}

bool ScalarComparer::HasBareLog(NodeId id) {
  if (!budget_.Steps()) {
    return false;
  }
  const Node& node = tree_.at(id);
  return (node.kind == Kind::kCall && node.text == "log" && node.args.size() == 1) ||
         std::any_of(node.args.begin(), node.args.end(),
                     [&](NodeId arg) { return HasBareLog(arg); });
}

// The expression with every logarithm without a base in base e or ten.
NodeId ScalarComparer::WithLog(NodeId id, bool natural) {
  if (!HasBareLog(id)) {
    return id;
  }
  Node node = tree_.at(id);
  for (NodeId& arg : node.args) {
    arg = WithLog(arg, natural);
  }
  if (node.kind == Kind::kCall && node.text == "log" && node.args.size() == 1) {
    if (natural) {
      node.text = "ln";
    } else {
      node.args.push_back(tree_.AddNumber(Rational(10)));
    }
  }
  return tree_.Add(std::move(node));
}

NodeId ScalarComparer::Renamed(NodeId id, const std::vector<std::string>& from,
                               const std::vector<std::string>& to) {
  if (!budget_.Steps()) {
    return id;
  }
  Node node = tree_.at(id);
  for (NodeId& arg : node.args) {
    arg = Renamed(arg, from, to);
  }
  if (node.kind == Kind::kSymbol) {
    const auto found = std::find(from.begin(), from.end(), node.text);
    if (found != from.end()) {
      node.text = to[static_cast<size_t>(found - from.begin())];
    }
  }
  return tree_.Add(std::move(node));
}

// Whether some one-to-one renaming of the variables makes the expressions equal.
Verdict ScalarComparer::CompareRenamed(NodeId a, NodeId b) {
  const std::vector<std::string> from = Symbols(a);
  std::vector<std::string> to = Symbols(b);
  if (from.empty() || from.size() != to.size()) {
    return Say(Verdict::kNotEqual, "different numbers of variables");
  }
  if (from.size() > kMaxRenamed) {
    return Say(Verdict::kUndecided, "too many variables to rename");
  }
  Verdict best = Verdict::kNotEqual;
  do {
    const Verdict verdict = CompareFixed(Renamed(a, from, to), b);
    if (verdict == Verdict::kEqual) {
      return Say(verdict, "equal with renamed variables");
    }
    if (verdict == Verdict::kUndecided) {
      best = verdict;
    }
  } while (std::next_permutation(to.begin(), to.end()));
  return Say(best, "no renaming of the variables makes them equal");
}

}  // namespace hyper::answer

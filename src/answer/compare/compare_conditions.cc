// Statements under a condition: 2^n, n \ge 0, or in words.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/read/names.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// Functions that a condition may turn into others: |x| is x for x > 0, and \arcsin(\sin x) is x
// for 0 < x < 1.
constexpr std::string_view kTurning[] = {
    "abs",    "sign",   "max",    "min",    "floor",  "ceil",   "ln",      "log",     "lg",
    "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "arcsinh", "arccosh", "arctanh"};

}  // namespace

Verdict Comparer::CompareQualified(NodeId a, NodeId b) {
  const bool left = KindOf(a) == Kind::kQualified;
  const bool right = KindOf(b) == Kind::kQualified;
  const NodeId first = left ? tree_.at(a).args[0] : a;
  const NodeId second = right ? tree_.at(b).args[0] : b;
  const auto is_family = [&](NodeId id) {
    return tree_.at(id).args.size() == 2 && tree_.at(id).text.empty();
  };
  if ((left && is_family(a)) || (right && is_family(b))) {
    const bool families = left && right && is_family(a) && is_family(b);
    if (!families && left && right) {
      return Say(Verdict::kUndecided, "different conditions");
    }
    return CompareFamilies(first, left ? tree_.at(a).args[1] : kNoNode, second,
                           right ? tree_.at(b).args[1] : kNoNode);
  }
  if (KindOf(first) == Kind::kCases || KindOf(second) == Kind::kCases) {
    return Say(Verdict::kUndecided, "cases against a statement under a condition");
  }
  const Verdict statements = Compare(first, second);
  const std::string reason = reason_;  // the conditions have one of their own
  if (statements == Verdict::kNotEqual && scalars_.Symbols(first).empty() &&
      scalars_.Symbols(second).empty()) {
    return statements;
  }
  if (left != right) {
    return statements == Verdict::kEqual && OnlyLeavesOutPoints(left ? a : b)
               ? Say(Verdict::kEqual, "equal but for the points that one side leaves out")
               : Say(Verdict::kUndecided, "only one side states a condition");
  }
  if (!SameConditions(a, b)) {
    return Say(Verdict::kUndecided, "different conditions");
  }
  const bool may = !IsRange(a) || MayTurn(first) || MayTurn(second);
  return statements == Verdict::kNotEqual && may
             ? Say(Verdict::kUndecided, "perhaps the same under the condition")
             : Say(statements, reason);
}

bool Comparer::SameConditions(NodeId a, NodeId b) {
  const std::vector<NodeId> left = tree_.at(a).args;
  const std::vector<NodeId> right = tree_.at(b).args;
  const bool same = tree_.at(a).text == tree_.at(b).text && left.size() == right.size();
  return same && (left.size() == 1 || Compare(left[1], right[1]) == Verdict::kEqual);
}

// Whether a condition consists of inequalities, which leave a range to the letters: expressions
// that differ do so there. 2k + 1 and 5 - 2k run through the same numbers where k = 0, 1, 2, or 0
// \le k \le 2.
bool Comparer::IsRange(NodeId qualified) {
  const std::vector<NodeId> args = tree_.at(qualified).args;
  if (args.size() != 2) {
    return false;
  }
  const NodeId condition = args[1];
  const std::vector<NodeId> parts =
      KindOf(condition) == Kind::kList ? tree_.at(condition).args : std::vector<NodeId>{condition};
  size_t bounds = 0;
  const bool inequalities = std::all_of(parts.begin(), parts.end(), [&](NodeId part) {
    const Node& relation = tree_.at(part);
    bounds += relation.text.size();
    return relation.kind == Kind::kRelation &&
           relation.text.find_first_not_of("<>lgn") == relation.text.npos;
  });
  const std::vector<std::string> letters = scalars_.Symbols(condition);
  const bool whole = std::any_of(letters.begin(), letters.end(), IsIntegerLetter);
  return inequalities && !(whole && bounds > 1);
}

// Whether a condition says no more than that the letters of an expression are not some numbers: x
// \ne
// 1. Expressions are compared isolated points aside.
bool Comparer::OnlyLeavesOutPoints(NodeId qualified) {
  const Node& node = tree_.at(qualified);
  if (node.args.size() != 2) {
    return false;
  }
  const NodeId condition = node.args[1];
  const Named statement = Unname(node.args[0]);
  if (!IsSingle(statement.value) || HasPlusMinus(statement.value) ||
      Occurs(statement.symbol, condition)) {
    return false;
  }
  const std::vector<NodeId> parts =
      KindOf(condition) == Kind::kList ? tree_.at(condition).args : std::vector<NodeId>{condition};
  const bool points = std::all_of(parts.begin(), parts.end(), [&](NodeId part) {
    const Node& relation = tree_.at(part);
    return relation.kind == Kind::kNumber ||
           (relation.kind == Kind::kRelation && relation.text == "n");
  });
  // The integers have no other points.
  const std::vector<std::string> letters = scalars_.Symbols(condition);
  return points && std::none_of(letters.begin(), letters.end(), IsIntegerLetter);
}

// Whether an expression may be another one where its letters are limited.
bool Comparer::MayTurn(NodeId id) const {
  if (!budget_.Steps()) {
    return true;
  }
  const Node& node = tree_.at(id);
  if (node.kind == Kind::kCall && IsOneOf(node.text, kTurning)) {
    return true;
  }
  if (node.kind == Kind::kPower) {
    const Node& exponent = tree_.at(node.args[1]);
    if (exponent.kind != Kind::kNumber || !exponent.number.IsInteger()) {
      const Node& base = tree_.at(node.args[0]);
      return base.kind != Kind::kNumber && base.kind != Kind::kConstant;
    }
  }
  return std::any_of(node.args.begin(), node.args.end(),
                     [this](NodeId arg) { return MayTurn(arg); });
}

}  // namespace hyper::answer

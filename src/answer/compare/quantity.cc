// Quantities: a number with a unit.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/read/names.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// "inch^2" as "inch".
std::string WithoutPowers(const std::string& unit) {
  std::string bare;
  bool power = false;
  for (const char c : unit) {
    power = c == '^' || (power && c != ' ');
    if (!power) bare += c;
  }
  return bare;
}

// 'a' or 'p' for a time before or after noon, else 0.
char HalfOfDay(std::string_view unit) {
  const bool half = unit == "am" || unit == "pm" || unit == "a.m" || unit == "p.m";
  return half ? unit[0] : '\0';
}

}  // namespace

// Takes the unit factors out of a product; a unit inside a sum or a function stays.
Comparer::Quantity Comparer::SplitUnit(NodeId id) {
  if (KindOf(id) != Kind::kProduct) return {id, ""};
  const std::vector<NodeId> factors = tree_.at(id).args;
  Quantity quantity;
  std::vector<NodeId> rest;
  for (const NodeId arg : factors) {
    const Node& factor = tree_.at(arg);
    const bool powered = factor.kind == Kind::kPower && !factor.args.empty() &&
                         KindOf(factor.args[0]) == Kind::kUnit;
    const bool inner = factor.kind == Kind::kProduct;
    if (factor.kind == Kind::kUnit) {
      quantity.unit += quantity.unit.empty() ? factor.text : " " + factor.text;
    } else if (powered) {
      const auto exponent = RationalValue(tree_, factor.args[1], budget_);
      quantity.unit += quantity.unit.empty() ? "" : " ";
      quantity.unit += tree_.at(factor.args[0]).text + "^" +
                       (exponent ? exponent->ToString() : std::string("?"));
    } else if (inner) {
      const Quantity nested = SplitUnit(arg);
      if (!nested.unit.empty()) {
        quantity.unit += (quantity.unit.empty() ? "" : " ") + nested.unit;
      }
      rest.push_back(nested.value);
    } else {
      rest.push_back(arg);
    }
  }
  if (quantity.unit.empty()) return {id, ""};
  if (rest.empty()) rest.push_back(tree_.AddNumber(Rational(1)));
  quantity.value = rest.size() == 1 ? rest[0] : tree_.Add(Kind::kProduct, std::move(rest));
  return quantity;
}

// f(x) against g(y): functions without a definition.
Verdict Comparer::CompareUnknownFunctions(NodeId a, NodeId b) {
  const Node left = tree_.at(a);
  const Node right = tree_.at(b);
  if (left.text != right.text && !options_.allow_renamed_constants) {
    return Say(Verdict::kNotEqual, "different functions");
  }
  const Verdict arguments = CompareInOrder(left.args, right.args);
  if (arguments == Verdict::kEqual) return arguments;
  return Say(Verdict::kUndecided, "an unknown function of different arguments");
}

Verdict Comparer::CompareScalar(NodeId a, NodeId b) {
  const auto unknown = [&](NodeId id) {
    return KindOf(id) == Kind::kCall && tree_.at(id).text[0] == '?';
  };
  if (unknown(a) && unknown(b)) return CompareUnknownFunctions(a, b);
  const Verdict verdict = scalars_.Compare(a, b);
  return Say(verdict, scalars_.reason());
}

Verdict Comparer::CompareQuantities(NodeId a, NodeId b) {
  const Quantity left = SplitUnit(a);
  const Quantity right = SplitUnit(b);
  const auto values = [&] { return CompareScalar(left.value, right.value); };
  if (left.unit == right.unit) return values();
  if (!left.unit.empty() && !right.unit.empty()) return CompareScaled(left, right);
  // One side has a unit that the other leaves out.
  const std::string& unit = left.unit.empty() ? right.unit : left.unit;
  if (unit == "percent" || unit == "degree") {
    // "50%" is also the number 1/2, and 60 degrees the number pi/3.
    const NodeId whole_a = left.unit.empty() ? left.value : a;
    const NodeId whole_b = right.unit.empty() ? right.value : b;
    const Verdict whole = CompareScalar(whole_a, whole_b);
    if (whole == Verdict::kEqual || !options_.ignore_units) return whole;
    const Verdict bare = values();
    return bare == Verdict::kNotEqual ? whole : bare;
  }
  if (options_.ignore_units) return values();
  return Say(Verdict::kNotEqual, "only one side has a unit");
}

// Two different units: by conversion where both are known; other words may or may not mean the
// same.
Verdict Comparer::CompareScaled(const Quantity& a, const Quantity& b) {
  const UnitInfo* const left = FindUnit(a.unit);
  const UnitInfo* const right = FindUnit(b.unit);
  if (left != nullptr && right != nullptr) {
    if (left->dimension != right->dimension) {
      return Say(Verdict::kNotEqual, "units of different dimensions");
    }
    const auto scaled = [&](const Quantity& quantity, const UnitInfo& unit) {
      const NodeId factor = tree_.AddNumber(Rational(unit.numerator, unit.denominator));
      return tree_.Add(Kind::kProduct, {quantity.value, factor});
    };
    const NodeId in_base_a = scaled(a, *left);
    const NodeId in_base_b = scaled(b, *right);
    return CompareScalar(in_base_a, in_base_b);
  }
  const Verdict values = CompareScalar(a.value, b.value);
  if (values != Verdict::kEqual) return values;
  if (WithoutPowers(a.unit) == WithoutPowers(b.unit)) {
    return Say(Verdict::kNotEqual, "different powers of one unit");
  }
  if (const char half = HalfOfDay(a.unit); half != 0 && half + HalfOfDay(b.unit) == 'a' + 'p') {
    return Say(Verdict::kNotEqual, "different halves of the day");
  }
  return Say(Verdict::kUndecided, "equal numbers with different units");
}

}  // namespace hyper::answer

// Quantities: a number with a unit.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/read/units.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// "inch^2" as "inch".
std::string WithoutPowers(const std::string& unit) {
  std::string bare;
  bool power = false;
  for (const char c : unit) {
    power = c == '^' || (power && c != ' ');
    if (!power) {
      bare += c;
    }
  }
  return bare;
}

// A time a:b in its larger and its smaller unit: what a is multiplied by, and b divided by.
constexpr int kClockScales[][2] = {{1, 60}, {60, 1}};

// 'a' or 'p' for a time before or after noon, else 0.
char HalfOfDay(std::string_view unit) {
  const bool half = unit == "am" || unit == "pm" || unit == "a.m" || unit == "p.m";
  return half ? unit[0] : '\0';
}

}  // namespace

// Multiplies `unit` by a unit or a power of one; false, and nothing done, for anything else.
bool Comparer::TakeUnit(NodeId id, long power, UnitProduct& unit) {
  const Node& node = tree_.at(id);
  if (node.kind == Kind::kUnit) {
    unit.Multiply(node.text, power);
    return true;
  }
  if (node.kind != Kind::kPower) {
    return false;
  }
  const NodeId base = node.args[0];
  if (KindOf(base) != Kind::kUnit && KindOf(base) != Kind::kPower) {
    return false;
  }
  const auto exponent = RationalValue(tree_, node.args[1], budget_);
  const auto whole = exponent ? exponent->ToLong(99) : std::nullopt;
  return whole && *whole != 0 && TakeUnit(base, power * *whole, unit);
}

// Takes the unit factors out of a product, and out of a sum of quantities such as 3 h + 30 min; a
// unit inside a function stays.
Comparer::Quantity Comparer::SplitUnit(NodeId id) {
  if (KindOf(id) == Kind::kUnit) {
    return {tree_.AddNumber(Rational(1)), tree_.at(id).text};
  }
  if (KindOf(id) == Kind::kSum) {
    return SplitUnitOfSum(id);
  }
  if (KindOf(id) != Kind::kProduct) {
    return {id, ""};
  }
  const std::vector<NodeId> factors = tree_.at(id).args;
  UnitProduct unit;
  std::vector<NodeId> rest;
  bool mixed = false;
  for (const NodeId arg : factors) {
    if (TakeUnit(arg, 1, unit)) {
      continue;
    }
    const bool nested = KindOf(arg) == Kind::kProduct || KindOf(arg) == Kind::kSum;
    const Quantity inner = nested ? SplitUnit(arg) : Quantity{arg, ""};
    unit.Multiply(inner.unit, 1);
    mixed = mixed || inner.mixed;
    rest.push_back(inner.value);
  }
  if (unit.empty()) {
    return {id, ""};
  }
  if (rest.empty()) {
    rest.push_back(tree_.AddNumber(Rational(1)));
  }
  const NodeId value = rest.size() == 1 ? rest[0] : tree_.Add(Kind::kProduct, std::move(rest));
  return {value, unit.ToString(), mixed};
}

// In the unit of the last term; a sum that is no quantity is its own value.
Comparer::Quantity Comparer::SplitUnitOfSum(NodeId id) {
  const std::vector<NodeId> terms = tree_.at(id).args;
  std::vector<Quantity> parts;
  for (const NodeId term : terms) {
    parts.push_back(SplitUnit(term));
    if (parts.back().unit.empty()) {
      return {id, ""};
    }
  }
  const std::string unit = parts.back().unit;
  const auto last = ScaleOfUnit(unit, budget_);
  const auto inverse = last ? last->size.Power(-1, budget_) : std::nullopt;
  std::vector<NodeId> values;
  bool mixed = false;
  for (const Quantity& part : parts) {
    if (part.unit == unit) {
      values.push_back(part.value);
      continue;
    }
    mixed = true;
    const auto scale = ScaleOfUnit(part.unit, budget_);
    if (!scale || !inverse || scale->dimension != last->dimension) {
      return {id, ""};
    }
    const auto factor = scale->size.Multiply(*inverse, budget_);
    if (!factor) {
      return {id, ""};
    }
    values.push_back(tree_.Add(Kind::kProduct, {tree_.AddNumber(*factor), part.value}));
  }
  return {tree_.Add(Kind::kSum, std::move(values)), unit, mixed};
}

// f(x) against g(y): functions without a definition.
Verdict Comparer::CompareUnknownFunctions(NodeId a, NodeId b) {
  const Node left = tree_.at(a);
  const Node right = tree_.at(b);
  if (left.text == kResidueClass && right.text == kResidueClass) {
    return CompareInOrder(left.args, right.args);
  }
  if (left.text != right.text && !options_.allow_renamed_constants) {
    return Say(Verdict::kNotEqual, "different functions");
  }
  const Verdict arguments = CompareInOrder(left.args, right.args);
  if (arguments == Verdict::kEqual) {
    return arguments;
  }
  return Say(Verdict::kUndecided, "an unknown function of different arguments");
}

Verdict Comparer::CompareScalar(NodeId a, NodeId b) {
  const auto unknown = [&](NodeId id) {
    return KindOf(id) == Kind::kCall && tree_.at(id).text[0] == '?';
  };
  if (unknown(a) && unknown(b)) {
    return CompareUnknownFunctions(a, b);
  }
  Verdict verdict = scalars_.Compare(a, b);
  verdict = Say(verdict, scalars_.reason());
  return verdict == Verdict::kNotEqual ? CompareAntiderivatives(a, b, verdict) : verdict;
}

Verdict Comparer::CompareQuantities(NodeId a, NodeId b) {
  const Quantity left = SplitUnit(a);
  const Quantity right = SplitUnit(b);
  const auto values = [&] { return CompareScalar(left.value, right.value); };
  if (left.unit == right.unit) {
    return values();
  }
  if (!left.unit.empty() && !right.unit.empty()) {
    return CompareScaled(left, right);
  }
  // One side has a unit that the other leaves out.
  const std::string& unit = left.unit.empty() ? right.unit : left.unit;
  if (unit == "percent" || unit == "degree") {
    // "50%" is also the number 1/2, and 60 degrees the number pi/3.
    const NodeId whole_a = left.unit.empty() ? left.value : a;
    const NodeId whole_b = right.unit.empty() ? right.value : b;
    const Verdict whole = CompareScalar(whole_a, whole_b);
    if (whole == Verdict::kEqual || !options_.ignore_units) {
      return whole;
    }
    const Verdict bare = values();
    return bare == Verdict::kNotEqual ? whole : bare;
  }
  if (!options_.ignore_units) {
    return Say(Verdict::kNotEqual, "only one side has a unit");
  }
  if (left.mixed || right.mixed) {
    return Say(Verdict::kUndecided, "several units against a number without one");
  }
  const Verdict verdict = values();
  // "2 pairs" may be 4, and 5 ppm is 0.000005.
  const auto scale = ScaleOfUnit(unit, budget_);
  if (verdict == Verdict::kNotEqual && (!scale || scale->dimension == "part")) {
    return Say(Verdict::kUndecided, "a word that is not a known unit may count more than one");
  }
  return verdict;
}

// 5 feet, 6 inches as one amount: the sum of a list in ever smaller units of one dimension; kNoNode
// for any other.
NodeId Comparer::JoinedAmounts(NodeId list) {
  const std::vector<NodeId> parts =
      KindOf(list) == Kind::kList ? tree_.at(list).args : std::vector<NodeId>();
  std::optional<UnitScale> last;
  for (const NodeId part : parts) {
    const Quantity quantity = SplitUnit(part);
    auto scale = quantity.unit.empty() ? std::nullopt : ScaleOfUnit(quantity.unit, budget_);
    const bool smaller =
        scale && (!last || (last->dimension == scale->dimension && scale->size < last->size));
    if (!smaller) {
      return kNoNode;
    }
    last = std::move(scale);
  }
  return last ? tree_.Add(Kind::kSum, parts) : kNoNode;
}

// Whether 3:30 may be another answer as an amount of hours or minutes: 3.5 or 210.
bool Comparer::MayBeClock(NodeId ratio, NodeId other) {
  const Node node = tree_.at(ratio);
  if (node.args.size() != 2 || node.text.size() != 2 || node.text >= "60") {
    return false;
  }
  const NodeId value = SplitUnit(other).value;
  return std::any_of(std::begin(kClockScales), std::end(kClockScales), [&](const auto& scale) {
    const NodeId large =
        tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(scale[0])), node.args[0]});
    const NodeId small =
        tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(1, scale[1])), node.args[1]});
    return scalars_.Compare(tree_.Add(Kind::kSum, {large, small}), value) == Verdict::kEqual;
  });
}

// Two different units: by conversion where both are known; other words may or may not mean the
// same.
Verdict Comparer::CompareScaled(const Quantity& a, const Quantity& b) {
  const auto is = [&](std::string_view unit, std::string_view other) {
    return (a.unit == unit && b.unit == other) || (a.unit == other && b.unit == unit);
  };
  // 25 degrees may be those of a scale.
  if (is("degree", "celsius") || is("degree", "fahrenheit")) {
    const Verdict values = CompareScalar(a.value, b.value);
    return values == Verdict::kEqual ? values : Say(Verdict::kUndecided, "degrees of which scale");
  }
  if (is("degree", "foot") || is("degree", "inch")) {
    return Say(Verdict::kUndecided, "primes may be minutes of arc");
  }
  if (is("degree", "radian")) {
    const auto in_radians = [&](const Quantity& quantity) {
      if (quantity.unit == "radian") {
        return quantity.value;
      }
      return tree_.Add(Kind::kProduct, {quantity.value, tree_.AddText(Kind::kUnit, "degree")});
    };
    const NodeId left = in_radians(a);
    return CompareScalar(left, in_radians(b));
  }
  const auto left = ScaleOfUnit(a.unit, budget_);
  const auto right = ScaleOfUnit(b.unit, budget_);
  if (left && right) {
    if (ConvertsByConvention(left->dimension, right->dimension) &&
        left->dimension != right->dimension) {
      return Say(Verdict::kUndecided, "units that convert by some convention only");
    }
    if (left->dimension != right->dimension) {
      return Say(Verdict::kNotEqual, "units of different dimensions");
    }
    const auto scaled = [&](const Quantity& quantity, const UnitScale& unit) {
      return tree_.Add(Kind::kProduct, {quantity.value, tree_.AddNumber(unit.size)});
    };
    const NodeId in_base_a = scaled(a, *left);
    const NodeId in_base_b = scaled(b, *right);
    const Verdict converted = CompareScalar(in_base_a, in_base_b);
    const bool simple = (a.unit + b.unit).find_first_of(" ^") == std::string::npos;
    return converted == Verdict::kNotEqual && !simple
               ? Say(Verdict::kUndecided, "composed units of different size")
               : converted;
  }
  if (WithoutPowers(a.unit) == WithoutPowers(b.unit)) {
    return CompareScalar(a.value, b.value) == Verdict::kEqual
               ? Say(Verdict::kNotEqual, "different powers of one unit")
               : Say(Verdict::kUndecided, "different powers of one unit");
  }
  if (const char half = HalfOfDay(a.unit); half != 0 && half + HalfOfDay(b.unit) == 'a' + 'p') {
    return Say(Verdict::kNotEqual, "different halves of the day");
  }
  return Say(Verdict::kUndecided, "different units, of which one is not known");
}

}  // namespace hyper::answer

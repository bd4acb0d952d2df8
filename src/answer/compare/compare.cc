#include "src/answer/compare/compare.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/compare/region.h"
#include "src/answer/read/names.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

constexpr int kMaxCompareDepth = 60;

bool StartsWithOneOf(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [text](std::string_view start) {
    return text.substr(0, start.size()) == start;
  });
}

// O(n), Theta(n): of two, different names are different classes.
bool IsGrowth(std::string_view call) {
  return call == "?O" || call == "?o" || call == "?Theta" || call == "?Omega";
}

// A name of two letters or more, without its index, that is no letter of an alphabet.
bool IsWordySymbol(std::string_view name) {
  const std::string_view word = name.substr(0, name.find_first_of("_'"));
  if (word.size() < 2 || IsGreek(word) || word.substr(0, 2) == "bb") {
    return false;
  }
  // One letter of another alphabet, or a decorated one: \vec{v}.
  return (word[0] & 0x80) == 0 && word.find('{') == word.npos;
}

}  // namespace

Verdict AllOf(Verdict a, Verdict b) {
  if (a == Verdict::kNotEqual || b == Verdict::kNotEqual) {
    return Verdict::kNotEqual;
  }
  return a == Verdict::kUndecided ? a : b;
}

Verdict Comparer::Say(Verdict verdict, std::string_view reason) {
  reason_ = reason;
  return verdict;
}

Verdict Comparer::CompareAnswers(NodeId a, NodeId b) {
  const Verdict verdict = Compare(a, b);
  return verdict == Verdict::kNotEqual && (IsProse(a) || IsProse(b))
             ? Say(Verdict::kUndecided, "words around the mathematics")
             : verdict;
}

// Whether an answer has words that are part of no formula, which may say anything.
bool Comparer::IsProse(NodeId id) const {
  if (!budget_.Steps()) {
    return true;
  }
  const Node& node = tree_.at(id);
  if (node.kind == Kind::kSymbol) {
    return IsWordySymbol(node.text) && !node.doubtful;
  }
  if (node.kind == Kind::kQualified && node.args.size() == 1) {
    // NormalisedText puts words between quotes.
    const bool condition = StartsWithOneOf(
        node.text,
        {"\"if", "\"when", "\"for", "\"where", "\"with", "\"unless", "forall", "exists", "\"mod"});
    if (!condition) {
      return true;
    }
  }
  auto args = node.args.begin();
  // The name of "area = 5" is no prose.
  const bool names = node.kind == Kind::kRelation && node.text == "=" &&
                     tree_.at(node.args[0]).kind == Kind::kSymbol;
  if (names) {
    ++args;
  }
  return std::any_of(args, node.args.end(), [this](NodeId arg) { return IsProse(arg); });
}

Verdict Comparer::Compare(NodeId a, NodeId b) {
  if (depth_ >= kMaxCompareDepth || !budget_.Steps()) {
    return Say(Verdict::kUndecided, "out of reach of the work budget");
  }
  ++depth_;
  Verdict verdict = CompareForms(a, b);
  --depth_;
  if (verdict == Verdict::kNotEqual &&
      ((IsSingle(a) && IsUnknown(a)) || (IsSingle(b) && IsUnknown(b)))) {
    verdict = Say(Verdict::kUndecided, "a name that is not known, which may mean anything");
  }
  return verdict;
}

Verdict Comparer::CompareForms(NodeId a, NodeId b) {
  const auto either = [&](Kind kind) { return KindOf(a) == kind || KindOf(b) == kind; };
  if (either(Kind::kQualified)) {
    return CompareQualified(a, b);
  }
  if (either(Kind::kText)) {
    return CompareTexts(a, b);
  }
  const bool collections = IsCollection(a) || IsCollection(b);
  if (either(Kind::kRelation) || collections) {
    Verdict verdict = Verdict::kUndecided;
    if (CompareNamed(a, b, verdict)) {
      return verdict;
    }
  }
  if (either(Kind::kCases)) {
    return CompareCases(a, b);
  }
  RegionReader regions(tree_, scalars_, budget_);
  if (regions.IsRegion(a) || regions.IsRegion(b)) {
    const Verdict verdict = CompareRegions(a, b);
    // What a condition selects cannot be told by its form.
    if (verdict != Verdict::kUndecided || either(Kind::kBuilder)) {
      return verdict;
    }
  }
  if (either(Kind::kRelation) && !collections) {
    return CompareRelations(a, b);
  }
  if (HasPlusMinus(a) || HasPlusMinus(b)) {
    return ComparePlusMinus(a, b);
  }
  // \{(1, 2)\} is the point.
  const auto only = [&](NodeId id, NodeId other) {
    const Node& node = tree_.at(id);
    return node.kind == Kind::kSet && node.args.size() == 1 &&
           KindOf(node.args[0]) == KindOf(other);
  };
  if (only(a, b)) {
    return Compare(tree_.at(a).args[0], b);
  }
  if (only(b, a)) {
    return Compare(a, tree_.at(b).args[0]);
  }
  if (either(Kind::kTuple)) {
    return CompareTuples(a, b);
  }
  if (either(Kind::kMatrix)) {
    return CompareMatrices(a, b);
  }
  if (collections) {
    return CompareLists(a, b);
  }
  if (either(Kind::kRatio)) {
    return CompareRatios(a, b);
  }
  return CompareQuantities(a, b);
}

Verdict Comparer::CompareQualified(NodeId a, NodeId b) {
  const bool left = KindOf(a) == Kind::kQualified;
  const bool right = KindOf(b) == Kind::kQualified;
  const NodeId first = left ? tree_.at(a).args[0] : a;
  const NodeId second = right ? tree_.at(b).args[0] : b;
  const auto is_family = [&](NodeId id) { return tree_.at(id).args.size() == 2; };
  if ((left && is_family(a)) || (right && is_family(b))) {
    const bool families = left && right && is_family(a) && is_family(b);
    if (!families && left && right) {
      return Say(Verdict::kUndecided, "different conditions");
    }
    return CompareFamilies(first, left ? tree_.at(a).args[1] : kNoNode, second,
                           right ? tree_.at(b).args[1] : kNoNode);
  }
  const Verdict statements = Compare(first, second);
  if (statements == Verdict::kNotEqual) {
    return statements;
  }
  if (left != right) {
    return Say(Verdict::kNotEqual, "only one side states a condition");
  }
  if (tree_.at(a).text == tree_.at(b).text) {
    return statements;
  }
  return Say(Verdict::kUndecided, "the conditions are worded differently");
}

// Whether a difference of single answers proves nothing, since one of them has a name that is not
// known, or something that is no number among its operands.
bool Comparer::IsUnknown(NodeId id) const {
  if (!budget_.Steps()) {
    return true;
  }
  const Node& node = tree_.at(id);
  if (node.doubtful) {
    return true;
  }
  switch (node.kind) {
    case Kind::kNumber:
    case Kind::kUnit:
    case Kind::kConstant:
      return false;
    case Kind::kSymbol:
      return IsWordySymbol(node.text);
    case Kind::kCall:
      if (node.text[0] == '?' && !IsGrowth(node.text) && node.text != kResidueClass) {
        return true;
      }
      break;
    case Kind::kSum:
    case Kind::kProduct:
    case Kind::kPower:
    case Kind::kPlusMinus:
      break;
    default:
      return true;
  }
  return std::any_of(node.args.begin(), node.args.end(),
                     [this](NodeId arg) { return IsUnknown(arg); });
}

// Whether an answer is one expression, and no collection, relation or words.
bool Comparer::IsSingle(NodeId id) const {
  switch (KindOf(id)) {
    case Kind::kNumber:
    case Kind::kSymbol:
    case Kind::kConstant:
    case Kind::kSum:
    case Kind::kProduct:
    case Kind::kPower:
    case Kind::kCall:
    case Kind::kPlusMinus:
    case Kind::kUnit:
      return true;
    default:
      return false;
  }
}

}  // namespace hyper::answer

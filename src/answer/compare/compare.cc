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

// Whether a set holds one thing of the kind of the other answer: \{(1, 2)\} is the point.
bool HoldsOnly(const Expression& tree, NodeId set, NodeId other) {
  const Node& node = tree.at(set);
  return node.kind == Kind::kSet && node.args.size() == 1 &&
         tree.at(node.args[0]).kind == tree.at(other).kind;
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
  if (verdict != Verdict::kNotEqual) {
    return verdict;
  }
  if (IsProse(a) || IsProse(b)) {
    return Say(Verdict::kUndecided, "words around the mathematics");
  }
  return GoesOn(a) || GoesOn(b) ? Say(Verdict::kUndecided, "a list that goes on") : verdict;
}

Verdict Comparer::Compare(NodeId a, NodeId b) {
  if (depth_ >= kMaxCompareDepth || !budget_.Steps()) {
    return Say(Verdict::kUndecided, "out of reach of the work budget");
  }
  ++depth_;
  Verdict verdict = CompareForms(a, b);
  if (verdict == Verdict::kNotEqual) {
    verdict = ProvenDifference(a, b);
  }
  --depth_;
  return verdict;
}

Verdict Comparer::CompareForms(NodeId a, NodeId b) {
  const auto either = [&](Kind kind) { return KindOf(a) == kind || KindOf(b) == kind; };
  if (either(Kind::kApproximated)) {
    return CompareApproximated(a, b);
  }
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
  if (HoldsOnly(tree_, a, b)) {
    return Compare(tree_.at(a).args[0], b);
  }
  if (HoldsOnly(tree_, b, a)) {
    return Compare(a, tree_.at(b).args[0]);
  }
  if (IsVector(a) != IsVector(b) && HasUnitVectors(IsVector(a) ? b : a)) {
    return CompareUnitVectors(a, b);
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

// An answer that only illustrates or rounds a value. What equals the illustration, or rounds to it,
// may be meant by it.
Verdict Comparer::CompareApproximated(NodeId a, NodeId b) {
  if (KindOf(a) != Kind::kApproximated) {
    std::swap(a, b);
  }
  const std::vector<NodeId> members = tree_.at(a).args;
  const Verdict exact = Compare(members[0], b);
  if (exact != Verdict::kNotEqual) {
    return exact;
  }
  const std::string reason = reason_;
  const NodeId other = KindOf(b) == Kind::kApproximated ? tree_.at(b).args[0] : b;
  for (size_t i = members.size() == 1 ? 0 : 1; i < members.size() && IsSingle(other); ++i) {
    const bool rounds = IsSingle(members[i]) &&
                        scalars_.MayRoundTo(SplitUnit(members[i]).value, SplitUnit(other).value);
    if (rounds || Compare(members[i], other) == Verdict::kEqual) {
      return Say(Verdict::kUndecided, "an approximation of the other answer");
    }
  }
  return Say(Verdict::kNotEqual, reason);
}

}  // namespace hyper::answer

#include "src/answer/compare/compare.h"

#include <algorithm>
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

bool OneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool IsEmptySetText(std::string_view text) {
  return OneOf(text, {"no solution", "no solutions", "none", "empty set", "the empty set",
                      "no real solution", "no real solutions"});
}

bool IsRealsText(std::string_view text) {
  return OneOf(text, {"all real numbers", "all reals", "real numbers", "the real numbers", "reals",
                      "any real number"});
}

long NumberWord(std::string_view text) {
  static constexpr std::string_view kWords[] = {
      "zero",     "one",     "two",     "three",     "four",     "five",     "six",
      "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
      "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
  const auto* const found = std::find(std::begin(kWords), std::end(kWords), text);
  return found == std::end(kWords) ? -1 : found - std::begin(kWords);
}

}  // namespace

Verdict AllOf(Verdict a, Verdict b) {
  if (a == Verdict::kNotEqual || b == Verdict::kNotEqual) return Verdict::kNotEqual;
  return a == Verdict::kUndecided ? a : b;
}

Verdict Comparer::Say(Verdict verdict, std::string_view reason) {
  reason_ = reason;
  return verdict;
}

Verdict Comparer::Compare(NodeId a, NodeId b) {
  if (depth_ >= kMaxCompareDepth || !budget_.Steps()) {
    return Say(Verdict::kUndecided, "out of reach of the work budget");
  }
  ++depth_;
  const Verdict verdict = CompareForms(a, b);
  --depth_;
  return verdict;
}

Verdict Comparer::CompareForms(NodeId a, NodeId b) {
  const auto either = [&](Kind kind) { return KindOf(a) == kind || KindOf(b) == kind; };
  if (either(Kind::kQualified)) return CompareQualified(a, b);
  if (either(Kind::kText)) return CompareTexts(a, b);
  const bool collections = IsCollection(a) || IsCollection(b);
  if (either(Kind::kRelation) || collections) {
    Verdict verdict = Verdict::kUndecided;
    if (CompareNamed(a, b, verdict)) return verdict;
  }
  RegionReader regions(tree_, scalars_, budget_);
  if (regions.IsRegion(a) || regions.IsRegion(b)) {
    const Verdict verdict = CompareRegions(a, b);
    // What a condition selects cannot be told by its form.
    if (verdict != Verdict::kUndecided || either(Kind::kBuilder)) return verdict;
  }
  if (either(Kind::kRelation) && !collections) return CompareRelations(a, b);
  if (HasPlusMinus(a) || HasPlusMinus(b)) return ComparePlusMinus(a, b);
  if (either(Kind::kTuple)) return CompareTuples(a, b);
  if (either(Kind::kMatrix)) return CompareMatrices(a, b);
  if (collections) return CompareUnordered(Elements(a), Elements(b));
  if (either(Kind::kRatio)) return CompareRatios(a, b);
  return CompareQuantities(a, b);
}

Verdict Comparer::CompareQualified(NodeId a, NodeId b) {
  const bool left = KindOf(a) == Kind::kQualified;
  const bool right = KindOf(b) == Kind::kQualified;
  const Verdict statements =
      Compare(left ? tree_.at(a).args[0] : a, right ? tree_.at(b).args[0] : b);
  if (statements == Verdict::kNotEqual) return statements;
  if (left != right) return Say(Verdict::kNotEqual, "only one side states a condition");
  if (tree_.at(a).text == tree_.at(b).text) return statements;
  return Say(Verdict::kUndecided, "the conditions are worded differently");
}

Verdict Comparer::CompareTexts(NodeId a, NodeId b) {
  if (KindOf(a) != Kind::kText) std::swap(a, b);
  const std::string text = tree_.at(a).text;
  const Node& other = tree_.at(b);
  if (other.kind == Kind::kText || other.kind == Kind::kSymbol) {
    const bool same = text == LowerCase(other.text);
    if (same) return Say(Verdict::kEqual, "the same words");
    const bool reals = IsRealsText(text) && (IsRealsText(other.text) || other.text == "bbR");
    const bool none = IsEmptySetText(text) && IsEmptySetText(other.text);
    if (reals || none) return Say(Verdict::kEqual, "two names of one set");
    return Say(Verdict::kNotEqual, "different words");
  }
  if (const long number = NumberWord(text); number >= 0) {
    return Compare(tree_.AddNumber(Rational(number)), b);
  }
  if (IsEmptySetText(text) && other.kind == Kind::kSet) {
    return other.args.empty() ? Say(Verdict::kEqual, "both are the empty set")
                              : Say(Verdict::kNotEqual, "only one side is the empty set");
  }
  if (IsRealsText(text)) return Compare(tree_.AddText(Kind::kSymbol, "bbR"), b);
  return Say(Verdict::kNotEqual, "words against mathematics");
}

}  // namespace hyper::answer

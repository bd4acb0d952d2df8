// Collections: tuples, sets, lists, matrices, ratios and the two values of plus-minus.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/compare.h"
#include "src/answer/evaluate.h"

namespace hyper {

bool Comparer::IsCollection(NodeId id) const {
  return KindOf(id) == Kind::kSet || KindOf(id) == Kind::kList;
}

bool Comparer::HasPlusMinus(NodeId id) const {
  if (!budget_.Steps()) return false;
  const Node& node = tree_.at(id);
  return node.kind == Kind::kPlusMinus ||
         std::any_of(node.args.begin(), node.args.end(),
                     [&](NodeId arg) { return HasPlusMinus(arg); });
}

// The expression with each plus-minus replaced by one of its signs, all by the same.
NodeId Comparer::WithSign(NodeId id, bool upper) {
  if (!HasPlusMinus(id)) return id;
  Node node = tree_.at(id);
  for (NodeId& arg : node.args) arg = WithSign(arg, upper);
  if (node.kind != Kind::kPlusMinus) return tree_.Add(std::move(node));
  if (upper == (node.text == "+")) return node.args[0];
  return tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), node.args[0]});
}

// Members of a set or list, plus-minus written out; anything else is its own only member.
std::vector<NodeId> Comparer::Elements(NodeId id) {
  std::vector<NodeId> members = IsCollection(id) ? tree_.at(id).args : std::vector<NodeId>{id};
  std::vector<NodeId> elements;
  for (const NodeId member : members) {
    if (HasPlusMinus(member)) {
      elements.push_back(WithSign(member, true));
      elements.push_back(WithSign(member, false));
    } else {
      elements.push_back(member);
    }
  }
  return elements;
}

Verdict Comparer::CompareTuples(NodeId a, NodeId b) {
  if (KindOf(a) != Kind::kTuple) std::swap(a, b);
  const std::vector<NodeId> left = tree_.at(a).args;
  const std::string brackets = tree_.at(a).text;
  const std::vector<NodeId> right = tree_.at(b).args;
  if (KindOf(b) == Kind::kTuple) {
    // Of two elements it may be an interval, whose brackets count.
    if (left.size() == 2 && right.size() == 2 && brackets != tree_.at(b).text) {
      return Say(Verdict::kNotEqual, "different brackets");
    }
    return CompareInOrder(left, right);
  }
  if (KindOf(b) == Kind::kList) {
    return brackets == "[]" ? CompareUnordered(left, right) : CompareInOrder(left, right);
  }
  if (KindOf(b) == Kind::kMatrix && options_.vector_as_tuple) {
    const bool vector =
        tree_.at(b).columns == 1 || tree_.at(b).columns == static_cast<int>(right.size());
    if (vector) return CompareInOrder(left, right);
  }
  if (HasPlusMinus(a) || HasPlusMinus(b)) {
    return CompareUnordered(Elements(a), Elements(b));
  }
  return Say(Verdict::kNotEqual, "several numbers in order against one thing");
}

Verdict Comparer::CompareInOrder(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  if (a.size() != b.size()) return Say(Verdict::kNotEqual, "different numbers of elements");
  Verdict all = Verdict::kEqual;
  std::string reason = "all elements are equal";
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Verdict verdict = Compare(a[i], b[i]);
    if (verdict == Verdict::kNotEqual) {
      return Say(verdict, "elements " + std::to_string(i + 1) + ": " + reason_);
    }
    if (verdict == Verdict::kUndecided) reason = reason_;
    all = AllOf(all, verdict);
  }
  return Say(all, reason);
}

// Equal as sets: each element of either side equals one of the other.
Verdict Comparer::CompareUnordered(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  if (a.empty() != b.empty()) return Say(Verdict::kNotEqual, "only one side is empty");
  std::vector<bool> matched(b.size(), false);
  std::vector<bool> open(b.size(), false);
  bool undecided = false;
  for (const NodeId left : a) {
    bool found = false;
    bool unknown = false;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Verdict verdict = Compare(left, b[j]);
      if (verdict == Verdict::kEqual) found = matched[j] = true;
      if (verdict == Verdict::kUndecided) unknown = open[j] = true;
    }
    if (!found && !unknown) return Say(Verdict::kNotEqual, "an element has no counterpart");
    undecided = undecided || !found;
  }
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (!matched[j] && !open[j]) return Say(Verdict::kNotEqual, "an element has no counterpart");
    undecided = undecided || !matched[j];
  }
  return undecided ? Say(Verdict::kUndecided, "some elements could not be told apart")
                   : Say(Verdict::kEqual, "the same elements");
}

Verdict Comparer::CompareMatrices(NodeId a, NodeId b) {
  if (KindOf(a) == KindOf(b)) {
    if (tree_.at(a).columns != tree_.at(b).columns) {
      return Say(Verdict::kNotEqual, "matrices of different shape");
    }
    const std::vector<NodeId> left = tree_.at(a).args;
    const std::vector<NodeId> right = tree_.at(b).args;
    return CompareInOrder(left, right);
  }
  const NodeId other = KindOf(a) == Kind::kMatrix ? b : a;
  if (!scalars_.Symbols(other).empty()) {
    return Say(Verdict::kUndecided, "a matrix against an expression with variables");
  }
  return Say(Verdict::kNotEqual, "a matrix against something else");
}

// "3:4" is 6:8 and 3/4, but "12:00" may be a time of day, which only equals itself.
Verdict Comparer::CompareRatios(NodeId a, NodeId b) {
  if (KindOf(a) != Kind::kRatio) std::swap(a, b);
  const std::string digits = tree_.at(a).text;
  const auto quotient = [&](const std::vector<NodeId>& args) {
    const NodeId inverse = tree_.Add(Kind::kPower, {args[1], tree_.AddNumber(Rational(-1))});
    return tree_.Add(Kind::kProduct, {args[0], inverse});
  };
  const std::vector<NodeId> first = tree_.at(a).args;
  if (KindOf(b) != Kind::kRatio) {
    if (first.size() != 2) return Say(Verdict::kNotEqual, "a ratio against one thing");
    return Compare(quotient(first), b);
  }
  const std::vector<NodeId> second = tree_.at(b).args;
  if (first.size() != second.size()) return Say(Verdict::kNotEqual, "different numbers of parts");
  const Verdict written = CompareInOrder(first, second);
  if (written == Verdict::kEqual) return written;
  const bool clock = first.size() == 2 && digits.size() == 2 && tree_.at(b).text.size() == 2;
  Verdict proportional = Verdict::kEqual;
  for (std::size_t i = 1; i < first.size(); ++i) {
    const NodeId cross = tree_.Add(Kind::kProduct, {first[0], second[i]});
    const NodeId other = tree_.Add(Kind::kProduct, {second[0], first[i]});
    proportional = AllOf(proportional, Compare(cross, other));
  }
  const auto zero = RationalValue(tree_, first[1], budget_);
  if (zero && zero->IsZero()) return Say(Verdict::kNotEqual, "different times of day");
  if (proportional == Verdict::kEqual && clock) {
    return Say(Verdict::kUndecided, "equal as ratios, different as times of day");
  }
  return proportional;
}

}  // namespace hyper

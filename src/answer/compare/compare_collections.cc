// Collections: tuples, sets, lists, matrices and ratios.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/read/names.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

constexpr std::string_view kUnitVectors[] = {"hat{i}", "hat{j}", "hat{k}"};

}  // namespace

bool Comparer::IsCollection(NodeId id) const {
  return KindOf(id) == Kind::kSet || KindOf(id) == Kind::kList;
}

// Whether an answer is a tuple, a column or a row.
bool Comparer::IsVector(NodeId id) const {
  const Node& node = tree_.at(id);
  const bool line = node.columns == 1 || node.columns == static_cast<int>(node.args.size());
  return (node.kind == Kind::kTuple && node.text == "()") || (node.kind == Kind::kMatrix && line);
}

size_t Comparer::VectorSize(NodeId id) const { return tree_.at(id).args.size(); }

bool Comparer::HasUnitVectors(NodeId id) {
  const std::vector<std::string> symbols = scalars_.Symbols(id);
  return IsSingle(id) && std::any_of(symbols.begin(), symbols.end(), [](const auto& symbol) {
           return IsOneOf(symbol, kUnitVectors);
         });
}

// The components of a sum of unit vectors; kNoNode for any other expression, and where there are
// not two or three.
NodeId Comparer::VectorOfUnits(NodeId id, size_t size) {
  if (size < 2 || size > std::size(kUnitVectors)) {
    return kNoNode;
  }
  std::vector<NodeId> components;
  std::vector<NodeId> terms;
  for (const std::string_view unit : kUnitVectors) {
    NodeId component = id;
    for (const std::string_view each : kUnitVectors) {
      component = scalars_.Substituted(component, std::string(each),
                                       tree_.AddNumber(Rational(each == unit ? 1 : 0)));
    }
    components.push_back(component);
    terms.push_back(
        tree_.Add(Kind::kProduct, {component, tree_.AddText(Kind::kSymbol, std::string(unit))}));
  }
  const bool linear = scalars_.Compare(id, tree_.Add(Kind::kSum, terms)) == Verdict::kEqual;
  const NodeId zero = tree_.AddNumber(Rational(0));
  const bool flat = size == 3 || scalars_.Compare(components[2], zero) == Verdict::kEqual;
  if (!linear || !flat) {
    return kNoNode;
  }
  components.resize(size);
  return tree_.Add(Kind::kTuple, std::move(components), "()");
}

// A vector and an expression of unit vectors.
Verdict Comparer::CompareUnitVectors(NodeId a, NodeId b) {
  const NodeId left = IsVector(a) ? a : VectorOfUnits(a, VectorSize(b));
  const NodeId right = IsVector(b) ? b : VectorOfUnits(b, VectorSize(a));
  return left == kNoNode || right == kNoNode
             ? Say(Verdict::kUndecided, "unit vectors in no sum that could be read")
             : CompareTuples(left, right);
}

Verdict Comparer::CompareTuples(NodeId a, NodeId b) {
  if (KindOf(a) != Kind::kTuple) {
    std::swap(a, b);
  }
  const std::vector<NodeId> left = tree_.at(a).args;
  const std::string brackets = tree_.at(a).text;
  const std::vector<NodeId> right = tree_.at(b).args;
  if (brackets == "by" && (KindOf(b) != Kind::kTuple || tree_.at(b).text != "by")) {
    return Say(Verdict::kUndecided, "sizes against something else");
  }
  if (KindOf(b) == Kind::kTuple && tree_.at(b).text == "by" && brackets != "by") {
    return Say(Verdict::kUndecided, "sizes against something else");
  }
  if (KindOf(b) == Kind::kTuple) {
    // Of two elements it may be an interval, whose brackets count.
    if (left.size() == 2 && right.size() == 2 && brackets != tree_.at(b).text) {
      return Say(Verdict::kNotEqual, "different brackets");
    }
    return CompareInOrder(left, right);
  }
  if (KindOf(b) == Kind::kList) {
    if (const std::vector<NodeId> named = OrderedByName(right); !named.empty()) {
      // "y = 3, x = 2" is the point (2, 3). Against the order as written nothing is proved: the
      // letters need not be those of the axes.
      const Verdict sorted = CompareInOrder(left, named);
      if (sorted != Verdict::kNotEqual || named == right) {
        return sorted;
      }
      const std::string reason = reason_;
      return CompareInOrder(left, right) == Verdict::kNotEqual
                 ? Say(Verdict::kNotEqual, reason)
                 : Say(Verdict::kUndecided, "the order of the names is not that of the tuple");
    }
    return brackets == "[]" ? CompareUnordered(left, right) : CompareInOrder(left, right);
  }
  if (KindOf(b) == Kind::kMatrix && options_.vector_as_tuple) {
    const bool vector =
        tree_.at(b).columns == 1 || tree_.at(b).columns == static_cast<int>(right.size());
    if (vector) {
      return CompareInOrder(left, right);
    }
  }
  return Say(Verdict::kNotEqual, "several numbers in order against one thing");
}

// Assignments to different names, sorted by them; empty where the elements are anything else.
std::vector<NodeId> Comparer::OrderedByName(const std::vector<NodeId>& elements) {
  std::vector<std::pair<std::string, NodeId>> named;
  for (const NodeId element : elements) {
    if (KindOf(element) != Kind::kRelation) {
      return {};
    }
    named.emplace_back(Unname(element).symbol, element);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NodeId> sorted;
  for (size_t i = 0; i < named.size(); ++i) {
    if (named[i].first.empty() || (i > 0 && named[i].first == named[i - 1].first)) {
      return {};
    }
    sorted.push_back(named[i].second);
  }
  return sorted;
}

Verdict Comparer::CompareInOrder(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  if (a.size() != b.size()) {
    return Say(Verdict::kNotEqual, "different numbers of elements");
  }
  Verdict all = Verdict::kEqual;
  std::string reason = "all elements are equal";
  for (size_t i = 0; i < a.size(); ++i) {
    const Verdict verdict = Compare(a[i], b[i]);
    if (verdict == Verdict::kNotEqual) {
      reason = "elements " + std::to_string(i + 1) + ": " + reason_;
      return MayBeSameLine(a, b) ? Say(Verdict::kUndecided, "lines with the same points")
                                 : Say(verdict, reason);
    }
    if (verdict == Verdict::kUndecided) {
      reason = reason_;
    }
    all = AllOf(all, verdict);
  }
  return Say(all, reason);
}

Verdict Comparer::CompareLists(NodeId a, NodeId b) {
  const Verdict verdict = CompareUnordered(Elements(a), Elements(b));
  if (verdict != Verdict::kNotEqual) {
    return verdict;
  }
  for (const auto& [list, other] : {std::pair(a, b), std::pair(b, a)}) {
    const NodeId amount = IsSingle(other) ? JoinedAmounts(list) : kNoNode;
    if (amount != kNoNode && Compare(amount, other) == Verdict::kEqual) {
      return Say(Verdict::kEqual, "the commas join one amount");
    }
  }
  if (MayBeDecimal(a, b) || MayBeDecimal(b, a)) {
    return Say(Verdict::kUndecided, "the comma may be that of a decimal");
  }
  const std::vector<NodeId> left = OrderedByName(Elements(a));
  const std::vector<NodeId> right = OrderedByName(Elements(b));
  if (!left.empty() && left.size() == right.size() && MayBeSameLine(left, right)) {
    return Say(Verdict::kUndecided, "lines with the same points");
  }
  return tree_.at(a).text == kGuessedGroups || tree_.at(b).text == kGuessedGroups
             ? Say(Verdict::kUndecided, "semicolons may group or only separate")
             : verdict;
}

// Whether a list of two may be one number with a decimal comma, with a unit behind it or without,
// and that number the other answer: 1,22 against 1.22, 3,5 kg against 3.5 kg.
bool Comparer::MayBeDecimal(NodeId list, NodeId other) {
  const Node node = tree_.at(list);
  if (node.kind != Kind::kList || node.args.size() != 2 || !IsSingle(other)) {
    return false;
  }
  Node amount = tree_.at(node.args[1]);
  const bool has_unit = amount.kind == Kind::kProduct;
  const auto whole = [&](NodeId id) -> std::optional<long> {
    constexpr long kLargest = 1'000'000'000;
    const Node& number = tree_.at(id);
    return number.kind == Kind::kNumber ? number.number.ToLong(kLargest) : std::nullopt;
  };
  const std::optional<long> before = whole(node.args[0]);
  const std::optional<long> behind = whole(has_unit ? amount.args[0] : node.args[1]);
  if (!before || !behind || *behind < 0) {
    return false;
  }
  const std::string digits = std::to_string(*behind);
  // 1,05 was read as 1 and 5.
  for (const std::string zeros : {"", "0", "00"}) {
    const std::string fraction = zeros + digits;
    const auto number = Rational::FromDigits(std::to_string(std::abs(*before)) + fraction,
                                             static_cast<long>(fraction.size()), 0, 10, budget_);
    if (!number) {
      return true;
    }
    NodeId read = tree_.AddNumber(*before < 0 ? number->Negated() : *number);
    if (has_unit) {
      amount.args[0] = read;
      read = tree_.Add(amount);
    }
    if (Compare(read, other) != Verdict::kNotEqual) {
      return true;
    }
  }
  return false;
}

// Equal as sets: each element of either side equals one of the other.
Verdict Comparer::CompareUnordered(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  if (a.empty() != b.empty()) {
    return Say(Verdict::kNotEqual, "only one side is empty");
  }
  std::vector<bool> matched(b.size(), false);
  std::vector<bool> open(b.size(), false);
  bool undecided = false;
  for (const NodeId left : a) {
    bool found = false;
    bool unknown = false;
    for (size_t j = 0; j < b.size(); ++j) {
      const Verdict verdict = Compare(left, b[j]);
      if (verdict == Verdict::kEqual) {
        found = matched[j] = true;
      }
      if (verdict == Verdict::kUndecided) {
        unknown = open[j] = true;
      }
    }
    if (!found && !unknown) {
      return Say(Verdict::kNotEqual, "an element has no counterpart");
    }
    undecided = undecided || !found;
  }
  for (size_t j = 0; j < b.size(); ++j) {
    if (!matched[j] && !open[j]) {
      return Say(Verdict::kNotEqual, "an element has no counterpart");
    }
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
  if (KindOf(a) != Kind::kRatio) {
    std::swap(a, b);
  }
  const std::string digits = tree_.at(a).text;
  const auto quotient = [&](const std::vector<NodeId>& args) {
    const NodeId inverse = tree_.Add(Kind::kPower, {args[1], tree_.AddNumber(Rational(-1))});
    return tree_.Add(Kind::kProduct, {args[0], inverse});
  };
  const std::vector<NodeId> first = tree_.at(a).args;
  if (KindOf(b) != Kind::kRatio) {
    if (first.size() != 2) {
      return Say(Verdict::kNotEqual, "a ratio against one thing");
    }
    const Verdict verdict = Compare(quotient(first), b);
    return verdict == Verdict::kNotEqual && IsSingle(b) && MayBeClock(a, b)
               ? Say(Verdict::kUndecided, "a ratio may be a time")
               : verdict;
  }
  const std::vector<NodeId> second = tree_.at(b).args;
  if (first.size() != second.size()) {
    return Say(Verdict::kNotEqual, "different numbers of parts");
  }
  const Verdict written = CompareInOrder(first, second);
  if (written == Verdict::kEqual) {
    return written;
  }
  const auto minutes = [](const std::string& text) { return text.size() == 2 && text < "60"; };
  const bool clock = first.size() == 2 && minutes(digits) && minutes(tree_.at(b).text);
  Verdict proportional = Verdict::kEqual;
  for (size_t i = 1; i < first.size(); ++i) {
    const NodeId cross = tree_.Add(Kind::kProduct, {first[0], second[i]});
    const NodeId other = tree_.Add(Kind::kProduct, {second[0], first[i]});
    proportional = AllOf(proportional, Compare(cross, other));
  }
  const auto zero = RationalValue(tree_, first[1], budget_);
  if (zero && zero->IsZero()) {
    return Say(Verdict::kNotEqual, "different times of day");
  }
  if (proportional == Verdict::kEqual && clock) {
    return Say(Verdict::kUndecided, "equal as ratios, different as times of day");
  }
  return proportional;
}

}  // namespace hyper::answer

// Points that run along a line with a parameter: (1 + t, 2t), or x = 1 + t, y = 2t.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "src/answer/compare/compare.h"

namespace hyper::answer {

// The line of points whose coordinates have one letter between them and are linear in it, not all
// constant; nothing for any other elements.
std::optional<Comparer::Line> Comparer::LineOf(const std::vector<NodeId>& elements) {
  Line line;
  bool moves = false;
  std::vector<NodeId> coordinates;
  for (const NodeId element : elements) {
    const Named named = KindOf(element) == Kind::kRelation ? Unname(element) : Named{"", element};
    const std::vector<std::string> symbols = scalars_.Symbols(named.value);
    const bool other = symbols.size() > 1 || (!symbols.empty() && !line.parameter.empty() &&
                                              symbols[0] != line.parameter);
    if (!IsSingle(named.value) || other || (!symbols.empty() && symbols[0] == named.symbol)) {
      return std::nullopt;
    }
    line.parameter = symbols.empty() ? line.parameter : symbols[0];
    coordinates.push_back(named.value);
  }
  const auto at = [&](NodeId id, long value) {
    return scalars_.Substituted(id, line.parameter, tree_.AddNumber(Rational(value)));
  };
  for (const NodeId coordinate : coordinates) {
    line.origin.push_back(at(coordinate, 0));
    line.direction.push_back(Minus(at(coordinate, 1), line.origin.back()));
    const NodeId next = Minus(at(coordinate, 2), at(coordinate, 1));
    if (scalars_.Compare(next, line.direction.back()) != Verdict::kEqual) {
      return std::nullopt;
    }
    moves = moves || scalars_.Compare(next, tree_.AddNumber(Rational(0))) != Verdict::kEqual;
  }
  return moves ? std::optional(std::move(line)) : std::nullopt;
}

// Whether no two coordinates prove that the vectors have different directions.
bool Comparer::MayBeParallel(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  for (size_t i = 1; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const NodeId left = tree_.Add(Kind::kProduct, {a[i], b[j]});
      const NodeId right = tree_.Add(Kind::kProduct, {a[j], b[i]});
      if (scalars_.Compare(left, right) == Verdict::kNotEqual) {
        return false;
      }
    }
  }
  return true;
}

// Whether two such points, of one letter, may run along the same line: (1 + t, 2t) and
// (2 + t, 2 + 2t) do.
bool Comparer::MayBeSameLine(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  if (a.size() != b.size() || a.size() < 2) {
    return false;
  }
  const std::optional<Line> first = LineOf(a);
  const std::optional<Line> second = first ? LineOf(b) : std::nullopt;
  if (!second || first->parameter != second->parameter) {
    return false;
  }
  std::vector<NodeId> between;
  for (size_t i = 0; i < a.size(); ++i) {
    between.push_back(Minus(first->origin[i], second->origin[i]));
  }
  return MayBeParallel(first->direction, second->direction) &&
         MayBeParallel(between, first->direction);
}

}  // namespace hyper::answer

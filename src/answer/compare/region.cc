#include "src/answer/compare/region.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

constexpr std::string_view kOrderings = "<>lgn";

bool IsInfinity(const Expression& tree, NodeId id) {
  const Node& node = tree.at(id);
  if (node.kind == Kind::kConstant) {
    return node.text == "infinity";
  }
  return node.kind == Kind::kProduct &&
         std::any_of(node.args.begin(), node.args.end(),
                     [&](NodeId arg) { return IsInfinity(tree, arg); });
}

}  // namespace

bool RegionReader::IsRegion(NodeId id) {
  const Node& node = tree_.at(id);
  switch (node.kind) {
    case Kind::kJoin:
    case Kind::kBuilder:
      return true;
    case Kind::kRelation:
      return node.text.find_first_of(kOrderings) != std::string::npos || node.text == "i";
    case Kind::kList:
      return std::any_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
        return tree_.at(arg).kind != Kind::kTuple && IsRegion(arg);
      });
    case Kind::kTuple:
      return node.args.size() == 2 &&
             (node.text == "[)" || node.text == "(]" || IsInfinity(tree_, node.args[0]) ||
              IsInfinity(tree_, node.args[1]));
    case Kind::kSymbol:
      return node.text == "bbR";
    default:
      return false;
  }
}

std::optional<Region> RegionReader::Read(NodeId id) {
  if (!budget_.Steps()) {
    return std::nullopt;
  }
  const Node& node = tree_.at(id);
  switch (node.kind) {
    case Kind::kTuple:
      return ReadTuple(id);
    case Kind::kSet:
      return ReadSet(id);
    case Kind::kRelation:
      return ReadRelation(id);
    case Kind::kList:
      return ReadList(id);
    case Kind::kSymbol:
      if (node.text == "bbR") {
        return Region{{Region::Interval{}}, ""};
      }
      return std::nullopt;
    case Kind::kJoin: {
      const std::string name = node.text;
      const NodeId right_id = node.args[1];
      const auto left = Read(node.args[0]);
      const auto right = left ? Read(right_id) : std::nullopt;
      if (!right) {
        return std::nullopt;
      }
      return Combine(*left, *right,
                     name == "union"          ? Operation::kUnion
                     : name == "intersection" ? Operation::kIntersection
                                              : Operation::kDifference);
    }
    case Kind::kBuilder:
      return ReadBuilder(id);
    default:
      return std::nullopt;
  }
}

// The elements that meet the condition, of the set before it where one is named. The variable is
// bound: {x | x > 0} is {y | y > 0}.
std::optional<Region> RegionReader::ReadBuilder(NodeId id) {
  const std::vector<NodeId> parts = tree_.at(id).args;
  const Node element = tree_.at(parts[0]);
  const bool in_set = element.kind == Kind::kRelation && element.text == "i";
  const NodeId name = in_set ? element.args[0] : parts[0];
  if (tree_.at(name).kind != Kind::kSymbol) {
    return std::nullopt;
  }
  const std::string variable = tree_.at(name).text;
  auto region = Read(parts[1]);
  if (!region || (!region->variable.empty() && region->variable != variable)) {
    return std::nullopt;
  }
  if (in_set) {
    const auto domain = Read(element.args[1]);
    region = domain ? Combine(*domain, *region, Operation::kIntersection) : domain;
  }
  if (region) {
    region->variable.clear();
  }
  return region;
}

Region::Interval RegionReader::Between(NodeId low, NodeId high, bool low_closed, bool high_closed) {
  Region::Interval interval{low, high, low_closed, high_closed};
  if (low != kNoNode && IsInfinity(tree_, low)) {
    interval.low = kNoNode;
  }
  if (high != kNoNode && IsInfinity(tree_, high)) {
    interval.high = kNoNode;
  }
  return interval;
}

std::optional<Region> RegionReader::ReadTuple(NodeId id) {
  const Node node = tree_.at(id);
  if (node.args.size() != 2 || node.text == "by") {
    return std::nullopt;
  }
  for (const NodeId end : node.args) {
    if (!scalars_.Symbols(end).empty()) {
      return std::nullopt;
    }
  }
  Region region;
  region.intervals.push_back(
      Between(node.args[0], node.args[1], node.text[0] == '[', node.text[1] == ']'));
  return region;
}

std::optional<Region> RegionReader::ReadSet(NodeId id) {
  const std::vector<NodeId> elements = tree_.at(id).args;
  Region region;
  for (const NodeId element : elements) {
    const Kind kind = tree_.at(element).kind;
    const bool number = kind == Kind::kNumber || kind == Kind::kProduct || kind == Kind::kSum ||
                        kind == Kind::kPower || kind == Kind::kConstant || kind == Kind::kCall;
    if (!number || !scalars_.Symbols(element).empty()) {
      return std::nullopt;
    }
    region.intervals.push_back({element, element, true, true});
  }
  return region;
}

// A chain such as a < x <= b is the conjunction of its links.
std::optional<Region> RegionReader::ReadRelation(NodeId id) {
  const Node node = tree_.at(id);
  if (node.text == "i") {
    auto region = Read(node.args[1]);
    if (region && tree_.at(node.args[0]).kind == Kind::kSymbol) {
      region->variable = tree_.at(node.args[0]).text;
    }
    return region;
  }
  std::optional<Region> all;
  for (size_t i = 0; i < node.text.size(); ++i) {
    const auto link = Comparison(node.args[i], node.text[i], node.args[i + 1]);
    if (!link) {
      return std::nullopt;
    }
    all = all ? Combine(*all, *link, Operation::kIntersection) : link;
    if (!all) {
      return std::nullopt;
    }
  }
  return all;
}

// Relations joined by "or" are a union; joined otherwise an intersection, or a union where that
// would be empty ("x < 1 and x > 3").
std::optional<Region> RegionReader::ReadList(NodeId id) {
  const Node node = tree_.at(id);
  std::optional<Region> both;
  std::optional<Region> either;
  for (const NodeId arg : node.args) {
    const auto part = Read(arg);
    if (!part) {
      return std::nullopt;
    }
    both = both ? Combine(*both, *part, Operation::kIntersection) : part;
    either = either ? Combine(*either, *part, Operation::kUnion) : part;
    if (!both || !either) {
      return std::nullopt;
    }
  }
  const bool is_union = node.text == "or" || !both || both->intervals.empty();
  return is_union ? either : both;
}

NodeId RegionReader::Minus(NodeId a, NodeId b) {
  const NodeId negated = tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), b});
  return tree_.Add(Kind::kSum, {a, negated});
}

// A linear comparison in one variable: slope * x + offset against zero.
std::optional<Region> RegionReader::Comparison(NodeId left, char op, NodeId right) {
  const NodeId difference = Minus(left, right);
  const std::vector<std::string> symbols = scalars_.Symbols(difference);
  if (symbols.size() != 1 || (op != '=' && kOrderings.find(op) == std::string_view::npos)) {
    return std::nullopt;
  }
  const auto at = [&](long value) {
    return scalars_.Substituted(difference, symbols[0], tree_.AddNumber(Rational(value)));
  };
  const NodeId offset = at(0);
  const NodeId slope = Minus(at(1), offset);
  const NodeId variable = tree_.AddText(Kind::kSymbol, symbols[0]);
  const NodeId line = tree_.Add(Kind::kSum, {tree_.Add(Kind::kProduct, {slope, variable}), offset});
  if (scalars_.Compare(difference, line) != Verdict::kEqual) {
    return std::nullopt;
  }
  const auto sign = scalars_.Sign(slope);
  if (!sign || *sign == 0) {
    return std::nullopt;
  }
  const NodeId inverse = tree_.Add(Kind::kPower, {slope, tree_.AddNumber(Rational(-1))});
  NodeId bound = tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), offset, inverse});
  // As written where the variable stands alone, so that equal bounds are easily seen equal.
  if (tree_.at(left).kind == Kind::kSymbol) {
    bound = right;
  }
  if (tree_.at(right).kind == Kind::kSymbol) {
    bound = left;
  }
  const bool closed = op == 'l' || op == 'g';
  const bool below = (op == '<' || op == 'l') == (*sign > 0);
  Region region;
  region.variable = symbols[0];
  if (op == '=') {
    region.intervals.push_back({bound, bound, true, true});
  } else if (op == 'n') {
    region.intervals.push_back({kNoNode, bound, false, false});
    region.intervals.push_back({bound, kNoNode, false, false});
  } else {
    region.intervals.push_back(below ? Between(kNoNode, bound, false, closed)
                                     : Between(bound, kNoNode, closed, false));
  }
  return region;
}

std::optional<int> RegionReader::Order(NodeId a, NodeId b) { return scalars_.Sign(Minus(a, b)); }

bool RegionReader::AddPoint(NodeId point, std::vector<NodeId>& points) {
  if (point == kNoNode) {
    return true;
  }
  size_t at = 0;
  for (; at < points.size(); ++at) {
    const auto order = Order(point, points[at]);
    if (!order) {
      return false;
    }
    if (*order == 0) {
      return true;
    }
    if (*order < 0) {
      break;
    }
  }
  points.insert(points.begin() + static_cast<long>(at), point);
  return true;
}

bool RegionReader::AddPoints(const Region& region, std::vector<NodeId>& points) {
  return std::all_of(region.intervals.begin(), region.intervals.end(),
                     [&](const Region::Interval& interval) {
                       return AddPoint(interval.low, points) && AddPoint(interval.high, points);
                     });
}

std::optional<size_t> RegionReader::IndexOf(NodeId point, const std::vector<NodeId>& points) {
  for (size_t i = 0; i < points.size(); ++i) {
    if (point == points[i]) {
      return i;
    }
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const auto order = Order(point, points[i]);
    if (!order) {
      return std::nullopt;
    }
    if (*order == 0) {
      return i;
    }
  }
  return std::nullopt;
}

// Cell 2k is the open gap below point k, cell 2k + 1 the point itself.
std::optional<RegionReader::Cells> RegionReader::CellsOf(const Region& region,
                                                         const std::vector<NodeId>& points) {
  Cells cells(2 * points.size() + 1, false);
  for (const Region::Interval& interval : region.intervals) {
    size_t first = 0;
    size_t end = cells.size();
    if (interval.low != kNoNode) {
      const auto index = IndexOf(interval.low, points);
      if (!index) {
        return std::nullopt;
      }
      first = 2 * *index + (interval.low_closed ? 1 : 2);
    }
    if (interval.high != kNoNode) {
      const auto index = IndexOf(interval.high, points);
      if (!index) {
        return std::nullopt;
      }
      end = 2 * *index + (interval.high_closed ? 2 : 1);
    }
    for (size_t i = first; i < end; ++i) {
      cells[i] = true;
    }
  }
  return cells;
}

Region RegionReader::FromCells(const Cells& cells, const std::vector<NodeId>& points) {
  Region region;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i]) {
      continue;
    }
    size_t last = i;
    while (last + 1 < cells.size() && cells[last + 1]) {
      ++last;
    }
    Region::Interval interval;
    // An odd cell is a point: a closed end there.
    interval.low_closed = i % 2 == 1;
    interval.high_closed = last % 2 == 1;
    if (i > 0) {
      interval.low = points[(i - 1) / 2];
    }
    if (last + 1 < cells.size()) {
      interval.high = points[last / 2];
    }
    region.intervals.push_back(interval);
    i = last;
  }
  return region;
}

std::optional<std::pair<RegionReader::Cells, RegionReader::Cells>> RegionReader::CellsOfBoth(
    const Region& a, const Region& b, std::vector<NodeId>& points) {
  if (!AddPoints(a, points) || !AddPoints(b, points)) {
    return std::nullopt;
  }
  auto left = CellsOf(a, points);
  auto right = CellsOf(b, points);
  if (!left || !right) {
    return std::nullopt;
  }
  return std::pair(std::move(*left), std::move(*right));
}

std::optional<Region> RegionReader::Combine(const Region& a, const Region& b, Operation operation) {
  std::vector<NodeId> points;
  const auto both = CellsOfBoth(a, b, points);
  if (!both) {
    return std::nullopt;
  }
  if (!a.variable.empty() && !b.variable.empty() && a.variable != b.variable) {
    return std::nullopt;
  }
  Cells cells(both->first.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool in_left = both->first[i];
    const bool in_right = both->second[i];
    cells[i] = operation == Operation::kUnion          ? in_left || in_right
               : operation == Operation::kIntersection ? in_left && in_right
                                                       : in_left && !in_right;
  }
  Region region = FromCells(cells, points);
  region.variable = a.variable.empty() ? b.variable : a.variable;
  return region;
}

std::optional<Region> RegionReader::Without(const Region& a, const Region& b) {
  return Combine(a, b, Operation::kDifference);
}

std::optional<bool> RegionReader::Same(const Region& a, const Region& b) {
  std::vector<NodeId> points;
  const auto both = CellsOfBoth(a, b, points);
  return both ? std::optional(both->first == both->second) : std::nullopt;
}

}  // namespace hyper::answer

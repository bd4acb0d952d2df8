// Relations: names of answers, equations up to a factor, inequalities and other regions.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/compare/region.h"
#include "src/answer/values/evaluate.h"
#include "src/answer/values/form.h"

namespace hyper::answer {

// Two sets of reals, written in any way. Undecided where one of them is none.
Verdict Comparer::CompareRegions(NodeId a, NodeId b) {
  RegionReader reader(tree_, scalars_, budget_);
  const bool pairs = options_.pair_as_interval;
  if (!pairs && (!reader.IsRegion(a) || !reader.IsRegion(b))) {
    return Say(Verdict::kNotEqual, "a set of reals against something else");
  }
  const auto left = reader.Read(a);
  const auto right = reader.Read(b);
  const auto is_number = [&](NodeId id) {
    const Kind kind = KindOf(id);
    const bool value = kind == Kind::kNumber || kind == Kind::kSum || kind == Kind::kProduct ||
                       kind == Kind::kPower || kind == Kind::kConstant;
    return value && scalars_.Symbols(id).empty();
  };
  if ((left && is_number(b)) || (right && is_number(a))) {
    return Say(Verdict::kNotEqual, "a set of reals against a number");
  }
  if (!left || !right) {
    return Say(Verdict::kUndecided, "not both could be read as sets of reals");
  }
  if (!left->variable.empty() && !right->variable.empty() && left->variable != right->variable &&
      !options_.allow_renamed_constants) {
    return Say(Verdict::kNotEqual, "conditions on different variables");
  }
  const auto same = reader.Same(*left, *right);
  if (!same) {
    return Say(Verdict::kUndecided, "the ends of the intervals could not be ordered");
  }
  return *same ? Say(Verdict::kEqual, "the same set of reals")
               : Say(Verdict::kNotEqual, "different sets of reals");
}

namespace {

// A relation is named by its left side: "x = 5", "f(x) = x^2", "S \in ...".
bool NamesItsValue(const std::string& operators) {
  return operators.find_first_not_of("=a") == std::string::npos || operators == "i";
}

// "point x,y," for a tuple of different symbols in the order of their names; empty for any other.
std::string NameOfPoint(const Expression& tree, const Node& tuple) {
  std::string name = "point ";
  std::string last;
  for (const NodeId arg : tuple.args) {
    const Node& symbol = tree.at(arg);
    if (symbol.kind != Kind::kSymbol || symbol.text <= last) {
      return {};
    }
    last = symbol.text;
    name += last + ',';
  }
  return tuple.text == "()" ? name : std::string();
}

}  // namespace

// The name that an answer gives its value: "x = 5", "f(x) = x^2", "x = 1 or x = 2", "x = 1, 2".
Comparer::Named Comparer::Unname(NodeId id) {
  const Node node = tree_.at(id);
  if (node.kind == Kind::kRelation && NamesItsValue(node.text)) {
    const auto name = [&](NodeId side) -> std::string {
      const Node& lhs = tree_.at(side);
      if (lhs.kind == Kind::kSymbol && !lhs.doubtful) {
        return lhs.text;
      }
      if (lhs.kind == Kind::kTuple) {
        return NameOfPoint(tree_, lhs);
      }
      const bool function = lhs.kind == Kind::kCall && lhs.text[0] == '?';
      return function ? StructuralKey(tree_, side, budget_) : "";
    };
    const std::string left = name(node.args.front());
    if (!left.empty()) {
      return {left, node.args.back()};
    }
    const std::string right = node.text == "i" ? "" : name(node.args.back());
    if (!right.empty()) {
      return {right, node.args.front()};
    }
  }
  return node.kind == Kind::kList ? UnnameList(id) : Named{"", id};
}

Comparer::Named Comparer::UnnameList(NodeId id) {
  Named all;
  std::vector<NodeId> values;
  const std::vector<NodeId> elements = tree_.at(id).args;
  for (const NodeId element : elements) {
    if (KindOf(element) == Kind::kList) {
      return {"", id};
    }
    const Named named = Unname(element);
    const bool first = values.empty();
    if (first ? named.symbol.empty() : !named.symbol.empty() && named.symbol != all.symbol) {
      return {"", id};
    }
    if (first) {
      all.symbol = named.symbol;
    }
    values.push_back(named.symbol.empty() ? element : named.value);
  }
  all.value = tree_.Add(Kind::kList, std::move(values), ",");
  return all;
}

bool Comparer::Occurs(const std::string& symbol, NodeId id) {
  const std::vector<std::string> symbols = scalars_.Symbols(id);
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

// Answers of which at least one names its value. True where `verdict` is final.
bool Comparer::CompareNamed(NodeId a, NodeId b, Verdict& verdict) {
  const Named left = Unname(a);
  const Named right = Unname(b);
  if (left.symbol.empty() && right.symbol.empty()) {
    return false;
  }
  if (left.symbol.empty() || right.symbol.empty()) {
    const bool plain = KindOf(left.symbol.empty() ? a : b) != Kind::kRelation;
    if (!plain || !options_.ignore_assignment) {
      return false;
    }
    verdict = Compare(left.value, right.value);
    return true;
  }
  // "y = ..." and "f(x) = ..." name the same graph.
  const auto is_function = [](const Named& named) {
    return named.symbol.find('(') != std::string::npos;
  };
  const bool graph = is_function(left) != is_function(right);
  if (left.symbol != right.symbol && !graph) {
    return false;
  }
  verdict = Compare(left.value, right.value);
  if (verdict == Verdict::kEqual || IsCollection(a) || IsCollection(b)) {
    return true;
  }
  // A name on both sides of its equation defines nothing.
  return !Occurs(left.symbol, left.value) && !Occurs(right.symbol, right.value);
}

// A relation whose last side is only illustrated, as what it says exactly.
NodeId Comparer::WithoutApproximation(NodeId id) {
  Node node = tree_.at(id);
  if (node.kind != Kind::kRelation || KindOf(node.args.back()) != Kind::kApproximated) {
    return id;
  }
  node.args.back() = tree_.at(node.args.back()).args[0];
  return tree_.Add(std::move(node));
}

Verdict Comparer::CompareRelations(NodeId a, NodeId b) {
  a = WithoutApproximation(a);
  b = WithoutApproximation(b);
  const std::string key = StructuralKey(tree_, a, budget_);
  if (!key.empty() && key == StructuralKey(tree_, b, budget_)) {
    return Say(Verdict::kEqual, "the same relation");
  }
  const Node left = tree_.at(a);
  const Node right = tree_.at(b);
  if (left.kind != right.kind) {
    const Node& relation = left.kind == Kind::kRelation ? left : right;
    return CompareWithStatement(relation, left.kind == Kind::kRelation ? b : a);
  }
  if (left.args.size() != 2 || right.args.size() != 2) {
    return Say(Verdict::kUndecided, "chains of relations of different form");
  }
  // Everything to one side, ">" turned into "<".
  const auto one_side = [&](const Node& node, char& op) {
    op = node.text[0];
    const bool turn = op == '>' || op == 'g';
    if (turn) {
      op = op == '>' ? '<' : 'l';
    }
    const NodeId minus =
        tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), node.args[turn ? 0 : 1]});
    return tree_.Add(Kind::kSum, {node.args[turn ? 1 : 0], minus});
  };
  char first = 0;
  char second = 0;
  const NodeId difference = one_side(left, first);
  const NodeId other = one_side(right, second);
  const bool ordered = first == '<' || first == 'l';
  switch (FormBuilder(tree_, budget_).Proportional(difference, other, ordered)) {
    case FormZero::kZero:
      return first == second ? Say(Verdict::kEqual, "the same relation up to a factor")
                             : Say(Verdict::kNotEqual, "different relations of the same sides");
    case FormZero::kNonZero:
      if (first == '=' && second == '=') {
        return Say(Verdict::kNotEqual, "different equations");
      }
      break;
    default:
      break;
  }
  return Say(Verdict::kUndecided, "relations whose equivalence was not proved");
}

// A relation against something that is none: "2 + 3 = 5" against "5".
Verdict Comparer::CompareWithStatement(const Node& relation, NodeId other) {
  if (relation.text.find_first_not_of("=a") != std::string::npos) {
    // x \equiv 3 \pmod 5 may be meant by 3; an inequality is no number.
    const bool ordering = relation.text.find_first_of("ei") == std::string::npos;
    return ordering && IsSingle(other) && !IsUnknown(other)
               ? Say(Verdict::kNotEqual, "a relation against something else")
               : Say(Verdict::kUndecided, "a relation against something else");
  }
  const NodeId value = relation.args.back();
  const NodeId first = relation.args.front();
  if (!scalars_.Symbols(first).empty() || !scalars_.Symbols(value).empty()) {
    // AB = 5 may name 5 in a way that is not read.
    if (options_.ignore_assignment &&
        (Compare(value, other) != Verdict::kNotEqual || Compare(first, other) == Verdict::kEqual)) {
      return Say(Verdict::kUndecided, "one side of an equation against the other answer");
    }
    return Say(Verdict::kNotEqual, "an equation against something else");
  }
  const Verdict holds = Compare(first, value);
  return holds == Verdict::kEqual ? Compare(value, other)
                                  : Say(Verdict::kUndecided, "an equation that may not hold");
}

}  // namespace hyper::answer

// Families: expressions with a parameter that runs through the integers, constants of integration,
// and functions defined by cases.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/compare/region.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// Names that a constant of integration has: C, K, c, k and D, with an index or without, or a word.
bool IsIntegrationConstant(std::string_view name) {
  const std::string_view letter = name.substr(0, name.find('_'));
  return (letter.size() == 1 && std::string_view("CKckD").find(letter) != letter.npos) ||
         name == "constant" || name == "const";
}

// Names that the constants of a general solution have: those, A and B.
bool IsFreeConstant(std::string_view name) {
  return IsIntegrationConstant(name) || name == "A" || name == "B";
}

}  // namespace

// Statements of which at least one says which integers its parameter runs through; kNoNode: it
// does not.
Verdict Comparer::CompareFamilies(NodeId a, NodeId domain_a, NodeId b, NodeId domain_b) {
  const auto parameter = [&](NodeId domain) {
    return domain == kNoNode ? std::string() : tree_.at(tree_.at(domain).args[0]).text;
  };
  const auto set = [&](NodeId domain) {
    return domain == kNoNode ? std::string() : tree_.at(tree_.at(domain).args[1]).text;
  };
  const std::string left = parameter(domain_a);
  const std::string right = parameter(domain_b);
  NodeId second = b;
  // A parameter is bound: k may be n.
  if (!left.empty() && !right.empty() && left != right) {
    if (Occurs(left, b)) {
      return Say(Verdict::kUndecided, "parameters of different names");
    }
    second = scalars_.Renamed(b, {right}, {left});
  }
  const std::string name = left.empty() ? right : left;
  const Verdict statements = Compare(a, second);
  if (statements == Verdict::kEqual) {
    // x < 3 has fewer solutions among the integers.
    const bool region = KindOf(a) == Kind::kRelation && tree_.at(a).text != "=";
    const bool one_sided = domain_a == kNoNode || domain_b == kNoNode;
    const bool same = one_sided ? !region : set(domain_a) == set(domain_b);
    return same ? statements : Say(Verdict::kUndecided, "parameters from different sets");
  }
  const bool integers = set(domain_a) != "bbN" && set(domain_b) != "bbN";
  if (integers && IsSingle(a) && IsSingle(second) && SameProgression(a, second, name)) {
    return Say(Verdict::kEqual, "the same numbers for other values of the parameter");
  }
  // Two formulas may run through the same values.
  const bool ranges = Occurs(name, a) || Occurs(name, second);
  return ranges && statements == Verdict::kNotEqual
             ? Say(Verdict::kUndecided, "families that may have the same members")
             : statements;
}

// Whether a + b n and c + d n run through the same numbers: d is b or -b, and a - c a multiple of
// it.
bool Comparer::SameProgression(NodeId a, NodeId b, const std::string& parameter) {
  const auto at = [&](NodeId id, long value) {
    return scalars_.Substituted(id, parameter, tree_.AddNumber(Rational(value)));
  };
  const NodeId offset_a = at(a, 0);
  const NodeId offset_b = at(b, 0);
  const NodeId step_a = Minus(at(a, 1), offset_a);
  const NodeId step_b = Minus(at(b, 1), offset_b);
  const NodeId symbol = tree_.AddText(Kind::kSymbol, parameter);
  const auto is_line = [&](NodeId id, NodeId step, NodeId offset) {
    const NodeId line = tree_.Add(Kind::kSum, {tree_.Add(Kind::kProduct, {step, symbol}), offset});
    return scalars_.Compare(id, line) == Verdict::kEqual;
  };
  const NodeId opposite = tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), step_b});
  const auto sign = scalars_.Sign(step_a);
  if (!sign || *sign == 0 || !is_line(a, step_a, offset_a) || !is_line(b, step_b, offset_b)) {
    return false;
  }
  if (scalars_.Compare(step_a, step_b) != Verdict::kEqual &&
      scalars_.Compare(step_a, opposite) != Verdict::kEqual) {
    return false;
  }
  // The multiple is near a whole number of steps: found by trial, then proved.
  const NodeId shift = Minus(offset_a, offset_b);
  for (const long steps : {0L, 1L, -1L, 2L, -2L, 3L, -3L}) {
    const NodeId multiple = tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(steps)), step_a});
    if (scalars_.Compare(shift, multiple) == Verdict::kEqual) {
      return true;
    }
  }
  return false;
}

// The name of the constant of integration that is a term of a sum and occurs in no other; empty:
// none. `rest` is what is left of the sum.
std::string Comparer::IntegrationConstant(NodeId id, NodeId& rest) {
  const Node sum = tree_.at(id);
  if (sum.kind != Kind::kSum) {
    return {};
  }
  for (size_t i = 0; i < sum.args.size(); ++i) {
    const Node& term = tree_.at(sum.args[i]);
    if (term.kind != Kind::kSymbol || !IsIntegrationConstant(term.text)) {
      continue;
    }
    const std::string name = term.text;
    std::vector<NodeId> others = sum.args;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    rest = others.size() == 1 ? others[0] : tree_.Add(Kind::kSum, std::move(others));
    // A number plus C is no function; C_1 elsewhere is a second constant.
    const std::vector<std::string> symbols = scalars_.Symbols(rest);
    const bool other = std::any_of(symbols.begin(), symbols.end(), [](const std::string& symbol) {
      return symbol.find('_') != symbol.npos && IsIntegrationConstant(symbol);
    });
    return other || Occurs(name, rest) || symbols.empty() ? "" : name;
  }
  return {};
}

// x^2 + C against x^2 + K. `verdict` is that of the expressions as written.
Verdict Comparer::CompareAntiderivatives(NodeId a, NodeId b, Verdict verdict) {
  NodeId left = kNoNode;
  NodeId right = kNoNode;
  const std::string first = IntegrationConstant(a, left);
  const std::string second = first.empty() ? "" : IntegrationConstant(b, right);
  // At least one is the usual letter: y = x^2 + c and y = x^2 + k may be two parabolas.
  const bool usual = first[0] == 'C' || second[0] == 'C';
  if (first.empty() || second.empty() || !usual) {
    return CompareGeneralSolutions(a, b, verdict);
  }
  const std::string reason = reason_;
  const Verdict rests = Compare(left, right);
  if (rests == Verdict::kEqual) {
    return Say(rests, "equal up to the constant of integration");
  }
  return MayBeProportional(Minus(left, right), tree_.AddNumber(Rational(1)))
             ? Say(Verdict::kUndecided, "they may differ by a constant of integration")
             : Say(verdict, reason);
}

// General solutions with constants elsewhere: C_1 e^x + C_2 against C_2 e^x + C_1, C e^x against
// K e^x, A sin x + B cos x against B sin x + A cos x. Several constants may be chosen in many ways;
// one that is a factor by its scale.
Verdict Comparer::CompareGeneralSolutions(NodeId a, NodeId b, Verdict verdict) {
  bool indexed = false;
  bool usual = false;
  bool swapped = true;  // both have the two constants A and B, of a function of one variable
  const auto constants = [&](NodeId id) {
    const std::vector<std::string> symbols = scalars_.Symbols(id);
    std::vector<std::string> names;
    for (const std::string& name : symbols) {
      if (IsFreeConstant(name)) {
        names.push_back(name);
        indexed = indexed || name.find('_') != name.npos;
        usual = usual || name[0] == 'C' || indexed;
      }
    }
    swapped = swapped && names == std::vector<std::string>{"A", "B"} && symbols.size() == 3;
    // Constants alone are no function.
    return names.size() == symbols.size() ? std::vector<std::string>() : names;
  };
  const std::vector<std::string> first = constants(a);
  const std::vector<std::string> second = constants(b);
  if (first.empty() || second.empty() || !(usual || swapped)) {
    return verdict;
  }
  bool may = indexed || swapped;
  if (first.size() == 1 && second.size() == 1) {
    const auto at = [&](NodeId id, const std::string& name, long value) {
      return scalars_.Substituted(id, name, tree_.AddNumber(Rational(value)));
    };
    const NodeId rest_a = at(a, first[0], 0);
    const NodeId rest_b = at(b, second[0], 0);
    const NodeId slope_a = Minus(at(a, first[0], 1), rest_a);
    const NodeId slope_b = Minus(at(b, second[0], 1), rest_b);
    const auto is_linear = [&](NodeId id, const std::string& name, NodeId slope) {
      const NodeId next = Minus(at(id, name, 2), at(id, name, 1));
      return scalars_.Compare(next, slope) == Verdict::kEqual;
    };
    const bool linear = is_linear(a, first[0], slope_a) && is_linear(b, second[0], slope_b);
    // C is free on each side: (e^x + C)/2 is e^x/2 + C. Other letters may be given ones.
    may = (first != second || first[0] == "C") &&
          (!linear || (MayBeProportional(slope_a, slope_b) &&
                       MayBeProportional(Minus(rest_a, rest_b), slope_a)));
  }
  return may ? Say(Verdict::kUndecided, "general solutions that may be the same") : verdict;
}

NodeId Comparer::Minus(NodeId a, NodeId b) {
  return tree_.Add(Kind::kSum, {a, tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), b})});
}

// Whether a / b may be the same number everywhere; false only where it is proved not to be:
// a(x) b(y) = a(y) b(x).
bool Comparer::MayBeProportional(NodeId a, NodeId b) {
  const std::vector<std::string> symbols = scalars_.Symbols(tree_.Add(Kind::kSum, {a, b}));
  std::vector<std::string> elsewhere;
  elsewhere.reserve(symbols.size());
  for (const std::string& symbol : symbols) {
    elsewhere.push_back(symbol + "''");
  }
  const auto product = [&](NodeId here, NodeId there) {
    return tree_.Add(Kind::kProduct, {here, scalars_.Renamed(there, symbols, elsewhere)});
  };
  return scalars_.Compare(product(a, b), product(b, a)) != Verdict::kNotEqual;
}

// Functions by cases: equal where the cases with the same conditions have the same values.
Verdict Comparer::CompareCases(NodeId a, NodeId b) {
  if (KindOf(a) != KindOf(b)) {
    return Say(Verdict::kUndecided, "cases against an answer without any");
  }
  const std::vector<NodeId> left = tree_.at(a).args;
  const std::vector<NodeId> right = tree_.at(b).args;
  if (left.size() != right.size()) {
    return Say(Verdict::kUndecided, "different numbers of cases");
  }
  std::vector<bool> taken(right.size(), false);
  for (size_t i = 0; i < left.size(); i += 2) {
    size_t match = right.size();
    for (size_t j = 0; j < right.size() && match == right.size(); j += 2) {
      const bool same = !taken[j] && SameCondition(left, left[i + 1], right, right[j + 1]);
      if (same && Compare(left[i], right[j]) == Verdict::kEqual) {
        match = j;
      }
    }
    if (match == right.size()) {
      return Say(Verdict::kUndecided, "cases whose conditions or values were not proved the same");
    }
    taken[match] = true;
  }
  return Say(Verdict::kEqual, "the same cases");
}

// "otherwise" is what the other conditions leave out.
bool Comparer::SameCondition(const std::vector<NodeId>& cases_a, NodeId a,
                             const std::vector<NodeId>& cases_b, NodeId b) {
  const bool rest_a = KindOf(a) == Kind::kText;
  const bool rest_b = KindOf(b) == Kind::kText;
  if (rest_a && rest_b) {
    return true;
  }
  if (!rest_a && !rest_b) {
    return Compare(a, b) == Verdict::kEqual;
  }
  RegionReader reader(tree_, scalars_, budget_);
  const std::vector<NodeId>& cases = rest_a ? cases_a : cases_b;
  std::optional<Region> left_out = Region{{Region::Interval{}}, ""};
  for (size_t i = 1; left_out && i < cases.size(); i += 2) {
    if (KindOf(cases[i]) == Kind::kText) {
      continue;
    }
    const auto region = reader.Read(cases[i]);
    left_out = region ? reader.Without(*left_out, *region) : std::nullopt;
  }
  const auto condition = left_out ? reader.Read(rest_a ? b : a) : std::nullopt;
  return condition && reader.Same(*left_out, *condition).value_or(false);
}

}  // namespace hyper::answer

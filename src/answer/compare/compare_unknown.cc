// When a difference proves nothing: words, names that may mean anything, and letters that may be
// parameters under another name.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/read/names.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// More letters than this are not renamed.
constexpr size_t kMaxParameters = 3;

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

// An index, a prime or a decoration makes a name of a letter: F_7, y', \vec{a}, \mathcal{L}.
// Sets of numbers apart, so does the type of blackboards: \mathbb{E}.
bool IsNamed(std::string_view symbol) {
  const bool board = symbol.size() == 3 && symbol.substr(0, 2) == "bb" &&
                     std::string_view("CNQRZ").find(symbol[2]) == symbol.npos;
  return board || symbol.find_first_of("_'{") != symbol.npos;
}

// The letters that stand for unknowns, which no text renames, with an index or without.
bool IsUnknownLetter(std::string_view symbol) {
  const std::string_view letter = symbol.substr(0, symbol.find('_'));
  return letter == "x" || letter == "y" || letter == "z";
}

bool IsCapital(std::string_view symbol) { return symbol[0] >= 'A' && symbol[0] <= 'Z'; }

}  // namespace

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

// "Not equal" where it is proof; undecided where a name may mean anything or a letter may be
// another.
Verdict Comparer::ProvenDifference(NodeId a, NodeId b) {
  const std::string reason = reason_;
  const bool left = IsSingle(a);
  const bool right = IsSingle(b);
  if ((left && (IsUnknown(a) || HasNameOfItsOwn(a, b))) ||
      (right && (IsUnknown(b) || HasNameOfItsOwn(b, a)))) {
    return Say(Verdict::kUndecided, "a name that is not known, which may mean anything");
  }
  if (HasDerivativeOfItsOwn(a, b) || HasDerivativeOfItsOwn(b, a)) {
    return Say(Verdict::kUndecided, "a derivative may be written in another way");
  }
  if (MayBeLegendre(a, b) || MayBeLegendre(b, a)) {
    return Say(Verdict::kUndecided, "a fraction in brackets may be a symbol of Legendre");
  }
  const bool alike = (left && right) || (KindOf(a) == KindOf(b) && IsCollection(a)) ||
                     (KindOf(a) == KindOf(b) && KindOf(a) == Kind::kTuple);
  if (alike && MayBeRenamed(a, b)) {
    return Say(Verdict::kUndecided, "the letters may be parameters");
  }
  return Say(Verdict::kNotEqual, reason);
}

// The symbols of an expression that do not occur in another.
std::vector<std::string> Comparer::OwnSymbols(NodeId id, NodeId other) {
  const std::vector<std::string> symbols = scalars_.Symbols(id);
  const std::vector<std::string> shared = scalars_.Symbols(other);
  std::vector<std::string> own;
  std::set_difference(symbols.begin(), symbols.end(), shared.begin(), shared.end(),
                      std::back_inserter(own));
  return own;
}

// Whether an expression has a name that the other answer lacks and that may be a number: F_7, or
// \varphi where the other has no letters of its own. j may be the imaginary unit, or a vector.
bool Comparer::HasNameOfItsOwn(NodeId id, NodeId other) {
  const std::vector<std::string> own = OwnSymbols(id, other);
  const bool closed = OwnSymbols(other, id).empty();
  const bool vector = IsVector(other) && HasUnitVectors(id);
  return std::any_of(own.begin(), own.end(), [&](const std::string& name) {
    const bool greek = closed && IsGreek(name) && name != "Omega";  // the unit
    const bool named = IsNamed(name) && (closed || !IsUnknownLetter(name)) && !vector;
    const bool unit = name == "j" && (KindOf(other) == Kind::kTuple || HasConstant(other, "i"));
    return named || greek || unit;
  });
}

// Whether an answer has a derivative or differential that the other one lacks: y', \dot x, dx.
bool Comparer::HasDerivativeOfItsOwn(NodeId id, NodeId other) {
  const std::vector<std::string> own = OwnSymbols(id, other);
  return std::any_of(own.begin(), own.end(), [](const std::string& name) {
    return name.find('\'') != name.npos || StartsWithOneOf(name, {"d{", "dot{"});
  });
}

// Whether an answer is a fraction in brackets, and the other one a value of Legendre's symbol.
bool Comparer::MayBeLegendre(NodeId id, NodeId value) {
  const Node& node = tree_.at(id);
  if (node.kind != Kind::kProduct || node.text != kBracketedFraction) {
    return false;
  }
  const NodeId inverse = node.args[1];
  const bool quotient = KindOf(inverse) == Kind::kPower;
  const auto below = quotient ? RationalValue(tree_, inverse, budget_) : std::nullopt;
  const auto result = RationalValue(tree_, value, budget_);
  const bool odd = below && below->Denominator().ToLong(1'000'000'000).value_or(0) % 2 != 0;
  return quotient && result && result->ToLong(1) && (odd || !below);
}

// Whether dots stand for what is left out.
bool Comparer::GoesOn(NodeId id) const {
  const Node& node = tree_.at(id);
  return node.kind == Kind::kEllipsis ||
         (budget_.Steps() && std::any_of(node.args.begin(), node.args.end(),
                                         [this](NodeId arg) { return GoesOn(arg); }));
}

bool Comparer::HasConstant(NodeId id, std::string_view name) const {
  if (!budget_.Steps()) {
    return false;
  }
  const Node& node = tree_.at(id);
  return (node.kind == Kind::kConstant && node.text == name) ||
         (node.kind == Kind::kUnit && node.text == name) ||
         std::any_of(node.args.begin(), node.args.end(),
                     [&](NodeId arg) { return HasConstant(arg, name); });
}

// Whether an expression is an angle plus multiples of another: \pi/4 + k\pi. One set of such angles
// is written in many ways.
bool Comparer::IsAngleFamily(NodeId id) {
  const Node node = tree_.at(id);
  const auto has_letter = [&](NodeId term) {
    const std::vector<std::string> symbols = scalars_.Symbols(term);
    return symbols.size() == 1 && IsIntegerLetter(symbols[0]);
  };
  const auto is_angle = [&](NodeId term) {
    return HasConstant(term, "pi") || HasConstant(term, "degree");
  };
  return node.kind == Kind::kSum && std::all_of(node.args.begin(), node.args.end(), is_angle) &&
         std::any_of(node.args.begin(), node.args.end(), has_letter) &&
         std::any_of(node.args.begin(), node.args.end(),
                     [&](NodeId term) { return scalars_.Symbols(term).empty(); });
}

// Whether points with different parameters may run through the same line: unless a coordinate
// without parameters tells them apart.
bool Comparer::MayBeOneLine(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  bool may = a.size() == b.size();
  for (size_t i = 0; may && i < a.size(); ++i) {
    const bool fixed = OwnSymbols(a[i], b[i]).empty() && OwnSymbols(b[i], a[i]).empty();
    may = !fixed || Compare(a[i], b[i]) != Verdict::kNotEqual;
  }
  return may;
}

// Whether two answers become equal if the letters that only one of them has are renamed one to one:
// (t, 2t) and (s, 2s), n\pi and k\pi. Parameters are small letters; letters alone may be the labels
// of options.
bool Comparer::MayBeRenamed(NodeId a, NodeId b) {
  if (IsAngleFamily(a) && IsAngleFamily(b)) {
    return true;
  }
  const std::vector<std::string> from = OwnSymbols(a, b);
  std::vector<std::string> to = OwnSymbols(b, a);
  if (from.empty() || to.empty()) {
    return false;
  }
  const auto is_angle = [&](NodeId id) {
    return HasConstant(id, "pi") || HasConstant(id, "degree");
  };
  const auto all = [](const std::vector<std::string>& names, auto is) {
    return std::all_of(names.begin(), names.end(), is);
  };
  if (all(from, IsIntegerLetter) && all(to, IsIntegerLetter) && is_angle(a) && is_angle(b)) {
    return true;  // of one solution set in two ways
  }
  const auto members = [&](NodeId id) {
    return IsSingle(id) ? std::vector<NodeId>{id} : tree_.at(id).args;
  };
  const std::vector<NodeId> parts = members(a);
  const bool letters = std::all_of(parts.begin(), parts.end(),
                                   [&](NodeId part) { return KindOf(part) == Kind::kSymbol; });
  const auto keeps_name = [](std::string_view name) {
    return IsUnknownLetter(name) || IsCapital(name);
  };
  const bool unknowns = std::any_of(from.begin(), from.end(), keeps_name) ||
                        std::any_of(to.begin(), to.end(), keeps_name);
  if (!letters && !unknowns && KindOf(a) == Kind::kTuple) {
    return MayBeOneLine(parts, members(b));
  }
  if (letters || unknowns || from.size() != to.size() || from.size() > kMaxParameters) {
    return false;
  }
  do {
    if (Compare(scalars_.Renamed(a, from, to), b) == Verdict::kEqual) {
      return true;
    }
  } while (std::next_permutation(to.begin(), to.end()));
  return false;
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

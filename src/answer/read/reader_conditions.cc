// Conditions of a statement: which values its letters run through.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/answer/read/reader_impl.h"

namespace hyper::answer {
namespace {

// Whether words only say that something is an integer: "where", "is any integer".
bool SaysInteger(std::string_view words, bool& integer) {
  static constexpr std::array<std::string_view, 17> kSmall = {
      "where", "for", "with", "some", "any",       "all", "every", "each", "is",
      "an",    "a",   "and",  "are",  "arbitrary", "be",  "if",    "when"};
  size_t at = 0;
  while (at < words.size()) {
    const size_t end = std::min(words.find(' ', at), words.size());
    const std::string_view word = words.substr(at, end - at);
    at = end + 1;
    if (word == "integer" || word == "integers") {
      integer = true;
    } else if (std::find(kSmall.begin(), kSmall.end(), word) == kSmall.end()) {
      return false;
    }
  }
  return true;
}

}  // namespace

// "where n is an integer", "for n \in \mathbb{Z}" up to the end, as the relation n \in Z; kNoNode,
// and nothing read, where other words stand here.
NodeId Reader::WordedDomain() {
  std::string symbol;
  bool integer = false;
  for (size_t i = 0; at_ + i < tokens_.size(); ++i) {
    const Lexeme& token = Peek(i);
    if (token.kind == TokenKind::kText) {
      if (!SaysInteger(token.text, integer)) {
        return kNoNode;
      }
    } else if (Here(TokenKind::kCommand, "in", i) && !symbol.empty() &&
               at_ + i + 5 == tokens_.size() && Here(TokenKind::kCommand, "mathbb", i + 1) &&
               Peek(i + 3).text == "Z") {
      integer = true;
      break;
    } else if (token.kind == TokenKind::kName && token.text.size() == 1) {
      if (symbol.empty()) {
        symbol = token.text;
      }
    } else if (token.kind != TokenKind::kPunct || token.text != ",") {
      return kNoNode;
    }
  }
  if (!integer || symbol.empty()) {
    return kNoNode;
  }
  at_ = tokens_.size();
  return tree_.Add(Kind::kRelation,
                   {tree_.AddText(Kind::kSymbol, symbol), tree_.AddText(Kind::kSymbol, "bbZ")},
                   "i");
}

// Whether "(n \in ..." stands here: a domain in brackets, and no factor.
bool Reader::DomainAhead() const {
  return Punct("(") && Peek(1).kind == TokenKind::kName && Here(TokenKind::kCommand, "in", 2);
}

// Whether a relation says which integers a symbol of the statement runs through.
bool Reader::IsDomain(NodeId relation, NodeId statement) const {
  if (relation == statement) {
    return false;
  }
  const Node& node = tree_.at(relation);
  if (node.kind != Kind::kRelation || node.text != "i") {
    return false;
  }
  const Node& symbol = tree_.at(node.args[0]);
  const std::string& set = tree_.at(node.args[1]).text;
  if (symbol.kind != Kind::kSymbol || !Contains(statement, symbol.text)) {
    return false;
  }
  const bool reals = set == "bbR" || set == "R" || set == "mathbf{R}";
  return set == "bbZ" || set == "bbN" || set == "Z" || set == "mathbf{Z}" ||
         (reals && HasParameter(statement, symbol.text));
}

// Whether a symbol parametrises a statement, and is not what the statement is about: the t of
// (1 + 2t, 3 - t), not the x of x > 2.
bool Reader::HasParameter(NodeId statement, const std::string& symbol) const {
  const Node& node = tree_.at(statement);
  const bool names = node.kind == Kind::kRelation && node.text == "=" && node.args.size() == 2;
  const NodeId value = names ? node.args[1] : statement;
  const Kind kind = tree_.at(value).kind;
  const bool expression = kind == Kind::kTuple || kind == Kind::kSum || kind == Kind::kProduct ||
                          kind == Kind::kPower || kind == Kind::kMatrix || kind == Kind::kSymbol;
  return expression && Contains(value, symbol) && !(names && Contains(node.args[0], symbol));
}

bool Reader::Contains(NodeId id, const std::string& symbol) const {
  if (!budget_.Steps()) {
    return false;
  }
  const Node& node = tree_.at(id);
  return (node.kind == Kind::kSymbol && node.text == symbol) ||
         std::any_of(node.args.begin(), node.args.end(),
                     [&](NodeId arg) { return Contains(arg, symbol); });
}

// What an element of a list states: an expression, or the value of "y = ..." and "f(x) = ...";
// kNoNode for any other relation, which may be one of a system.
NodeId Reader::Stated(NodeId element) const {
  const Node& node = tree_.at(element);
  if (node.kind != Kind::kRelation) {
    return element;
  }
  const Node& name = tree_.at(node.args[0]);
  const bool names =
      name.kind == Kind::kSymbol || (name.kind == Kind::kCall && name.text[0] == '?');
  const bool defines = node.text == "=" && names && !Contains(node.args[1], name.text);
  return defines ? node.args[1] : kNoNode;
}

// Whether the element at `place` of a list limits a letter of the first `count` elements.
bool Reader::IsCondition(const std::vector<NodeId>& elements, size_t count, size_t place) const {
  const Node& relation = tree_.at(elements[place]);
  if (relation.kind != Kind::kRelation) {
    return false;
  }
  bool limits = false;
  for (size_t i = 0; i < count; ++i) {
    // y = 2x, x = 3 are two equations.
    const bool named = tree_.at(elements[i]).kind == Kind::kRelation;
    if (Stated(elements[i]) == kNoNode || (named && relation.text == "=")) {
      return false;
    }
    const auto limited = [&](NodeId side) {
      return tree_.at(side).kind == Kind::kSymbol && Contains(elements[i], tree_.at(side).text);
    };
    limits = limits || std::any_of(relation.args.begin(), relation.args.end(), limited);
  }
  return limits;
}

// Takes the conditions off the end of a list: 2^n, n \ge 0, and 2k, k = 0, 1, 2, \ldots. One
// relation or a list; kNoNode: there are none.
NodeId Reader::TakeConditions(std::vector<NodeId>& elements) {
  size_t first = 1;
  while (first < elements.size() && !IsCondition(elements, first, first)) {
    ++first;
  }
  for (size_t i = first + 1; i < elements.size(); ++i) {
    const Kind kind = tree_.at(elements[i]).kind;
    const bool goes_on = kind == Kind::kNumber || kind == Kind::kEllipsis ||
                         tree_.at(elements[i - 1]).kind == Kind::kEllipsis ||
                         IsCondition(elements, first, i);
    if (!goes_on) {
      return kNoNode;
    }
  }
  if (first >= elements.size()) {
    return kNoNode;
  }
  std::vector<NodeId> conditions(elements.begin() + static_cast<std::ptrdiff_t>(first),
                                 elements.end());
  elements.resize(first);
  return conditions.size() == 1 ? conditions[0]
                                : tree_.Add(Kind::kList, std::move(conditions), ",");
}

}  // namespace hyper::answer

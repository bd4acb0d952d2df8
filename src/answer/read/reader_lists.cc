// Lists of the reader: elements and what joins them, conditions, domains of parameters.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"
#include "src/answer/read/units.h"

namespace hyper::answer {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// "for all real x" and the like: says where a statement holds, not what it states.
bool HarmlessQualifier(std::string_view words) {
  for (const std::string_view start : {"for all", "for any", "for every", "for each"}) {
    if (StartsWith(words, start)) {
      return true;
    }
  }
  return false;
}

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

// "\forall x > 0, statement" keeps its condition; other answers are a list.
NodeId Reader::Quantified() {
  if (!Command("forall") && !Command("exists")) {
    return List("");
  }
  const std::string quantifier = Peek().text;
  ++at_;
  const size_t start = at_;
  if (Relation() == kNoNode) {
    return kNoNode;
  }
  const std::vector<Token> condition(tokens_.begin() + static_cast<long>(start),
                                     tokens_.begin() + static_cast<long>(at_));
  if (!Accept(TokenKind::kPunct, ",") && !Accept(TokenKind::kPunct, ":")) {
    return Fail("quantifier without a statement");
  }
  const NodeId statement = List("");
  if (statement == kNoNode) {
    return kNoNode;
  }
  return tree_.Add(Kind::kQualified, {statement}, quantifier + " " + NormalisedText(condition));
}

// Words behind the statement. The rest of the answer belongs to them.
NodeId Reader::Qualifier(NodeId statement) {
  const Token& word = Peek();
  if (word.kind != TokenKind::kText || !IsStopWord(word.text.substr(0, word.text.find(' ')))) {
    return statement;
  }
  if (const NodeId domain = WordedDomain(); domain != kNoNode) {
    return tree_.Add(Kind::kQualified, {statement, domain});
  }
  const std::vector<Token> rest(tokens_.begin() + static_cast<long>(at_), tokens_.end());
  const bool condition = std::any_of(rest.begin(), rest.end(), [](const Token& token) {
    return token.kind == TokenKind::kNumber || RelationOperator(token.text) != 0;
  });
  const std::string words = word.text;
  at_ = tokens_.size();
  if (!condition && HarmlessQualifier(words)) {
    return statement;
  }
  return tree_.Add(Kind::kQualified, {statement}, NormalisedText(rest));
}

// "where n is an integer", "for n \in \mathbb{Z}" up to the end, as the relation n \in Z; kNoNode,
// and nothing read, where other words stand here.
NodeId Reader::WordedDomain() {
  std::string symbol;
  bool integer = false;
  for (size_t i = 0; at_ + i < tokens_.size(); ++i) {
    const Token& token = Peek(i);
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

bool Reader::SeparatorHere(std::string& separator) const {
  const Token& token = Peek();
  const bool mark = token.kind == TokenKind::kPunct && (token.text == "," || token.text == ";");
  const bool word = token.kind == TokenKind::kText && (token.text == "and" || token.text == "or");
  if (mark || word) {
    separator = token.text;
  } else if (token.kind == TokenKind::kCommand && (token.text == "land" || token.text == "wedge")) {
    separator = "and";
  } else if (token.kind == TokenKind::kCommand && (token.text == "lor" || token.text == "vee")) {
    separator = "or";
  } else {
    return false;
  }
  return true;
}

// Whether "(n \in ..." stands here: a domain in brackets, and no factor.
bool Reader::DomainAhead() const {
  return Punct("(") && Peek(1).kind == TokenKind::kName && Here(TokenKind::kCommand, "in", 2);
}

// Elements up to `close` (not consumed; empty: the end of the answer). One element is itself.
NodeId Reader::List(std::string_view close) {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  std::vector<NodeId> elements;
  std::vector<std::string> separators;
  for (;;) {
    const bool bracketed = !elements.empty() && DomainAhead();
    if (bracketed) {
      ++at_;
    }
    const NodeId element = Relation();
    if (element == kNoNode) {
      return kNoNode;
    }
    elements.push_back(element);
    if (bracketed && !Accept(TokenKind::kPunct, ")")) {
      return Fail("unmatched (");
    }
    std::string separator;
    if (DomainAhead()) {
      separators.emplace_back(",");
      continue;
    }
    if (!SeparatorHere(separator)) {
      break;
    }
    ++at_;
    // "3, 5, and 7"
    if (std::string word; separator == "," && SeparatorHere(word) && word.size() > 1) {
      separator = word;
      ++at_;
    }
    separators.push_back(separator);
    // A separator at the end of an open list says nothing, nor does one before a condition.
    const bool words =
        Peek().kind == TokenKind::kText && IsStopWord(Peek().text.substr(0, Peek().text.find(' ')));
    if (close.empty() && (at_ == tokens_.size() || words)) {
      break;
    }
    if (close == "\\" && (Command("\\") || Command("end"))) {
      break;
    }
  }
  if (elements.size() == 1) {
    return elements[0];
  }
  return Joined(std::move(elements), separators, close.empty());
}

// Elements with the separators between them, of a whole answer if `outermost`: a statement and the
// domain of its parameter, one quantity in several units, solutions in groups, or a list.
NodeId Reader::Joined(std::vector<NodeId> elements, std::vector<std::string> separators,
                      bool outermost) {
  separators.resize(elements.size() - 1);
  NodeId domain = kNoNode;
  if (IsDomain(elements.back(), elements.front())) {
    domain = elements.back();
    elements.pop_back();
    separators.pop_back();
    // "a + 2\pi n, n \in Z", and several parameters: "..., n, k \in Z".
    while (elements.size() > 1 && tree_.at(elements.back()).kind == Kind::kSymbol &&
           Contains(elements.front(), tree_.at(elements.back()).text)) {
      elements.pop_back();
      separators.pop_back();
    }
  }
  NodeId list = elements.front();
  if (elements.size() > 1) {
    std::string joined_by = ",";
    for (const std::string& separator : separators) {
      const bool word = separator != "," && separator != ";";
      if (joined_by == "," && word) {
        joined_by = separator;
      }
    }
    // Of lengths and weights, a comma separates two.
    const bool commas = joined_by == ",";
    if (FormOneQuantity(elements, commas ? "time" : "")) {
      list = tree_.Add(Kind::kSum, std::move(elements));
    } else if (list = outermost ? Grouped(elements, separators) : kNoNode; list == kNoNode) {
      list = tree_.Add(Kind::kList, std::move(elements), joined_by);
    }
  }
  return domain == kNoNode ? list : tree_.Add(Kind::kQualified, {list, domain});
}

// p=5, q=2; p=7, q=2: a list of lists that assign the same names; 1, 2; 3, 4: one of tuples, as it
// seems. kNoNode for any other.
NodeId Reader::Grouped(const std::vector<NodeId>& elements,
                       const std::vector<std::string>& separators) {
  std::vector<std::vector<NodeId>> groups(1);
  for (size_t i = 0; i < elements.size(); ++i) {
    groups.back().push_back(elements[i]);
    if (i < separators.size() && separators[i] != ",") {
      groups.emplace_back();
    }
  }
  const auto names = [this](const std::vector<NodeId>& group) {
    std::vector<std::string> sorted;
    for (const NodeId element : group) {
      const Node& relation = tree_.at(element);
      const bool assigns = relation.kind == Kind::kRelation && relation.text == "=" &&
                           tree_.at(relation.args[0]).kind == Kind::kSymbol;
      sorted.push_back(assigns ? tree_.at(relation.args[0]).text : "");
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  const std::vector<std::string> first = names(groups[0]);
  const bool named = !first[0].empty();
  const bool repeated = std::adjacent_find(first.begin(), first.end()) != first.end();
  const bool semicolons = std::find(separators.begin(), separators.end(), ";") != separators.end();
  if (groups.size() < 2 || first.size() < 2 || (named ? repeated : !semicolons)) {
    return kNoNode;
  }
  std::vector<NodeId> lists;
  for (std::vector<NodeId>& group : groups) {
    if (names(group) != first) {
      return kNoNode;
    }
    lists.push_back(named ? tree_.Add(Kind::kList, std::move(group), ",")
                          : tree_.Add(Kind::kTuple, std::move(group), "()"));
  }
  return tree_.Add(Kind::kList, std::move(lists), named ? "or" : std::string(kGuessedGroups));
}

// Whether these are 3 hours and 30 minutes: amounts in ever smaller units of one dimension, of any
// where none is given.
bool Reader::FormOneQuantity(const std::vector<NodeId>& parts, std::string_view dimension) {
  std::optional<UnitScale> last;
  for (const NodeId part : parts) {
    const Node& product = tree_.at(part);
    if (product.kind != Kind::kProduct) {
      return false;
    }
    const Node& unit = tree_.at(product.args.back());
    auto scale = unit.kind == Kind::kUnit ? ScaleOfUnit(unit.text, budget_) : std::nullopt;
    if (!scale) {
      return false;
    }
    const bool smaller = !last || (last->dimension == scale->dimension && scale->size < last->size);
    if (!smaller || (!dimension.empty() && scale->dimension != dimension)) {
      return false;
    }
    last = std::move(scale);
  }
  return true;
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
                          kind == Kind::kPower || kind == Kind::kMatrix;
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

}  // namespace hyper::answer

// Lists of the reader: elements and what joins them, and words behind them.
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
  const std::vector<Lexeme> condition(tokens_.begin() + static_cast<long>(start),
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
  const Lexeme& word = Peek();
  if (word.kind != TokenKind::kText || !IsStopWord(word.text.substr(0, word.text.find(' ')))) {
    return statement;
  }
  if (const NodeId domain = WordedDomain(); domain != kNoNode) {
    return tree_.Add(Kind::kQualified, {statement, domain});
  }
  const std::vector<Lexeme> rest(tokens_.begin() + static_cast<long>(at_), tokens_.end());
  const bool condition = std::any_of(rest.begin(), rest.end(), [](const Lexeme& token) {
    return token.kind == TokenKind::kNumber || RelationOperator(token.text) != 0;
  });
  const std::string words = word.text;
  at_ = tokens_.size();
  if (!condition && HarmlessQualifier(words)) {
    return statement;
  }
  return tree_.Add(Kind::kQualified, {statement}, NormalisedText(rest));
}

bool Reader::SeparatorHere(std::string& separator) const {
  const Lexeme& token = Peek();
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
// domain of its parameter or its condition, one quantity in several units, solutions in groups, or
// a list.
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
  const bool joint = std::find(separators.begin(), separators.end(), "or") == separators.end();
  const NodeId condition =
      domain == kNoNode && outermost && joint ? TakeConditions(elements) : NodeId{kNoNode};
  separators.resize(elements.size() - 1);
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
  if (condition != kNoNode) {
    return tree_.Add(Kind::kQualified, {list, condition}, std::string(kCondition));
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

}  // namespace hyper::answer

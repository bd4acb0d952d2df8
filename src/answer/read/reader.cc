#include "src/answer/read/reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"

namespace hyper::answer {
namespace {

constexpr size_t kMaxTokens = 4000;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// "for all real x" and the like: says where a statement holds, not what it states.
bool HarmlessQualifier(std::string_view words) {
  for (const std::string_view start : {"for all", "for any", "for every", "for each"}) {
    if (StartsWith(words, start)) return true;
  }
  return false;
}

// Removes \boxed{...} around a whole answer, which is no part of the mathematics.
void Unbox(std::vector<Token>& tokens) {
  while (tokens.size() >= 3 && tokens.front().kind == TokenKind::kCommand &&
         (tokens.front().text == "boxed" || tokens.front().text == "fbox") &&
         tokens.back().text == "}" && tokens[1].text == "{") {
    tokens.pop_back();
    tokens.erase(tokens.begin(), tokens.begin() + 2);
  }
}

}  // namespace

Reading ReadAnswer(std::string_view answer, const ReaderOptions& options, Budget& budget) {
  Reading reading;
  Tokens tokens = Tokenize(Trimmed(answer), kMaxTokens);
  reading.error = tokens.error;
  if (!reading.error.empty()) {
    // Too long to read, yet still equal to itself.
    if (reading.error == "too long") reading.normalised = answer;
    return reading;
  }
  Unbox(tokens.tokens);
  // A full stop ends the sentence around the answer.
  while (!tokens.tokens.empty() && tokens.tokens.back().kind == TokenKind::kPunct &&
         (tokens.tokens.back().text == "." || tokens.tokens.back().text == ",")) {
    tokens.tokens.pop_back();
  }
  reading.normalised = NormalisedText(tokens.tokens);
  if (tokens.tokens.empty()) {
    reading.error = "empty";
    return reading;
  }
  if (!budget.Steps(tokens.tokens.size())) {
    reading.error = "too long";
    return reading;
  }
  Reader reader(std::move(tokens.tokens), options, budget, reading.tree);
  reading.tree.root = reader.ReadAll();
  reading.error = reader.error();
  return reading;
}

NodeId Reader::ReadAll() {
  PrefixInfix();
  Spell();
  if (tokens_.size() == 1 && Peek().kind == TokenKind::kText) {
    return tree_.AddText(Kind::kText, Peek().text);
  }
  // Nothing but words and punctuation: prose.
  const bool prose = std::all_of(tokens_.begin(), tokens_.end(), [](const Token& token) {
    return token.kind == TokenKind::kText ||
           (token.kind == TokenKind::kPunct &&
            std::string_view(",.;:'\"-!?()").find(token.text[0]) != std::string_view::npos);
  });
  const bool separated = std::any_of(tokens_.begin(), tokens_.end(), [](const Token& token) {
    return token.text == "," || token.text == "and" || token.text == "or";
  });
  if (prose && !separated) {
    std::string text;
    for (const Token& token : tokens_) {
      if (token.kind == TokenKind::kText) text += (text.empty() ? "" : " ") + token.text;
    }
    if (text.empty()) return Fail("no mathematics and no words");
    return tree_.AddText(Kind::kText, text);
  }
  NodeId root = Quantified();
  if (root != kNoNode && at_ < tokens_.size()) root = Qualifier(root);
  if (root != kNoNode && at_ < tokens_.size()) {
    return Fail("cannot read from \"" + Peek().text.substr(0, 20) + "\" on");
  }
  return root;
}

// "\forall x > 0, statement" keeps its condition; other answers are a list.
NodeId Reader::Quantified() {
  if (!Command("forall") && !Command("exists")) return List("");
  const std::string quantifier = Peek().text;
  ++at_;
  const size_t start = at_;
  if (Relation() == kNoNode) return kNoNode;
  const std::vector<Token> condition(tokens_.begin() + static_cast<long>(start),
                                     tokens_.begin() + static_cast<long>(at_));
  if (!Accept(TokenKind::kPunct, ",") && !Accept(TokenKind::kPunct, ":")) {
    return Fail("quantifier without a statement");
  }
  const NodeId statement = List("");
  if (statement == kNoNode) return kNoNode;
  return tree_.Add(Kind::kQualified, {statement}, quantifier + " " + NormalisedText(condition));
}

// Words behind the statement. The rest of the answer belongs to them.
NodeId Reader::Qualifier(NodeId statement) {
  const Token& word = Peek();
  if (word.kind != TokenKind::kText || !IsStopWord(word.text.substr(0, word.text.find(' ')))) {
    return statement;
  }
  const std::vector<Token> rest(tokens_.begin() + static_cast<long>(at_), tokens_.end());
  const bool condition = std::any_of(rest.begin(), rest.end(), [](const Token& token) {
    return token.kind == TokenKind::kNumber || RelationOperator(token.text) != 0;
  });
  at_ = tokens_.size();
  if (!condition && HarmlessQualifier(word.text)) return statement;
  return tree_.Add(Kind::kQualified, {statement}, NormalisedText(rest));
}

bool Reader::SeparatorHere(std::string& separator) const {
  const Token& token = Peek();
  if (token.kind == TokenKind::kPunct && (token.text == "," || token.text == ";")) {
    separator = ",";
  } else if (token.kind == TokenKind::kText && (token.text == "and" || token.text == "or")) {
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
  if (level.TooDeep()) return Fail("nested too deeply");
  std::vector<NodeId> elements;
  std::string joined_by;
  for (;;) {
    const NodeId element = Relation();
    if (element == kNoNode) return kNoNode;
    elements.push_back(element);
    std::string separator;
    if (!SeparatorHere(separator)) break;
    ++at_;
    if (joined_by.empty() || joined_by == ",") joined_by = separator;
    // "3, 5, and 7"
    if (separator == "," && SeparatorHere(separator) && separator != ",") {
      joined_by = separator;
      ++at_;
    }
    // A separator at the end of an open list says nothing.
    if (close.empty() && at_ == tokens_.size()) break;
  }
  if (elements.size() == 1) return elements[0];
  return tree_.Add(Kind::kList, std::move(elements), joined_by);
}

char Reader::RelationHere() const {
  const Token& token = Peek();
  if (token.kind == TokenKind::kPunct &&
      std::string_view("=<>").find(token.text[0]) != std::string_view::npos) {
    return token.text[0];
  }
  if (token.kind == TokenKind::kCommand) return RelationOperator(token.text);
  if (token.kind == TokenKind::kName && token.text == "in") {
    const bool set = Peek(1).kind == TokenKind::kPunct || Peek(1).kind == TokenKind::kCommand;
    return set ? 'i' : '\0';
  }
  return '\0';
}

NodeId Reader::Relation() {
  NodeId first = Join();
  if (first == kNoNode) return kNoNode;
  if ((Punct(":") || Command("colon")) && bars_ == 0) {
    ++at_;
    const std::string digits = Peek().text;
    const NodeId second = Join();
    if (second == kNoNode) return kNoNode;
    std::vector<NodeId> parts{first, second};
    while (Accept(TokenKind::kPunct, ":")) {
      const NodeId part = Join();
      if (part == kNoNode) return kNoNode;
      parts.push_back(part);
    }
    return tree_.Add(Kind::kRatio, std::move(parts), digits);
  }
  std::vector<NodeId> operands{first};
  std::string operators;
  while (const char op = RelationHere()) {
    ++at_;
    const NodeId next = Join();
    if (next == kNoNode) return kNoNode;
    operands.push_back(next);
    operators += op;
  }
  if (operators.empty()) return first;
  return tree_.Add(Kind::kRelation, std::move(operands), operators);
}

NodeId Reader::Join() {
  NodeId result = Sum();
  while (result != kNoNode) {
    std::string name;
    if (Command("cup") || Command("bigcup") || Here(TokenKind::kName, "U")) name = "union";
    if (Command("cap") || Command("bigcap")) name = "intersection";
    if (Command("setminus") || Command("backslash")) name = "difference";
    if (name.empty()) break;
    ++at_;
    const NodeId right = Sum();
    if (right == kNoNode) return kNoNode;
    result = tree_.Add(Kind::kJoin, {result, right}, name);
  }
  return result;
}

NodeId Reader::Sum() {
  const Level level(*this);
  if (level.TooDeep()) return Fail("nested too deeply");
  std::vector<NodeId> terms;
  do {
    const NodeId term = Signed();
    if (term == kNoNode) return kNoNode;
    terms.push_back(term);
  } while (Punct("+") || Punct("-") || Command("pm") || Command("mp"));
  if (terms.size() == 1) return terms[0];
  return tree_.Add(Kind::kSum, std::move(terms));
}

// A product with any signs before it.
NodeId Reader::Signed() {
  bool negative = false;
  std::string both;
  for (;;) {
    if (Accept(TokenKind::kPunct, "-")) {
      negative = !negative;
    } else if (Accept(TokenKind::kCommand, "pm")) {
      both = "+";
    } else if (Accept(TokenKind::kCommand, "mp")) {
      both = "-";
    } else if (!Accept(TokenKind::kPunct, "+")) {
      break;
    }
  }
  NodeId product = Product();
  if (product == kNoNode) return kNoNode;
  if (negative) product = Negated(product);
  return both.empty() ? product : tree_.Add(Kind::kPlusMinus, {product}, both);
}

NodeId Reader::Product() {
  NodeId result = Power();
  while (result != kNoNode && ProductStep(result)) {
    if (!budget_.Steps()) return Fail("too long");
  }
  return error_.empty() ? result : kNoNode;
}

// Multiplies or divides by the next factor; false where the product ends.
bool Reader::ProductStep(NodeId& result) {
  const bool times = Punct("*") || Command("cdot") || Command("times") || Command("ast");
  const bool divide = Punct("/") || Command("div");
  if (times || divide) {
    ++at_;
    const bool negative = Accept(TokenKind::kPunct, "-");
    NodeId factor = Power();
    if (factor == kNoNode) return false;
    if (negative) factor = Negated(factor);
    result = Times(result, divide ? Inverse(factor) : factor);
    return true;
  }
  if (Peek().kind == TokenKind::kText) {
    const std::string word = Peek().text;
    if (word == "and" || word == "or" || IsStopWord(word.substr(0, word.find(' ')))) return false;
    const NodeId unit = Power();
    if (unit == kNoNode) return false;
    result = Times(result, unit);
    return true;
  }
  // "2^{3}3^{2}", "3!7!": nothing can run on into the number; a degree sign goes on in minutes.
  const bool closed =
      at_ >= 2 && tokens_[at_ - 1].kind == TokenKind::kPunct &&
      (tokens_[at_ - 1].text == "!" ||
       (tokens_[at_ - 1].text == "}" && tokens_[at_ - 2].kind == TokenKind::kNumber));
  if (Peek().kind == TokenKind::kNumber && !closed) {
    Fail("a number follows without an operator");
    return false;
  }
  if (Peek().kind != TokenKind::kNumber && !AtomHere()) return false;
  const NodeId factor = Power();
  if (factor == kNoNode) return false;
  result = Times(result, factor);
  return true;
}

NodeId Reader::Power() {
  const Level level(*this);
  if (level.TooDeep()) return Fail("nested too deeply");
  return Raised(Postfix(Atom()));
}

// `base` with the exponent that stands behind it, if one does.
NodeId Reader::Raised(NodeId base) {
  if (base == kNoNode || !Punct("^")) return base;
  ++at_;
  const bool group = Punct("{");
  const size_t sign = group ? 1 : 0;
  if (Here(TokenKind::kCommand, "circ", sign) || Here(TokenKind::kCommand, "degree", sign)) {
    at_ += sign + 1;
    if (group && !Accept(TokenKind::kPunct, "}")) return Fail("degree sign with more");
    return Postfix(Times(base, tree_.AddText(Kind::kUnit, "degree")));
  }
  const NodeId exponent = Exponent();
  if (exponent == kNoNode) return kNoNode;
  return Postfix(tree_.Add(Kind::kPower, {base, exponent}));
}

// What stands behind "^": a group, or one factor with its sign and its own power.
NodeId Reader::Exponent() {
  const Level level(*this);
  if (level.TooDeep()) return Fail("nested too deeply");
  if (Punct("{")) return Argument();
  const bool negative = Accept(TokenKind::kPunct, "-");
  NodeId exponent = kNoNode;
  if (Peek().kind == TokenKind::kNumber) {
    // No mixed number: the fraction of x^2\frac{1}{2} is a factor.
    exponent = Raised(Postfix(Literal()));
  } else if (Punct("(")) {
    exponent = Power();
  } else {
    exponent = Argument();
    if (exponent != kNoNode && Punct("^")) {
      ++at_;
      const NodeId upper = Exponent();
      if (upper == kNoNode) return kNoNode;
      exponent = tree_.Add(Kind::kPower, {exponent, upper});
    }
  }
  if (exponent == kNoNode) return kNoNode;
  return negative ? Negated(exponent) : exponent;
}

NodeId Reader::Postfix(NodeId atom) {
  while (atom != kNoNode) {
    if (!budget_.Steps()) return Fail("too long");
    if (Accept(TokenKind::kPunct, "!")) {
      const bool twice = Punct("!") && !Peek().space_before;
      if (twice) ++at_;
      atom = tree_.Add(Kind::kCall, {atom}, twice ? "factorial2" : "factorial");
    } else if (Accept(TokenKind::kPunct, "%") || Accept(TokenKind::kCommand, "%")) {
      atom = Times(atom, tree_.AddText(Kind::kUnit, "percent"));
    } else if (Punct("_")) {
      atom = Subscripted(atom);
    } else if (Punct("'") && tree_.at(atom).kind == Kind::kSymbol) {
      ++at_;
      tree_.at(atom).text += '\'';
    } else if (Command("circ") || Command("degree")) {
      ++at_;
      atom = Times(atom, tree_.AddText(Kind::kUnit, "degree"));
    } else {
      break;
    }
  }
  return atom;
}

NodeId Reader::Negated(NodeId value) {
  const Node& node = tree_.at(value);
  if (node.kind == Kind::kNumber) return tree_.AddNumber(node.number.Negated(), node.decimals);
  return Times(tree_.AddNumber(Rational(-1)), value);
}

NodeId Reader::Inverse(NodeId value) {
  return tree_.Add(Kind::kPower, {value, tree_.AddNumber(Rational(-1))});
}

NodeId Reader::Times(NodeId a, NodeId b) {
  // Products stay flat so that long ones are not deep.
  if (tree_.at(a).kind == Kind::kProduct) {
    tree_.at(a).args.push_back(b);
    return a;
  }
  return tree_.Add(Kind::kProduct, {a, b});
}

}  // namespace hyper::answer

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

// Removes \boxed{...} around a whole answer, which is no part of the mathematics.
void Unbox(std::vector<Lexeme>& tokens) {
  while (tokens.size() >= 3 && tokens.front().kind == TokenKind::kCommand &&
         (tokens.front().text == "boxed" || tokens.front().text == "fbox") &&
         tokens.back().text == "}" && tokens[1].text == "{") {
    tokens.pop_back();
    tokens.erase(tokens.begin(), tokens.begin() + 2);
  }
}

bool IsApproximately(std::string_view word) {
  return word == "approximately" || word == "about" || word == "approx" || word == "roughly" ||
         word == "exactly";
}

// Whether an answer is an object of JSON or an array of these: data, no notation of mathematics.
bool IsJson(std::string_view answer) {
  return answer.starts_with("{\"") || answer.starts_with("[{\"");
}

}  // namespace

Reading ReadAnswer(std::string_view answer, const ReaderOptions& options, Budget& budget) {
  Reading reading;
  Tokens tokens = Tokenize(Trimmed(answer), kMaxTokens);
  reading.error = tokens.error;
  if (!reading.error.empty()) {
    // Too long to read, yet still equal to itself.
    if (reading.error == "too long") {
      reading.normalised = answer;
    }
    return reading;
  }
  if (IsJson(Trimmed(answer))) {
    reading.normalised = Trimmed(answer);
    reading.error = "it is JSON, which is compared as text";
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
  reading.may_have_units = reader.may_have_units();
  reading.surely_units = reader.surely_units();
  return reading;
}

NodeId Reader::ReadAll() {
  WritePrimes();
  PrefixInfix();
  Spell();
  // "approximately 5", "= 5"
  const bool words_only = tokens_.size() == 1;
  bool approximate = false;
  if (!words_only && Peek().kind == TokenKind::kText && IsApproximately(Peek().text)) {
    approximate = Peek().text != "exactly";
    ++at_;
  }
  while (!words_only && (Punct("=") || RelationHere() == 'a')) {
    approximate = approximate || !Punct("=");
    ++at_;
  }
  if (words_only && Peek().kind == TokenKind::kText) {
    return tree_.AddText(Kind::kText, Peek().text);
  }
  // Nothing but words and punctuation: prose.
  const bool prose = std::all_of(tokens_.begin(), tokens_.end(), [](const Lexeme& token) {
    return token.kind == TokenKind::kText ||
           (token.kind == TokenKind::kPunct &&
            std::string_view(",.;:'\"-!?()").find(token.text[0]) != std::string_view::npos);
  });
  const bool separated = std::any_of(tokens_.begin(), tokens_.end(), [](const Lexeme& token) {
    return token.text == "," || token.text == "and" || token.text == "or";
  });
  if (prose && at_ == 0 && !separated) {
    std::string text;
    for (const Lexeme& token : tokens_) {
      if (token.kind == TokenKind::kText) {
        text += (text.empty() ? "" : " ") + token.text;
      }
    }
    if (text.empty()) {
      return Fail("no mathematics and no words");
    }
    return tree_.AddText(Kind::kText, text);
  }
  NodeId root = PlainCases();
  if (root == kNoNode) {
    root = Quantified();
  }
  if (root != kNoNode && approximate) {
    root = tree_.Add(Kind::kApproximated, {root});
  }
  if (root != kNoNode && at_ < tokens_.size()) {
    root = Qualifier(root);
  }
  if (root != kNoNode && at_ < tokens_.size()) {
    return Fail("cannot read from \"" + Peek().text.substr(0, 20) + "\" on");
  }
  return root;
}

char Reader::RelationHere() const {
  const Lexeme& token = Peek();
  if (token.kind == TokenKind::kPunct &&
      std::string_view("=<>").find(token.text[0]) != std::string_view::npos) {
    return token.text[0];
  }
  if (token.kind == TokenKind::kCommand) {
    return RelationOperator(token.text);
  }
  if (token.kind == TokenKind::kName && token.text == "in") {
    const bool set = Peek(1).kind == TokenKind::kPunct || Peek(1).kind == TokenKind::kCommand;
    return set ? 'i' : '\0';
  }
  return '\0';
}

NodeId Reader::Relation() {
  NodeId first = Operand();
  if (first == kNoNode) {
    return kNoNode;
  }
  if ((Punct(":") || Command("colon")) && bars_ == 0) {
    return Ratio(first);
  }
  if (Command("by")) {
    std::vector<NodeId> sizes{first};
    while (Accept(TokenKind::kCommand, "by")) {
      const NodeId size = Join();
      if (size == kNoNode) {
        return kNoNode;
      }
      sizes.push_back(size);
    }
    return tree_.Add(Kind::kTuple, std::move(sizes), "by");
  }
  std::vector<NodeId> operands{first};
  std::string operators;
  while (const char op = RelationHere()) {
    ++at_;
    const NodeId next = Operand();
    if (next == kNoNode) {
      return kNoNode;
    }
    operands.push_back(next);
    operators += op;
  }
  if (operators.find('a') != std::string::npos) {
    return Approximated(std::move(operands), std::move(operators));
  }
  if (operators.empty()) {
    return operands[0];
  }
  if (const Node last = tree_.at(operands.back());
      operators.find('e') != std::string::npos && last.kind == Kind::kCall && last.text == "mod") {
    operands.back() = ResidueClass(last.args[0], last.args[1]);
  }
  return tree_.Add(Kind::kRelation, std::move(operands), operators);
}

// a : b : c behind `first`. 2:30 hours is an amount of hours.
NodeId Reader::Ratio(NodeId first) {
  ++at_;
  const std::string digits = Peek().text;
  const NodeId second = Join();
  if (second == kNoNode) {
    return kNoNode;
  }
  std::vector<NodeId> parts{first, second};
  while (Accept(TokenKind::kPunct, ":")) {
    const NodeId part = Join();
    if (part == kNoNode) {
      return kNoNode;
    }
    parts.push_back(part);
  }
  const std::string unit = LastUnit(second);
  const bool time = parts.size() == 2 && digits.size() == 2 && digits < "60" &&
                    (unit == "hour" || unit == "minute") && tree_.at(second).args.size() == 2;
  if (!time) {
    return tree_.Add(Kind::kRatio, std::move(parts), digits);
  }
  const NodeId part = Times(tree_.at(second).args[0], tree_.AddNumber(Rational(1, 60)));
  const NodeId amount = tree_.Add(Kind::kSum, {first, part});
  return Times(amount, tree_.AddText(Kind::kUnit, unit));
}

// What approximates only illustrates: the value of x = 1/3 \approx 0.333 is 1/3, and that of
// \sqrt{2} \approx 1.41 is \sqrt{2}; what follows is kept beside it. "x \approx 5" names 5.
NodeId Reader::Approximated(std::vector<NodeId> operands, std::string operators) {
  size_t sign = operators.find('a');
  const bool names = sign == 0 && !IsConstant(operands[0]);
  const size_t value = names ? 1 : sign;
  sign += names ? 1 : 0;
  const auto begin = operands.begin() + static_cast<std::ptrdiff_t>(value);
  const NodeId exact = tree_.Add(Kind::kApproximated, std::vector<NodeId>(begin, operands.end()));
  operators.resize(sign);
  operands.resize(value);
  if (operators.empty()) {
    return exact;
  }
  operands.push_back(exact);
  return tree_.Add(Kind::kRelation, std::move(operands), std::move(operators));
}

// Whether an expression names nothing that could have a value of its own.
bool Reader::IsConstant(NodeId id) const {
  if (!budget_.Steps()) {
    return false;
  }
  const Node& node = tree_.at(id);
  return node.kind != Kind::kSymbol && node.kind != Kind::kText &&
         std::all_of(node.args.begin(), node.args.end(),
                     [this](NodeId arg) { return IsConstant(arg); });
}

// One side of a relation, with the modulus behind it: "a \pmod{n}" is a residue class, "a \mod n" a
// remainder unless it stands in a congruence.
NodeId Reader::Operand() {
  const NodeId value = Join();
  if (value == kNoNode) {
    return kNoNode;
  }
  const bool remainder = Accept(TokenKind::kCommand, "mod") || Accept(TokenKind::kText, "mod");
  NodeId modulus = kNoNode;
  if (remainder) {
    modulus = Signed();
  } else if (Accept(TokenKind::kCommand, "pmod")) {
    modulus = Argument();
  } else if (ModulusAhead()) {
    at_ += 2;
    modulus = Sum();
    if (modulus != kNoNode && !Accept(TokenKind::kPunct, ")")) {
      return Fail("unmatched (");
    }
  } else {
    return value;
  }
  if (modulus == kNoNode) {
    return kNoNode;
  }
  if (!remainder) {
    return ResidueClass(value, modulus);
  }
  // Of 1 + 1 \mod 2 only the last term may be meant.
  return Doubtful(tree_.Add(Kind::kCall, {value, modulus}, "mod"));
}

// A residue class, by the smallest residue where it is that of an integer literal.
NodeId Reader::ResidueClass(NodeId value, NodeId modulus) {
  const Node& number = tree_.at(value);
  const Node& by = tree_.at(modulus);
  const bool integers = number.kind == Kind::kNumber && by.kind == Kind::kNumber &&
                        number.number.IsInteger() && by.number.IsInteger() && by.number.Sign() > 0;
  const auto residue = integers ? number.number.Modulo(by.number, budget_) : std::nullopt;
  return tree_.Add(Kind::kCall, {residue ? tree_.AddNumber(*residue) : value, modulus},
                   std::string(kResidueClass));
}

// Whether "(mod 5)" stands here.
bool Reader::ModulusAhead() const {
  return Punct("(") && (Here(TokenKind::kText, "mod", 1) || Here(TokenKind::kCommand, "bmod", 1));
}

NodeId Reader::Join() {
  NodeId result = Sum();
  while (result != kNoNode) {
    std::string name;
    if (Command("cup") || Command("bigcup") || Here(TokenKind::kName, "U")) {
      name = "union";
    }
    if (Command("cap") || Command("bigcap")) {
      name = "intersection";
    }
    if (Command("setminus") || Command("backslash")) {
      name = "difference";
    }
    if (name.empty()) {
      break;
    }
    ++at_;
    const NodeId right = Sum();
    if (right == kNoNode) {
      return kNoNode;
    }
    // {1, 2} \cup {3}
    for (const NodeId side : {result, right}) {
      if (tree_.at(side).kind == Kind::kList) {
        tree_.at(side).kind = Kind::kSet;
      }
    }
    result = tree_.Add(Kind::kJoin, {result, right}, name);
  }
  return result;
}

NodeId Reader::Sum() {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  std::vector<NodeId> terms;
  do {
    const NodeId term = Signed();
    if (term == kNoNode) {
      return kNoNode;
    }
    terms.push_back(term);
  } while (Punct("+") || Punct("-") || Command("pm") || Command("mp"));
  return Added(std::move(terms));
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
  NodeId product = Quantity();
  if (product == kNoNode) {
    return kNoNode;
  }
  if (negative && tree_.at(product).kind == Kind::kCall && tree_.at(product).text == "mod") {
    // -7 \bmod 3 is 2.
    const NodeId negated = Negated(tree_.at(product).args[0]);
    tree_.at(product).args[0] = negated;
  } else if (negative) {
    product = Negated(product);
  }
  return both.empty() ? product : tree_.Add(Kind::kPlusMinus, {product}, both);
}

}  // namespace hyper::answer

// Products of the reader: factors, powers, units and what stands behind an atom.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"

namespace hyper::answer {

// A product, or amounts in several units side by side: 5 ft 6 in.
NodeId Reader::Quantity() {
  NodeId product = Product();
  if (product == kNoNode || Peek().kind != TokenKind::kNumber || !EndsInUnit(product)) {
    return product;
  }
  std::vector<NodeId> parts{product};
  while (Peek().kind == TokenKind::kNumber) {
    const NodeId part = Product();
    if (part == kNoNode) {
      return kNoNode;
    }
    parts.push_back(InSmallerUnit(parts.back(), part));
  }
  if (!FormOneQuantity(parts)) {
    return Fail("a number follows without an operator");
  }
  return tree_.Add(Kind::kSum, std::move(parts));
}

bool Reader::EndsInUnit(NodeId id) const { return !LastUnit(id).empty(); }

// The unit that ends a product; empty: none.
std::string Reader::LastUnit(NodeId id) const {
  const Node& product = tree_.at(id);
  if (product.kind != Kind::kProduct) {
    return {};
  }
  const Node& unit = tree_.at(product.args.back());
  return unit.kind == Kind::kUnit ? unit.text : std::string();
}

// An amount behind one in a larger unit: 30 in 3h30 are minutes, and so is 30' behind degrees.
NodeId Reader::InSmallerUnit(NodeId larger, NodeId amount) {
  static constexpr std::pair<std::string_view, std::string_view> kNext[] = {
      {"hour", "minute"}, {"minute", "second"}, {"foot", "inch"}};
  const std::string unit = LastUnit(larger);
  const std::string own = LastUnit(amount);
  if (tree_.at(amount).kind == Kind::kNumber) {
    for (const auto& [large, small] : kNext) {
      if (unit == large) {
        return Times(amount, tree_.AddText(Kind::kUnit, std::string(small)));
      }
    }
  }
  if (unit == "hour" && own == "meter") {
    const NodeId minutes = tree_.AddText(Kind::kUnit, "minute");  // 1h30m
    tree_.at(amount).args.back() = minutes;
  }
  const bool minute = own == "foot" && unit == "degree";
  if (minute || (own == "inch" && unit.substr(0, 3) == (unit == "degree" ? "deg" : "arc"))) {
    const NodeId angle = tree_.AddText(Kind::kUnit, minute ? "arcminute" : "arcsecond");
    tree_.at(amount).args.back() = angle;
  }
  return amount;
}

NodeId Reader::Product() {
  NodeId result = Power();
  while (result != kNoNode && ProductStep(result)) {
    if (!budget_.Steps()) {
      return Fail("too long");
    }
  }
  return error_.empty() ? result : kNoNode;
}

// Multiplies or divides by the factor behind an operator; false where no operator stands here.
bool Reader::OperatorStep(NodeId& result) {
  const bool perhaps = Command(kPerhapsTimes);
  const bool cross = Command("times") || perhaps;
  const bool times = Punct("*") || Command("cdot") || cross || Command("ast");
  const bool divide = Punct("/") || Command("div");
  if (!times && !divide) {
    return false;
  }
  ++at_;
  const bool negative = Accept(TokenKind::kPunct, "-");
  NodeId factor = Power();
  if (factor == kNoNode) {
    return true;
  }
  if (negative) {
    factor = Negated(factor);
  }
  if (perhaps) {
    Doubtful(factor);
  }
  if (cross && HasVector(result) && HasVector(factor)) {
    result = tree_.Add(Kind::kCall, {result, factor}, "?cross");
  } else {
    result = Times(result, divide ? Inverse(factor) : factor);
  }
  return true;
}

// Multiplies or divides by the next factor; false where the product ends.
bool Reader::ProductStep(NodeId& result) {
  if (OperatorStep(result)) {
    return error_.empty();
  }
  if (Accept(TokenKind::kCommand, "bmod")) {
    const NodeId modulus = Power();
    if (modulus == kNoNode) {
      return false;
    }
    result = tree_.Add(Kind::kCall, {result, modulus}, "mod");
    return true;
  }
  if (Peek().kind == TokenKind::kText) {
    const std::string word = Peek().text;
    if (word == "and" || word == "or" || IsStopWord(word.substr(0, word.find(' ')))) {
      return false;
    }
    const NodeId unit = Power();
    if (unit == kNoNode) {
      return false;
    }
    result = Times(result, unit);
    return true;
  }
  if (Peek().kind == TokenKind::kNumber && !NumberIsFactor()) {
    if (EndsInUnit(result)) {
      return false;
    }
    Fail("a number follows without an operator");
    return false;
  }
  if (Peek().kind != TokenKind::kNumber && !AtomHere()) {
    return false;
  }
  const NodeId factor = Power();
  if (factor == kNoNode) {
    return false;
  }
  result = Times(result, factor);
  return true;
}

// Whether an expression has a letter that is marked as a vector: their cross product does not
// commute.
bool Reader::HasVector(NodeId id) const {
  constexpr std::string_view kMarks[] = {"vec{", "mathbf{", "hat{", "overrightarrow{"};
  if (!budget_.Steps()) {
    return true;
  }
  const Node& node = tree_.at(id);
  const auto marks = [&node](std::string_view mark) {
    return node.text.compare(0, mark.size(), mark) == 0;
  };
  return (node.kind == Kind::kSymbol && std::any_of(std::begin(kMarks), std::end(kMarks), marks)) ||
         std::any_of(node.args.begin(), node.args.end(),
                     [this](NodeId arg) { return HasVector(arg); });
}

// Whether a number here multiplies what stands before it: 2^{3}3^{2}, 3!7!, (n-2)2, n2^{n-1},
// \pi 2, x^2 3. The two must not run into each other: x2 may be a power or an index, 2 3 is none.
bool Reader::NumberIsFactor() const {
  if (at_ == 0) {
    return false;
  }
  const Lexeme& last = tokens_[at_ - 1];
  const Lexeme& before = at_ == 1 ? end_ : tokens_[at_ - 2];
  // 2^n3, x^2 3
  const bool exponent = before.kind == TokenKind::kPunct && before.text == "^";
  if (last.kind == TokenKind::kName) {
    return NumberHasPower() || exponent;
  }
  if (last.kind == TokenKind::kNumber) {
    return exponent && Peek().space_before && !Here(TokenKind::kPunct, "/", 1);
  }
  if (last.kind == TokenKind::kCommand) {
    return !ConstantName(last.text).empty() || (NumberHasPower() && IsGreek(last.text));
  }
  if (last.kind != TokenKind::kPunct) {
    return false;
  }
  if (last.text == "!") {
    return true;
  }
  if (last.text == "}") {
    return before.kind == TokenKind::kNumber || before.kind == TokenKind::kName;
  }
  // (B) 5 is a label and a number.
  const bool label = at_ >= 3 && before.kind == TokenKind::kName && before.text.size() == 1 &&
                     tokens_[at_ - 3].text == "(";
  return last.text == ")" && !label && !Peek().space_before;
}

bool Reader::NumberHasPower() const {
  return Here(TokenKind::kPunct, "^", 1) || Here(TokenKind::kPunct, "!", 1);
}

NodeId Reader::Power() {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  return Raised(Postfix(Atom()));
}

// `base` with the exponent that stands behind it, if one does.
NodeId Reader::Raised(NodeId base) {
  if (base == kNoNode || !Punct("^")) {
    return base;
  }
  ++at_;
  const bool group = Punct("{");
  const size_t sign = group ? 1 : 0;
  if (Here(TokenKind::kCommand, "circ", sign) || Here(TokenKind::kCommand, "degree", sign)) {
    at_ += sign + 1;
    if (group && !Accept(TokenKind::kPunct, "}")) {
      return Fail("degree sign with more");
    }
    return Postfix(Times(base, DegreeUnit()));
  }
  // x^3_{12} is x_{12}^3; 12 is no base of the exponent.
  const bool indexed = tree_.at(base).kind == Kind::kSymbol && Peek().kind == TokenKind::kNumber &&
                       Here(TokenKind::kPunct, "_", 1);
  const std::string digits = Peek().text;
  if (indexed) {
    ++at_;
  }
  const NodeId exponent = indexed ? Number(digits) : Exponent();
  if (exponent == kNoNode) {
    return kNoNode;
  }
  // A^T may be a transpose.
  const bool transpose = tree_.at(exponent).text == "T" && tree_.at(base).kind == Kind::kSymbol;
  const NodeId power = Raise(base, exponent);
  return Postfix(transpose ? Doubtful(power) : power);
}

// What stands behind "^": a group, or one factor with its sign and its own power.
NodeId Reader::Exponent() {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  if (Punct("{")) {
    return Argument();
  }
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
      if (upper == kNoNode) {
        return kNoNode;
      }
      exponent = tree_.Add(Kind::kPower, {exponent, upper});
    }
  }
  if (exponent == kNoNode) {
    return kNoNode;
  }
  return negative ? Negated(exponent) : exponent;
}

NodeId Reader::Postfix(NodeId atom) {
  while (atom != kNoNode) {
    if (!budget_.Steps()) {
      return Fail("too long");
    }
    if (Accept(TokenKind::kPunct, "!")) {
      const bool twice = Punct("!") && !Peek().space_before;
      if (twice) {
        ++at_;
      }
      atom = tree_.Add(Kind::kCall, {atom}, twice ? "factorial2" : "factorial");
    } else if (Accept(TokenKind::kPunct, "%") || Accept(TokenKind::kCommand, "%")) {
      atom = Times(atom, tree_.AddText(Kind::kUnit, "percent"));
    } else if (Punct("_")) {
      atom = Subscripted(atom);
    } else if (Punct("'") && tree_.at(atom).kind == Kind::kSymbol) {
      ++at_;
      tree_.at(atom).text += '\'';
      // f'(x) is a call of what nobody defined.
      if (Punct("(") && !Peek().space_before) {
        const std::string name = '?' + tree_.at(atom).text;
        atom = CallArguments();
        if (atom != kNoNode) {
          tree_.at(atom).text = name;
        }
      }
    } else if (Command("circ") || Command("degree")) {
      // f \circ g
      const Lexeme& next = Peek(1);
      const bool composed = Command("circ") && tree_.at(atom).kind == Kind::kSymbol &&
                            (next.kind == TokenKind::kName || next.kind == TokenKind::kCommand ||
                             Here(TokenKind::kPunct, "(", 1));
      if (composed) {
        return Fail("cannot read \\circ between names");
      }
      ++at_;
      atom = Times(atom, DegreeUnit());
    } else if (tree_.at(atom).kind == Kind::kNumber && (Punct("'") || Punct("\""))) {
      // 5'6" and 5' 6''
      const bool twice = Punct("'") && Here(TokenKind::kPunct, "'", 1);
      const bool inch = twice || Punct("\"");
      at_ += twice ? 2 : 1;
      atom = Times(atom, tree_.AddText(Kind::kUnit, inch ? "inch" : "foot"));
    } else {
      break;
    }
  }
  return atom;
}

// The unit behind a degree sign, which is that of a temperature before C and F.
NodeId Reader::DegreeUnit() {
  const bool celsius = Here(TokenKind::kName, "C");
  const bool scale = celsius || Here(TokenKind::kName, "F");
  if (scale) {
    ++at_;
  }
  return tree_.AddText(Kind::kUnit, celsius ? "celsius" : scale ? "fahrenheit" : "degree");
}

NodeId Reader::Negated(NodeId value) {
  const Node& node = tree_.at(value);
  if (node.kind == Kind::kNumber) {
    return tree_.AddNumber(node.number.Negated(), node.decimals);
  }
  return Times(tree_.AddNumber(Rational(-1)), value);
}

NodeId Reader::Inverse(NodeId value) {
  return tree_.Add(Kind::kPower, {value, tree_.AddNumber(Rational(-1))});
}

NodeId Reader::Times(NodeId a, NodeId b) {
  if (const NodeId linear = LinearProduct(a, b); linear != kNoNode) {
    return linear;
  }
  // Products stay flat so that long ones are not deep.
  if (tree_.at(a).kind == Kind::kProduct) {
    tree_.at(a).args.push_back(b);
    return a;
  }
  return tree_.Add(Kind::kProduct, {a, b});
}

}  // namespace hyper::answer

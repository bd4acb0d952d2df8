// Atoms of the reader: names, commands, functions and their arguments.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"
#include "src/answer/read/units.h"

namespace hyper::answer {
namespace {

constexpr std::string_view kDecorations[] = {
    "mathbf", "mathbb",   "mathcal", "vec",     "overline", "bar",       "hat",
    "tilde",  "mathfrak", "mathscr", "widehat", "dot",      "underline", "overrightarrow"};

bool IsFraction(std::string_view name) {
  return name == "frac" || name == "dfrac" || name == "tfrac" || name == "cfrac";
}

bool IsDecoration(std::string_view name) {
  for (const std::string_view decoration : kDecorations) {
    if (name == decoration) {
      return true;
    }
  }
  return false;
}

// Whether the contents of a decoration are more than a name: an operator, or a digit that is no
// index.
bool IsFormula(std::string_view content) {
  return content.find_first_of("+-*/^=<>|!") != std::string_view::npos ||
         content.substr(0, content.find('_')).find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

// Whether a factor may start here without an operator.
bool Reader::AtomHere() const {
  const Lexeme& token = Peek();
  if (token.kind == TokenKind::kName) {
    if (token.text == "U") {
      return false;
    }
    if (calls_ > 0 && !FunctionName(token.text).empty()) {
      return false;
    }
    return RelationHere() == 0;
  }
  if (token.kind == TokenKind::kPunct) {
    if (DomainAhead() || ModulusAhead()) {
      return false;
    }
    return token.text == "(" || token.text == "[" || token.text == "{" ||
           (token.text == "|" && bars_ == 0);
  }
  if (token.kind != TokenKind::kCommand) {
    return false;
  }
  if (!FunctionName(token.text).empty()) {
    return calls_ == 0 || token.text == "sqrt";
  }
  return IsFraction(token.text) || IsDecoration(token.text) || IsGreek(token.text) ||
         !ConstantName(token.text).empty() || token.text == "binom" || token.text == "lfloor" ||
         token.text == "lceil" || token.text == "lvert" || token.text == "{" ||
         token.text == "begin" || token.text == "dbinom" || token.text == "tbinom";
}

NodeId Reader::Atom() {
  switch (Peek().kind) {
    case TokenKind::kNumber:
      return NumberAtom();
    case TokenKind::kName:
      return NameAtom();
    case TokenKind::kText: {
      // First in its product it names something; behind a factor it is a unit.
      const bool unit =
          at_ > 0 && (tokens_[at_ - 1].kind == TokenKind::kNumber || tokens_[at_ - 1].text == "}" ||
                      tokens_[at_ - 1].text == ")" || tokens_[at_ - 1].text == "/" ||
                      tokens_[at_ - 1].kind == TokenKind::kName ||
                      !ConstantName(tokens_[at_ - 1].text).empty());
      const std::string word = Peek().text;
      ++at_;
      return unit ? tree_.AddText(Kind::kUnit, UnitName(word)) : tree_.AddText(Kind::kSymbol, word);
    }
    case TokenKind::kCommand:
      return CommandAtom();
    case TokenKind::kPunct:
      return PunctAtom();
    case TokenKind::kEnd:
      break;
  }
  return Fail("ends where something should follow");
}

NodeId Reader::PunctAtom() {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  if (Punct("(") || Punct("[")) {
    return Bracketed();
  }
  if (Punct("{")) {
    return Argument();
  }
  if (Accept(TokenKind::kPunct, "|")) {
    ++bars_;
    const NodeId inner = List("|");
    --bars_;
    if (inner == kNoNode) {
      return kNoNode;
    }
    if (!Accept(TokenKind::kPunct, "|")) {
      return Fail("unmatched |");
    }
    return tree_.Add(Kind::kCall, {inner}, "abs");
  }
  return Fail("unexpected \"" + Peek().text + "\"");
}

NodeId Reader::CommandAtom() {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  const std::string name = Peek().text;
  ++at_;
  if (IsFraction(name) || name == "sqrt" || name == "binom" || name == "dbinom" ||
      name == "tbinom") {
    return FractionOrRoot(name);
  }
  if (const auto function = FunctionName(name); !function.empty()) {
    return Call(std::string(function));
  }
  if (const auto constant = ConstantName(name); !constant.empty()) {
    const NodeId node = tree_.AddText(Kind::kConstant, std::string(constant));
    // \pi(10) may count primes.
    const bool counted = Punct("(") && Peek(1).kind == TokenKind::kNumber && OneArgumentAhead();
    return counted ? Doubtful(node) : node;
  }
  if (IsGreek(name)) {
    return SymbolFrom(name.substr(0, 3) == "var" ? name.substr(3) : name);
  }
  if (name == "lfloor") {
    return Delimited("floor", "rfloor");
  }
  if (name == "lceil") {
    return Delimited("ceil", "rceil");
  }
  if (name == "lvert" || name == "vert") {
    return Delimited("abs", name == "vert" ? "vert" : "rvert");
  }
  if (name == "langle") {
    return Delimited("", "rangle");
  }
  if (name == "{" || name == "lbrace") {
    return Accept(TokenKind::kCommand, "begin") ? Environment(true) : Set();
  }
  if (name == "begin") {
    return Environment();
  }
  if (name == "emptyset" || name == "varnothing") {
    return tree_.Add(Kind::kSet, {});
  }
  if (name == "ldots" || name == "dots" || name == "cdots") {
    return tree_.Add(Kind::kEllipsis, {});
  }
  if (name == "boxed") {
    return Argument();
  }
  if (name == "$" || name == "pounds" || name == "euro") {
    const NodeId amount = Power();
    if (amount == kNoNode) {
      return kNoNode;
    }
    const std::string unit = name == "$" ? "dollar" : name == "euro" ? "euro" : "sterling";
    return Times(amount, tree_.AddText(Kind::kUnit, unit));
  }
  return IsDecoration(name) ? Decorated(name) : Fail("cannot read \\" + name);
}

// What stands under a decoration: a name, or mathematics where that is only type.
NodeId Reader::Decorated(const std::string& name) {
  const size_t start = at_;
  const std::string content = RawGroup();
  if (content.empty()) {
    return Fail("\\" + name + " without contents");
  }
  if (IsFormula(content)) {
    // Bold and underlined mathematics means what it says; a bar over it may mean anything.
    if (name != "mathbf" && name != "underline") {
      return Fail("cannot read \\" + name + " here");
    }
    at_ = start;
    return Argument();
  }
  // Unit vectors, whichever way they are marked.
  const std::string letter = content == "imath" ? "i" : content == "jmath" ? "j" : content;
  if (letter.size() == 1 && letter[0] >= 'i' && letter[0] <= 'k' &&
      (name == "mathbf" || name == "hat" || name == "vec" || name == "widehat")) {
    return tree_.AddText(Kind::kSymbol, "hat{" + letter + "}");
  }
  return SymbolFrom(name == "mathbb" ? "bb" + content : name + "{" + content + "}");
}

NodeId Reader::FractionOrRoot(const std::string& name) {
  if (name == "sqrt") {
    NodeId index = kNoNode;
    if (Accept(TokenKind::kPunct, "[")) {
      index = List("]");
      if (index == kNoNode) {
        return kNoNode;
      }
      if (!Accept(TokenKind::kPunct, "]")) {
        return Fail("unmatched [");
      }
    }
    const NodeId radicand = Argument();
    if (radicand == kNoNode) {
      return kNoNode;
    }
    const NodeId exponent = index == kNoNode ? tree_.AddNumber(Rational(1, 2)) : Inverse(index);
    return tree_.Add(Kind::kPower, {radicand, exponent});
  }
  const NodeId first = Argument();
  if (first == kNoNode) {
    return kNoNode;
  }
  const NodeId second = Argument();
  if (second == kNoNode) {
    return kNoNode;
  }
  if (!IsFraction(name)) {
    return tree_.Add(Kind::kCall, {first, second}, "binom");
  }
  return tree_.Add(Kind::kProduct, {first, Inverse(second)});
}

// A brace group, or a single digit, letter or command.
NodeId Reader::Argument() {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  if (Accept(TokenKind::kPunct, "{")) {
    const int outer = std::exchange(calls_, 0);
    const int bars = std::exchange(bars_, 0);
    const NodeId inner = List("}");
    calls_ = outer;
    bars_ = bars;
    if (inner == kNoNode) {
      return kNoNode;
    }
    return Accept(TokenKind::kPunct, "}") ? inner : Fail("unmatched {");
  }
  Lexeme& token = tokens_[at_ < tokens_.size() ? at_ : tokens_.size() - 1];
  if (Peek().kind == TokenKind::kNumber) {
    const std::string first = token.text.substr(0, 1);
    token.text.erase(0, 1);
    token.space_before = false;
    if (token.text.empty()) {
      ++at_;
    }
    return first == "." ? Fail("a point without digits") : Number(first);
  }
  if (Peek().kind == TokenKind::kName && ConstantName(token.text).empty() &&
      FunctionName(token.text).empty() && token.text.size() > 1) {
    const std::string first = token.text.substr(0, 1);
    token.text.erase(0, 1);
    token.space_before = false;
    const auto constant = ConstantName(first);
    return constant.empty() ? tree_.AddText(Kind::kSymbol, first)
                            : tree_.AddText(Kind::kConstant, std::string(constant));
  }
  return Atom();
}

}  // namespace hyper::answer

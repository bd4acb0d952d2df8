// Symbols of the reader: runs of letters, names of functions, indices.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"
#include "src/base/utf8.h"

namespace hyper::answer {
namespace {

// Letters that name a function when an opening parenthesis follows directly.
constexpr std::string_view kFunctionLetters = "fghFGHOPT";
// The same for Greek names; in front of any other a product is likelier.
constexpr std::string_view kGreekFunctions[] = {"Theta", "Omega", "phi", "zeta",  "Gamma",
                                                "Phi",   "psi",   "Psi", "Lambda"};

// Whether a run of letters is one name and no product: AREA, erf(.
bool IsUnknownName(std::string_view name, bool call) {
  if (name.size() < 3 || IsGreek(name)) {
    return false;
  }
  const bool capitals =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return capitals || (call && std::all_of(name.begin(), name.end(), [](char c) {
                        return std::isalpha(static_cast<unsigned char>(c)) != 0;
                      }));
}

// Whether a run of letters, read as a product, may be a name: with a capital, or three letters and
// more that do not stand together in the alphabet, as those of xyz do.
bool MayBeName(std::string_view name) {
  const bool capital =
      std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  const auto [low, high] = std::minmax_element(name.begin(), name.end());
  return capital || (name.size() >= 3 && *high - *low > 4);
}

// The variables of functions, as they stand behind the d of a differential.
constexpr std::string_view kVariables = "rstuvwxyz";

}  // namespace

NodeId Reader::NameAtom() {
  const std::string name = Peek().text;
  if (const auto function = FunctionName(name); !function.empty()) {
    ++at_;
    return Call(std::string(function));
  }
  if (const auto constant = ConstantName(name); !constant.empty()) {
    ++at_;
    return tree_.AddText(Kind::kConstant, std::string(constant));
  }
  if (const NodeId differential = Differential(); differential != kNoNode) {
    return differential;
  }
  if (name.size() == 1 || IsGreek(name) || IsUnknownName(name, Here(TokenKind::kPunct, "(", 1))) {
    ++at_;
    return SymbolFrom(name);
  }
  const bool doubtful = MayBeName(name) || run_doubtful_;
  const NodeId letter = LetterOf(name);
  // The letters that are left are of one run.
  run_doubtful_ = doubtful && Peek().kind == TokenKind::kName && !Peek().space_before;
  return doubtful ? Doubtful(letter) : letter;
}

// dx, dxdy, d\theta: a symbol of its own, and no product; kNoNode where none stands here.
NodeId Reader::Differential() {
  Lexeme& token = tokens_[at_];
  const Lexeme& next = Peek(1);
  const std::string& name = token.text;
  const bool letter = next.kind == TokenKind::kName && next.text.size() == 1 &&
                      kVariables.find(next.text) != std::string_view::npos;
  const bool greek = next.kind == TokenKind::kCommand && IsGreek(next.text);
  // \frac{d y}{d x}
  const bool joined = !next.space_before || (at_ > 0 && IsOneOf(&tokens_[at_ - 1], "{"));
  if (name == "d" && joined && (letter || greek)) {
    const std::string variable = next.text;
    at_ += 2;
    return tree_.AddText(Kind::kSymbol, "d{" + variable + "}");
  }
  const bool alone = name.size() == 2 || (name.size() > 3 && name[2] == 'd');
  if (!alone || name[0] != 'd' || kVariables.find(name[1]) == std::string_view::npos) {
    return kNoNode;
  }
  const std::string variable = name.substr(1, 1);
  token.text.erase(0, 2);
  token.space_before = false;
  if (token.text.empty()) {
    ++at_;
  }
  return tree_.AddText(Kind::kSymbol, "d{" + variable + "}");
}

// The first letter of a run, as a factor; the rest stays.
NodeId Reader::LetterOf(const std::string& name) {
  size_t length = 1;
  while (length < name.size() && base::GoesOn(name[length])) {
    ++length;
  }
  tokens_[at_].text = name.substr(length);
  tokens_[at_].space_before = false;
  const std::string letter = name.substr(0, length);
  if (tokens_[at_].text.empty()) {
    ++at_;
  }
  if (const auto constant = ConstantName(letter); !constant.empty()) {
    return tree_.AddText(Kind::kConstant, std::string(constant));
  }
  return tree_.AddText(Kind::kSymbol, letter);
}

// p(x) = ... at the beginning of an answer: whatever its name, p is a function there.
bool Reader::IsDefined(const std::string& name) const {
  return at_ == 1 && name.size() == 1 && Punct("(") && Peek(1).kind == TokenKind::kName &&
         Peek(1).text.size() == 1 && Peek(1).text != name && Here(TokenKind::kPunct, ")", 2) &&
         Here(TokenKind::kPunct, "=", 3);
}

// A symbol, or the call of an unknown function: f(x), O(n).
NodeId Reader::SymbolFrom(std::string name) {
  if (Punct("_")) {
    ++at_;
    name += '_' + RawGroup();
  }
  const bool called = Punct("(") && !Peek().space_before;
  const bool greek = std::find(std::begin(kGreekFunctions), std::end(kGreekFunctions),
                               name.substr(0, name.find('_'))) != std::end(kGreekFunctions);
  const bool function = kFunctionLetters.find(name[0]) != std::string_view::npos || greek ||
                        IsUnknownName(name, called) || IsDefined(name);
  if (function && called) {
    const NodeId arguments = CallArguments();
    if (arguments == kNoNode) {
      return kNoNode;
    }
    Node& call = tree_.at(arguments);
    call.text = "?" + name;  // no known function starts with a question mark
    return arguments;
  }
  const NodeId symbol = tree_.AddText(Kind::kSymbol, name);
  // W(1) and \mu(6) may be calls, x(x+1) is none.
  const bool bracket = Punct("[") && !Peek().space_before;  // E[X^2]
  const bool doubtful =
      IsUnknownName(name, false) || ((called || bracket) && (name == "E" || OneArgumentAhead()));
  return doubtful ? Doubtful(symbol) : symbol;
}

NodeId Reader::Doubtful(NodeId id) {
  tree_.at(id).doubtful = true;
  return id;
}

// Whether a bracket is followed by one number or letter and its end.
bool Reader::OneArgumentAhead() const {
  const bool atom = Peek(1).kind == TokenKind::kNumber || Peek(1).kind == TokenKind::kName;
  return atom && Here(TokenKind::kPunct, Punct("[") ? "]" : ")", 2);
}

NodeId Reader::Subscripted(NodeId base) {
  // x^{3}_{12} is x_{12}^3.
  const NodeId symbol = tree_.at(base).kind == Kind::kPower ? tree_.at(base).args[0] : base;
  const Node& node = tree_.at(symbol);
  if (node.kind != Kind::kSymbol || node.text.find('_') != std::string::npos) {
    return Fail("subscript of something that has none");
  }
  ++at_;
  const std::string subscript = RawGroup();
  tree_.at(symbol).text += '_' + subscript;
  return base;
}

// The text of a brace group or of one token, as written.
std::string Reader::RawGroup() {
  if (!Punct("{")) {
    std::string text = Peek().text;
    if (at_ < tokens_.size()) {
      ++at_;
    }
    return text;
  }
  std::string text;
  int depth = 0;
  while (at_ < tokens_.size()) {
    const Lexeme& token = tokens_[at_++];
    if (token.kind == TokenKind::kPunct && token.text == "{" && depth++ == 0) {
      continue;
    }
    if (token.kind == TokenKind::kPunct && token.text == "}" && --depth == 0) {
      return text;
    }
    text += token.text;
  }
  Fail("unmatched {");
  return text;
}

}  // namespace hyper::answer

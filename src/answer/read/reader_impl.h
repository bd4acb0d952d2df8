// Recursive descent over the tokens of one answer; used by reader*.cc only.
//
//   list     := relation { ("," | ";" | "and" | "or") relation }
//   relation := join { relop join }          join := sum { (cup | cap | setminus) sum }
//   sum      := [sign] product { sign product }
//   product  := power { ("*" | "/" | nothing) power }
//   power    := postfix [ "^" exponent ]     postfix := atom { "!" | "%" | "_" sub | "'" }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/answer/read/expression.h"
#include "src/answer/read/lexer.h"
#include "src/answer/read/reader.h"

namespace hyper::answer {

// Whether there is a token and it is one of these marks.
inline bool IsOneOf(const Lexeme* token, std::string_view characters) {
  return token != nullptr && token->kind == TokenKind::kPunct &&
         characters.find(token->text) != std::string_view::npos;
}

// Name of the command that the x of 2x 10^3 becomes: a multiplication, unless it is a letter.
inline constexpr std::string_view kPerhapsTimes = "?times";

// What a digit or letter stands for in a number with a base; -1 for other characters.
int DigitValue(char c);

class Reader {
 public:
  Reader(std::vector<Lexeme> tokens, const ReaderOptions& options, Budget& budget, Expression& tree)
      : tokens_(std::move(tokens)), options_(options), budget_(budget), tree_(tree) {}

  // The whole answer; kNoNode with error() on failure.
  NodeId ReadAll();
  const std::string& error() const { return error_; }
  bool may_have_units() const { return may_have_units_; }
  bool surely_units() const { return surely_units_; }

 private:
  // reader_infix.cc: writes a \over b as \frac{a}{b}, and n \choose k as \binom{n}{k}.
  void PrefixInfix();

  // reader_spell.cc
  void Spell();
  bool SpliceText(const Lexeme& token, std::vector<Lexeme>& out) const;
  size_t TakeSpecial(size_t at, std::vector<Lexeme>& out);
  size_t TakeBasedDigits(size_t at, std::vector<Lexeme>& out) const;

  // reader_units.cc
  void WritePrimes();
  void DropUnitDots();
  size_t BareUnitLength(size_t at, const std::vector<Lexeme>& before);
  size_t UnitLettersAt(size_t at, bool& certain) const;
  bool SkipUnitPower(size_t& at) const;
  std::string UnitText(size_t begin, size_t end) const;
  size_t TakeUnitPower(size_t at, std::string& unit) const;

  // reader.cc: relations and sums
  NodeId Relation();
  NodeId Ratio(NodeId first);
  NodeId Approximated(std::vector<NodeId> operands, std::string operators);
  char RelationHere() const;
  NodeId Operand();
  NodeId ResidueClass(NodeId value, NodeId modulus);
  bool ModulusAhead() const;
  bool IsConstant(NodeId id) const;
  NodeId Join();
  NodeId Sum();
  NodeId Signed();

  // reader_lists.cc
  NodeId List(std::string_view close);
  NodeId Joined(std::vector<NodeId> elements, std::vector<std::string> separators, bool outermost);
  NodeId Grouped(const std::vector<NodeId>& elements, const std::vector<std::string>& separators);
  bool FormOneQuantity(const std::vector<NodeId>& parts, std::string_view dimension = {});
  bool SeparatorHere(std::string& separator) const;
  NodeId Quantified();
  NodeId Qualifier(NodeId statement);

  // reader_conditions.cc
  NodeId WordedDomain();
  bool DomainAhead() const;
  bool IsDomain(NodeId relation, NodeId statement) const;
  bool HasParameter(NodeId statement, const std::string& symbol) const;
  bool Contains(NodeId id, const std::string& symbol) const;
  NodeId Stated(NodeId element) const;
  bool IsCondition(const std::vector<NodeId>& elements, size_t count, size_t place) const;
  NodeId TakeConditions(std::vector<NodeId>& elements);

  // reader_products.cc
  NodeId Quantity();
  bool EndsInUnit(NodeId id) const;
  std::string LastUnit(NodeId id) const;
  NodeId InSmallerUnit(NodeId larger, NodeId amount);
  NodeId Product();
  bool OperatorStep(NodeId& result);
  bool ProductStep(NodeId& result);
  bool HasVector(NodeId id) const;
  bool NumberIsFactor() const;
  bool NumberHasPower() const;
  NodeId Power();
  NodeId Raised(NodeId base);
  NodeId Exponent();
  NodeId Postfix(NodeId atom);
  NodeId DegreeUnit();
  NodeId Negated(NodeId value);
  NodeId Inverse(NodeId value);
  NodeId Times(NodeId a, NodeId b);

  // reader_linear.cc
  bool IsLinear(NodeId id) const;
  bool IsScalar(NodeId id) const;
  NodeId Added(std::vector<NodeId> terms);
  NodeId LinearProduct(NodeId a, NodeId b);
  NodeId Scaled(NodeId linear, NodeId factor);
  NodeId MatrixProduct(NodeId a, NodeId b);
  NodeId Raise(NodeId base, NodeId exponent);
  NodeId Determinant(NodeId matrix);

  // reader_atoms.cc
  NodeId Atom();
  NodeId PunctAtom();
  NodeId NameAtom();
  NodeId CommandAtom();
  NodeId Decorated(const std::string& name);
  NodeId FractionOrRoot(const std::string& name);
  NodeId Differential();
  NodeId LetterOf(const std::string& name);
  NodeId SymbolFrom(std::string name);
  NodeId Doubtful(NodeId id);
  bool OneArgumentAhead() const;
  bool IsDefined(const std::string& name) const;
  NodeId Argument();
  NodeId Bracketed();
  NodeId Set();
  NodeId Delimited(std::string name, std::string_view close);
  NodeId Matrix();
  NodeId Environment(bool braced = false);
  NodeId Rows();
  NodeId Cases();
  NodeId Condition();
  NodeId PlainCases();
  NodeId Subscripted(NodeId base);
  std::string RawGroup();
  bool AtomHere() const;

  // reader_calls.cc
  NodeId Call(std::string name);
  NodeId ValueOfCall(const std::string& name, NodeId arguments);
  NodeId CallArguments();
  NodeId ImplicitArgument();

  // reader_numbers.cc
  NodeId NumberAtom();
  NodeId Literal();
  NodeId Number(std::string_view literal);
  NodeId BasedNumber(const std::string& digits, int base);
  NodeId RepeatingDecimal(std::string_view head, std::string_view repetend);
  NodeId MixedNumber(NodeId whole);
  bool PlainFractionHere() const;

  // Tokens
  const Lexeme& Peek(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : end_;
  }
  bool Here(TokenKind kind, std::string_view text, size_t ahead = 0) const {
    return Peek(ahead).kind == kind && Peek(ahead).text == text;
  }
  bool Punct(std::string_view text) const { return Here(TokenKind::kPunct, text); }
  bool Command(std::string_view text) const { return Here(TokenKind::kCommand, text); }
  bool Accept(TokenKind kind, std::string_view text) {
    if (!Here(kind, text)) {
      return false;
    }
    ++at_;
    return true;
  }
  NodeId Fail(std::string reason) {
    if (error_.empty()) {
      error_ = std::move(reason);
    }
    return kNoNode;
  }

  // Counts one level of nesting while it lives.
  class Level {
   public:
    explicit Level(Reader& reader) : reader_(reader) { ++reader_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --reader_.depth_; }
    bool TooDeep() const { return reader_.depth_ > kMaxDepth || !reader_.budget_.Steps(); }

   private:
    Reader& reader_;
  };
  static constexpr int kMaxDepth = 240;

  std::vector<Lexeme> tokens_;
  const ReaderOptions& options_;
  Budget& budget_;
  Expression& tree_;
  size_t at_ = 0;
  Lexeme end_;
  std::string error_;
  int depth_ = 0;
  int bars_ = 0;               // open |...|
  int calls_ = 0;              // open implicit arguments, as in "sin 2x"
  bool run_doubtful_ = false;  // letters of a run that may be a name are left
  bool may_have_units_ = false;
  bool surely_units_ = false;
};

}  // namespace hyper::answer

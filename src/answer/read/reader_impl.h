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

class Reader {
 public:
  Reader(std::vector<Token> tokens, const ReaderOptions& options, Budget& budget, Expression& tree)
      : tokens_(std::move(tokens)), options_(options), budget_(budget), tree_(tree) {}

  // The whole answer; kNoNode with error() on failure.
  NodeId ReadAll();
  const std::string& error() const { return error_; }

 private:
  // reader_infix.cc: writes a \over b as \frac{a}{b}, and n \choose k as \binom{n}{k}.
  void PrefixInfix();

  // reader_spell.cc
  void Spell();
  bool SpliceText(const Token& token, std::vector<Token>& out) const;

  // reader.cc: structure
  NodeId List(std::string_view close);
  NodeId Relation();
  char RelationHere() const;
  NodeId Join();
  NodeId Sum();
  NodeId Signed();
  NodeId Product();
  bool ProductStep(NodeId& result);
  NodeId Power();
  NodeId Raised(NodeId base);
  NodeId Exponent();
  NodeId Postfix(NodeId atom);
  NodeId Quantified();
  bool SeparatorHere(std::string& separator) const;
  NodeId Qualifier(NodeId statement);

  // reader_atoms.cc
  NodeId Atom();
  NodeId PunctAtom();
  NodeId NameAtom();
  NodeId CommandAtom();
  NodeId FractionOrRoot(const std::string& name);
  NodeId SymbolFrom(std::string name);
  bool IsDefined(const std::string& name) const;
  NodeId Call(std::string name);
  NodeId CallArguments();
  NodeId ImplicitArgument();
  NodeId Argument();
  NodeId Bracketed();
  NodeId Set();
  NodeId Delimited(std::string name, std::string_view close);
  NodeId Matrix();
  NodeId Environment();
  NodeId Subscripted(NodeId base);
  std::string RawGroup();
  bool AtomHere() const;

  // reader_numbers.cc
  NodeId NumberAtom();
  NodeId Literal();
  NodeId Number(std::string_view literal);
  NodeId BasedNumber(const std::string& digits, int base);
  NodeId RepeatingDecimal(std::string_view head, std::string_view repetend);
  NodeId MixedNumber(NodeId whole);
  bool PlainFractionHere() const;

  // Tokens
  const Token& Peek(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : end_;
  }
  bool Here(TokenKind kind, std::string_view text, size_t ahead = 0) const {
    return Peek(ahead).kind == kind && Peek(ahead).text == text;
  }
  bool Punct(std::string_view text) const { return Here(TokenKind::kPunct, text); }
  bool Command(std::string_view text) const { return Here(TokenKind::kCommand, text); }
  bool Accept(TokenKind kind, std::string_view text) {
    if (!Here(kind, text)) return false;
    ++at_;
    return true;
  }
  NodeId Fail(std::string reason) {
    if (error_.empty()) error_ = std::move(reason);
    return kNoNode;
  }

  // Nodes
  NodeId Negated(NodeId value);
  NodeId Inverse(NodeId value);
  NodeId Times(NodeId a, NodeId b);

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

  std::vector<Token> tokens_;
  const ReaderOptions& options_;
  Budget& budget_;
  Expression& tree_;
  size_t at_ = 0;
  Token end_;
  std::string error_;
  int depth_ = 0;
  int bars_ = 0;   // open |...|
  int calls_ = 0;  // open implicit arguments, as in "sin 2x"
};

}  // namespace hyper::answer

// Bracketed forms of the reader: groups, tuples, intervals, sets, matrices.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/read/reader_impl.h"

namespace hyper::answer {

// (a), (a, b), [a, b), ...: a group, a tuple or an interval.
NodeId Reader::Bracketed() {
  const std::string open = Peek().text;
  const size_t begin = at_;
  ++at_;
  const bool fraction = Command("frac") || Command("dfrac") || Command("tfrac");
  const int outer = std::exchange(calls_, 0);
  const int bars = std::exchange(bars_, 0);
  if (Accept(TokenKind::kPunct, open == "(" ? ")" : "]")) {
    return Fail("empty brackets");
  }
  const NodeId inner = List(")");
  calls_ = outer;
  bars_ = bars;
  if (inner == kNoNode) {
    return kNoNode;
  }
  if (!Punct(")") && !Punct("]")) {
    return Fail("unmatched " + open);
  }
  const std::string close = Peek().text;
  ++at_;
  const Node& list = tree_.at(inner);
  const bool whole = begin == 0 && at_ == tokens_.size();
  if (whole && fraction && list.kind == Kind::kProduct && list.args.size() == 2) {
    tree_.at(inner).text = kBracketedFraction;
  }
  if (list.kind != Kind::kList) {
    return open == "[" && close == ")" ? Fail("unmatched [") : inner;
  }
  return tree_.Add(Kind::kTuple, std::vector<NodeId>(list.args), open + close);
}

// \{ ... \}, with a condition behind "|", ":" or "\mid" a set builder.
NodeId Reader::Set() {
  const int outer = std::exchange(calls_, 0);
  const int bars = std::exchange(bars_, 1);  // a "|" ends the element
  const auto restore = [&](NodeId result) {
    calls_ = outer;
    bars_ = bars;
    return result;
  };
  if (Accept(TokenKind::kCommand, "}")) {
    return restore(tree_.Add(Kind::kSet, {}));
  }
  const NodeId inner = List("}");
  if (inner == kNoNode) {
    return restore(kNoNode);
  }
  if (Accept(TokenKind::kPunct, "|") || Accept(TokenKind::kCommand, "mid") ||
      Accept(TokenKind::kPunct, ":")) {
    const NodeId condition = List("}");
    if (condition == kNoNode) {
      return restore(kNoNode);
    }
    if (!Accept(TokenKind::kCommand, "}")) {
      return restore(Fail("unmatched \\{"));
    }
    // \{2k : k \in \mathbb{Z}\} is the family 2k, k \in \mathbb{Z}.
    const bool family = tree_.at(inner).kind != Kind::kSymbol && IsDomain(condition, inner);
    return restore(tree_.Add(family ? Kind::kQualified : Kind::kBuilder, {inner, condition}));
  }
  if (!Accept(TokenKind::kCommand, "}") && !Accept(TokenKind::kCommand, "rbrace")) {
    return restore(Fail("unmatched \\{"));
  }
  const Node& list = tree_.at(inner);
  std::vector<NodeId> elements = list.kind == Kind::kList ? list.args : std::vector<NodeId>{inner};
  return restore(tree_.Add(Kind::kSet, std::move(elements)));
}

// What stands between two delimiting commands: a call of `name`, or a tuple if that is empty.
NodeId Reader::Delimited(std::string name, std::string_view close) {
  const int outer = std::exchange(calls_, 0);
  const NodeId inner = List(close);
  calls_ = outer;
  if (inner == kNoNode) {
    return kNoNode;
  }
  if (!Accept(TokenKind::kCommand, close)) {
    return Fail("unmatched delimiter");
  }
  if (!name.empty()) {
    return tree_.Add(Kind::kCall, {inner}, std::move(name));
  }
  const Node& list = tree_.at(inner);
  return list.kind == Kind::kList ? tree_.Add(Kind::kTuple, std::vector<NodeId>(list.args), "()")
                                  : inner;
}

// \begin{...}: matrices, "array" as one of them unless a brace is open before it; cases and systems
// of equations. Other environments are not read.
NodeId Reader::Environment(bool braced) {
  const std::string name = RawGroup();
  if (name == "array") {
    RawGroup();
  }
  const bool cases = braced || name == "cases" || name == "dcases" || name == "rcases";
  const bool system = name.substr(0, 5) == "align" || name == "gathered";
  const bool matrix = name.find("matrix") != std::string::npos || name == "array";
  if (!matrix && !cases && !system) {
    return Fail("cannot read \\begin{" + name + "}");
  }
  const int outer = std::exchange(calls_, 0);
  const int bars = std::exchange(bars_, 0);
  const NodeId result = system ? Rows() : cases ? Cases() : Matrix();
  calls_ = outer;
  bars_ = bars;
  if (result == kNoNode) {
    return kNoNode;
  }
  if (!Accept(TokenKind::kCommand, "end") || RawGroup() != name) {
    return Fail("\\begin{" + name + "} without its end");
  }
  return name == "vmatrix" ? Determinant(result) : result;
}

// Lines of equations; "&" only aligns them.
NodeId Reader::Rows() {
  size_t end = at_;
  while (end < tokens_.size() && !Here(TokenKind::kCommand, "end", end - at_)) {
    ++end;
  }
  const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(at_);
  const auto last = tokens_.begin() + static_cast<std::ptrdiff_t>(end);
  tokens_.erase(std::remove_if(first, last,
                               [](const Lexeme& token) {
                                 return token.kind == TokenKind::kPunct && token.text == "&";
                               }),
                last);
  return Cases();
}

// Rows "value & condition", with or without the words and commas between them; rows of one cell are
// a system of equations.
NodeId Reader::Cases() {
  std::vector<NodeId> cells;
  size_t rows = 0;
  while (!Command("end")) {
    const NodeId value = Relation();
    if (value == kNoNode) {
      return kNoNode;
    }
    cells.push_back(value);
    ++rows;
    const bool comma = Accept(TokenKind::kPunct, ",") || Accept(TokenKind::kPunct, ";") ||
                       Accept(TokenKind::kPunct, ".");
    const bool border = Accept(TokenKind::kPunct, "&");
    if (border || Peek().kind == TokenKind::kText || (comma && !Command("\\") && !Command("end"))) {
      const NodeId condition = Condition();
      if (condition == kNoNode) {
        return kNoNode;
      }
      cells.push_back(condition);
    }
    if (!Accept(TokenKind::kCommand, "\\") && !Command("end")) {
      return Fail("cannot read a row");
    }
  }
  if (cells.empty()) {
    return Fail("no cases");
  }
  if (cells.size() == 1) {
    return cells[0];
  }
  if (cells.size() == rows) {
    return tree_.Add(Kind::kList, std::move(cells), "and");
  }
  if (cells.size() != 2 * rows) {
    return Fail("cases of which some have no condition");
  }
  return tree_.Add(Kind::kCases, std::move(cells));
}

// The condition of a case: "if x > 0", "x > 0,", "otherwise".
NodeId Reader::Condition() {
  const std::string word = Peek().kind == TokenKind::kText ? Peek().text : "";
  if (word == "otherwise" || word == "else" || word == "if otherwise") {
    ++at_;
    Accept(TokenKind::kPunct, ".");
    return tree_.AddText(Kind::kText, "otherwise");
  }
  for (const std::string_view start : {"if", "for", "when", "where", "with"}) {
    if (word == start) {
      ++at_;
      break;
    }
  }
  const NodeId condition = List("\\");
  Accept(TokenKind::kPunct, ".");
  return condition;
}

// A whole answer "1 if x > 0, 0 if x \le 0"; kNoNode, and nothing read, for any other.
NodeId Reader::PlainCases() {
  const auto is_if = [](const Lexeme& token) {
    return token.kind == TokenKind::kText && (token.text == "if" || token.text == "otherwise");
  };
  if (std::count_if(tokens_.begin(), tokens_.end(), is_if) < 2) {
    return kNoNode;
  }
  // Reading a run of letters takes them off its token.
  const size_t start = at_;
  std::vector<Lexeme> unread = tokens_;
  std::vector<NodeId> cells;
  bool read = true;
  while (read && at_ < tokens_.size()) {
    const NodeId value = Relation();
    Accept(TokenKind::kPunct, ",");
    NodeId condition = kNoNode;
    if (value != kNoNode && Accept(TokenKind::kText, "otherwise")) {
      condition = tree_.AddText(Kind::kText, "otherwise");
    } else if (value != kNoNode && Accept(TokenKind::kText, "if")) {
      condition = Relation();
    }
    cells.insert(cells.end(), {value, condition});
    std::string separator;
    read = condition != kNoNode && (SeparatorHere(separator) || at_ == tokens_.size());
    while (read && SeparatorHere(separator)) {
      ++at_;
    }
  }
  if (read) {
    return tree_.Add(Kind::kCases, std::move(cells));
  }
  tokens_ = std::move(unread);
  at_ = start;
  run_doubtful_ = false;
  error_.clear();
  return kNoNode;
}

NodeId Reader::Matrix() {
  std::vector<NodeId> entries;
  size_t columns = 0;
  while (!Command("end")) {
    size_t in_row = 0;
    do {
      const NodeId entry = Relation();
      if (entry == kNoNode) {
        return kNoNode;
      }
      entries.push_back(entry);
      ++in_row;
    } while (Accept(TokenKind::kPunct, "&"));
    if (columns == 0) {
      columns = in_row;
    }
    if (columns != in_row) {
      return Fail("matrix with ragged rows");
    }
    if (!Accept(TokenKind::kCommand, "\\") && !Command("end")) {
      return Fail("cannot read a matrix entry");
    }
  }
  if (entries.empty()) {
    return Fail("empty matrix");
  }
  const NodeId matrix = tree_.Add(Kind::kMatrix, std::move(entries));
  tree_.at(matrix).columns = static_cast<int>(columns);
  return matrix;
}

}  // namespace hyper::answer

// Bracketed forms of the reader: groups, tuples, intervals, sets, matrices.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/read/reader_impl.h"

namespace hyper::answer {

// (a), (a, b), [a, b), ...: a group, a tuple or an interval.
NodeId Reader::Bracketed() {
  const std::string open = Peek().text;
  ++at_;
  const int outer = std::exchange(calls_, 0);
  const int bars = std::exchange(bars_, 0);
  if (Accept(TokenKind::kPunct, open == "(" ? ")" : "]")) return Fail("empty brackets");
  const NodeId inner = List(")");
  calls_ = outer;
  bars_ = bars;
  if (inner == kNoNode) return kNoNode;
  if (!Punct(")") && !Punct("]")) return Fail("unmatched " + open);
  const std::string close = Peek().text;
  ++at_;
  const Node& list = tree_.at(inner);
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
  if (Accept(TokenKind::kCommand, "}")) return restore(tree_.Add(Kind::kSet, {}));
  const NodeId inner = List("}");
  if (inner == kNoNode) return restore(kNoNode);
  if (Accept(TokenKind::kPunct, "|") || Accept(TokenKind::kCommand, "mid") ||
      Accept(TokenKind::kPunct, ":")) {
    const NodeId condition = List("}");
    if (condition == kNoNode) return restore(kNoNode);
    if (!Accept(TokenKind::kCommand, "}")) return restore(Fail("unmatched \\{"));
    return restore(tree_.Add(Kind::kBuilder, {inner, condition}));
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
  if (inner == kNoNode) return kNoNode;
  if (!Accept(TokenKind::kCommand, close)) return Fail("unmatched delimiter");
  if (!name.empty()) return tree_.Add(Kind::kCall, {inner}, std::move(name));
  const Node& list = tree_.at(inner);
  return list.kind == Kind::kList ? tree_.Add(Kind::kTuple, std::vector<NodeId>(list.args), "()")
                                  : inner;
}

// \begin{...}: matrices are read, "array" as a matrix; other environments are not.
NodeId Reader::Environment() {
  const std::string name = RawGroup();
  if (name == "array") RawGroup();
  const bool matrix = name.find("matrix") != std::string::npos || name == "array";
  if (!matrix) return Fail("cannot read \\begin{" + name + "}");
  const NodeId result = Matrix();
  if (result == kNoNode) return kNoNode;
  if (!Accept(TokenKind::kCommand, "end") || RawGroup() != name) {
    return Fail("\\begin{" + name + "} without its end");
  }
  if (name == "vmatrix") return tree_.Add(Kind::kCall, {result}, "det");
  return result;
}

NodeId Reader::Matrix() {
  const int outer = std::exchange(calls_, 0);
  std::vector<NodeId> entries;
  size_t columns = 0;
  while (!Command("end")) {
    size_t in_row = 0;
    do {
      const NodeId entry = Relation();
      if (entry == kNoNode) return kNoNode;
      entries.push_back(entry);
      ++in_row;
    } while (Accept(TokenKind::kPunct, "&"));
    if (columns == 0) columns = in_row;
    if (columns != in_row) return Fail("matrix with ragged rows");
    if (!Accept(TokenKind::kCommand, "\\") && !Command("end")) {
      return Fail("cannot read a matrix entry");
    }
  }
  calls_ = outer;
  if (entries.empty()) return Fail("empty matrix");
  const NodeId matrix = tree_.Add(Kind::kMatrix, std::move(entries));
  tree_.at(matrix).columns = static_cast<int>(columns);
  return matrix;
}

}  // namespace hyper::answer

// Comparison of two single expressions: numbers, constants, expressions with variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hyper/equal.h"
#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// Compares expressions of one tree, which may gain nodes.
class ScalarComparer {
 public:
  ScalarComparer(Expression& tree, const EqualOptions& options, Budget& budget)
      : tree_(tree), options_(options), budget_(budget) {}

  // Whether two expressions have the same value wherever both are real and defined (isolated
  // points aside); complex constants are compared as they are.
  Verdict Compare(NodeId a, NodeId b);
  // Whether a constant may round to `rounded`, a decimal or an integer; zeros at the end of an
  // integer need not count.
  bool MayRoundTo(NodeId rounded, NodeId value);
  // Sign of a real constant: -1, 0 or 1; nothing where it was not proved.
  std::optional<int> Sign(NodeId a);
  // Why, after Compare: one line.
  const std::string& reason() const { return reason_; }

  // Names of the variables of an expression, sorted, each once.
  std::vector<std::string> Symbols(NodeId a);
  // The expression with a variable replaced by another expression.
  NodeId Substituted(NodeId id, const std::string& symbol, NodeId value);
  // The expression with variables renamed.
  NodeId Renamed(NodeId id, const std::vector<std::string>& from,
                 const std::vector<std::string>& to);

 private:
  Verdict Say(Verdict verdict, const char* reason);
  Verdict CompareFixed(NodeId a, NodeId b);
  Verdict CompareUnderRounding(NodeId a, NodeId b);
  Verdict CompareWithin(NodeId a, NodeId b, int digits);
  int TrailingZeros(NodeId id);
  Verdict CompareInfinite(NodeId a, NodeId b);
  std::optional<int> InfinitySign(NodeId a);
  Verdict CompareConstant(NodeId a, NodeId b);
  Verdict CompareVariable(NodeId a, NodeId b, const std::vector<std::string>& symbols);
  bool SeparatedModulo(NodeId a, NodeId b, const std::vector<std::string>& symbols);
  void CollectWhole(NodeId id, bool counted, std::vector<std::string>& letters);
  bool HasAngle(NodeId id);
  bool SeparatedAtPoints(NodeId a, NodeId b, const std::vector<std::string>& symbols);
  Verdict CompareRenamed(NodeId a, NodeId b);
  bool HasBareLog(NodeId id);
  NodeId WithLog(NodeId id, bool natural);

  Expression& tree_;
  const EqualOptions& options_;
  Budget& budget_;
  std::string reason_;
};

}  // namespace hyper::answer

// Comparison of two readings: peels off names, units and brackets, matches collections, and
// leaves single expressions to scalar.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/equal.h"
#include "src/answer/compare/scalar.h"
#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"
#include "src/answer/read/units.h"

namespace hyper::answer {

// Conjunction: not equal beats undecided beats equal.
Verdict AllOf(Verdict a, Verdict b);

class Comparer {
 public:
  // `tree` holds both sides; new nodes are added to it.
  Comparer(Expression& tree, const EqualOptions& options, Budget& budget)
      : tree_(tree), options_(options), budget_(budget), scalars_(tree, options, budget) {}

  // Two whole answers, and two parts of them.
  Verdict CompareAnswers(NodeId a, NodeId b);
  Verdict Compare(NodeId a, NodeId b);
  // Why, after Compare: one line.
  const std::string& reason() const { return reason_; }

 private:
  struct Quantity {
    NodeId value = kNoNode;
    std::string unit;    // canonical, with powers; empty: none
    bool mixed = false;  // several units were added: 3 h 30 min
  };
  struct Named {
    std::string symbol;  // empty: no name
    NodeId value = kNoNode;
  };

  struct Line {
    std::string parameter;
    std::vector<NodeId> origin;     // the point where the parameter is 0
    std::vector<NodeId> direction;  // what it adds where it is 1
  };

  Verdict Say(Verdict verdict, std::string_view reason);
  Verdict CompareForms(NodeId a, NodeId b);
  // compare.cc
  Verdict CompareApproximated(NodeId a, NodeId b);
  // compare_conditions.cc
  Verdict CompareQualified(NodeId a, NodeId b);
  bool SameConditions(NodeId a, NodeId b);
  bool IsRange(NodeId qualified);
  bool OnlyLeavesOutPoints(NodeId qualified);
  bool MayTurn(NodeId id) const;
  // compare_unknown.cc
  Verdict ProvenDifference(NodeId a, NodeId b);
  std::vector<std::string> OwnSymbols(NodeId id, NodeId other);
  bool HasNameOfItsOwn(NodeId id, NodeId other);
  bool HasConstant(NodeId id, std::string_view name) const;
  bool MayBeRenamed(NodeId a, NodeId b);
  bool IsAngleFamily(NodeId id);
  bool MayBeOneLine(const std::vector<NodeId>& a, const std::vector<NodeId>& b);
  bool IsSingle(NodeId id) const;
  bool HasDerivativeOfItsOwn(NodeId id, NodeId other);
  bool MayBeLegendre(NodeId id, NodeId value);
  bool GoesOn(NodeId id) const;
  bool IsProse(NodeId id) const;
  bool IsUnknown(NodeId id) const;
  // compare_texts.cc
  Verdict CompareTexts(NodeId a, NodeId b);
  // compare_families.cc
  Verdict CompareFamilies(NodeId a, NodeId domain_a, NodeId b, NodeId domain_b);
  bool SameProgression(NodeId a, NodeId b, const std::string& parameter);
  std::string IntegrationConstant(NodeId id, NodeId& rest);
  Verdict CompareAntiderivatives(NodeId a, NodeId b, Verdict verdict);
  Verdict CompareGeneralSolutions(NodeId a, NodeId b, Verdict verdict);
  bool MayBeProportional(NodeId a, NodeId b);
  NodeId Minus(NodeId a, NodeId b);
  Verdict CompareCases(NodeId a, NodeId b);
  bool SameCondition(const std::vector<NodeId>& cases_a, NodeId a,
                     const std::vector<NodeId>& cases_b, NodeId b);
  // compare_lines.cc
  std::optional<Line> LineOf(const std::vector<NodeId>& elements);
  bool MayBeParallel(const std::vector<NodeId>& a, const std::vector<NodeId>& b);
  bool MayBeSameLine(const std::vector<NodeId>& a, const std::vector<NodeId>& b);
  // compare_relations.cc
  Verdict CompareRegions(NodeId a, NodeId b);
  Verdict CompareRelations(NodeId a, NodeId b);
  NodeId WithoutApproximation(NodeId id);
  Verdict CompareWithStatement(const Node& relation, NodeId other);
  bool CompareNamed(NodeId a, NodeId b, Verdict& verdict);
  Named Unname(NodeId id);
  Named UnnameList(NodeId id);
  bool Occurs(const std::string& symbol, NodeId id);
  // compare_collections.cc
  Verdict CompareTuples(NodeId a, NodeId b);
  bool IsVector(NodeId id) const;
  size_t VectorSize(NodeId id) const;
  bool HasUnitVectors(NodeId id);
  Verdict CompareUnitVectors(NodeId a, NodeId b);
  NodeId VectorOfUnits(NodeId id, size_t size);
  Verdict CompareInOrder(const std::vector<NodeId>& a, const std::vector<NodeId>& b);
  Verdict CompareLists(NodeId a, NodeId b);
  bool MayBeDecimal(NodeId list, NodeId other);
  Verdict CompareUnordered(const std::vector<NodeId>& a, const std::vector<NodeId>& b);
  Verdict CompareMatrices(NodeId a, NodeId b);
  Verdict CompareRatios(NodeId a, NodeId b);
  std::vector<NodeId> OrderedByName(const std::vector<NodeId>& elements);
  // compare_plus_minus.cc
  Verdict ComparePlusMinus(NodeId a, NodeId b);
  std::vector<NodeId> Elements(NodeId id, bool each = false);
  bool HasPlusMinus(NodeId id) const;
  int CountPlusMinus(NodeId id, bool& opposite) const;
  bool SignsAreAmbiguous(NodeId id) const;
  NodeId WithSigns(NodeId id, const std::vector<bool>& signs, size_t& next);
  // quantity.cc
  Verdict CompareScalar(NodeId a, NodeId b);
  Verdict CompareUnknownFunctions(NodeId a, NodeId b);
  Verdict CompareQuantities(NodeId a, NodeId b);
  bool TakeUnit(NodeId id, long power, UnitProduct& unit);
  Quantity SplitUnit(NodeId id);
  Quantity SplitUnitOfSum(NodeId id);
  NodeId JoinedAmounts(NodeId list);
  bool MayBeClock(NodeId ratio, NodeId other);
  Verdict CompareScaled(const Quantity& a, const Quantity& b);

  bool IsCollection(NodeId id) const;
  Kind KindOf(NodeId id) const { return tree_.at(id).kind; }

  Expression& tree_;
  const EqualOptions& options_;
  Budget& budget_;
  ScalarComparer scalars_;
  std::string reason_;
  int depth_ = 0;
};

}  // namespace hyper::answer

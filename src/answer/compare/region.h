// Sets of real numbers: intervals, unions, inequalities, exclusions, finite sets.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/answer/compare/scalar.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// A union of intervals whose ends are constants (or infinite) of the tree.
struct Region {
  struct Interval {
    NodeId low = kNoNode;  // kNoNode: unbounded
    NodeId high = kNoNode;
    bool low_closed = false;
    bool high_closed = false;
  };
  std::vector<Interval> intervals;
  std::string variable;  // of the inequality, if it was one
};

class RegionReader {
 public:
  RegionReader(Expression& tree, ScalarComparer& scalars, Budget& budget)
      : tree_(tree), scalars_(scalars), budget_(budget) {}

  // Whether an answer can only mean a set of reals: an inequality, a union, "(2, 3]", ...
  bool IsRegion(NodeId id);
  // The region; nothing where it is none or its ends could not be ordered. Pairs "(a, b)" are
  // open intervals.
  std::optional<Region> Read(NodeId id);
  // What is in `a` and not in `b`; nothing where ends could not be ordered.
  std::optional<Region> Without(const Region& a, const Region& b);
  // Whether two regions hold the same numbers; nothing where ends could not be ordered.
  std::optional<bool> Same(const Region& a, const Region& b);

 private:
  enum class Operation { kUnion, kIntersection, kDifference };
  // Cells of the real line cut at the points: below the first, at it, between it and the next...
  using Cells = std::vector<bool>;

  std::optional<Region> ReadBuilder(NodeId id);
  std::optional<Region> ReadTuple(NodeId id);
  std::optional<Region> ReadSet(NodeId id);
  std::optional<Region> ReadRelation(NodeId id);
  std::optional<Region> ReadList(NodeId id);
  std::optional<Region> Comparison(NodeId left, char op, NodeId right);
  std::optional<Region> Combine(const Region& a, const Region& b, Operation operation);
  bool AddPoint(NodeId point, std::vector<NodeId>& points);
  bool AddPoints(const Region& region, std::vector<NodeId>& points);
  std::optional<size_t> IndexOf(NodeId point, const std::vector<NodeId>& points);
  std::optional<Cells> CellsOf(const Region& region, const std::vector<NodeId>& points);
  // The cells of two regions on the points of both, which are put into `points`.
  std::optional<std::pair<Cells, Cells>> CellsOfBoth(const Region& a, const Region& b,
                                                     std::vector<NodeId>& points);
  static Region FromCells(const Cells& cells, const std::vector<NodeId>& points);
  std::optional<int> Order(NodeId a, NodeId b);
  NodeId Minus(NodeId a, NodeId b);
  Region::Interval Between(NodeId low, NodeId high, bool low_closed, bool high_closed);

  Expression& tree_;
  ScalarComparer& scalars_;
  Budget& budget_;
};

}  // namespace hyper::answer

#include "src/answer/compare/near.h"

#include <acb.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/answer/values/ball.h"

namespace hyper::answer {
namespace {

constexpr long kPrecision = 64;

// FNV-1a: a variable has the same value in every answer, since only its name decides.
long ValueOfName(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return 2 + static_cast<long>(hash % 97);
}

class RangeFinder {
 public:
  RangeFinder(const Expression& tree, Budget& budget) : tree_(tree), budget_(budget) {}

  std::optional<NearRange> Find(NodeId id) {
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kTuple:
        return node.text == "()" || node.text == "[]" ? Largest(node.args) : OfInterval(node);
      case Kind::kSet:
      case Kind::kList:
      case Kind::kMatrix:
        return Largest(node.args);
      default:
        return OfScalar(id);
    }
  }

 private:
  std::optional<NearRange> OfScalar(NodeId id) {
    Point point;
    if (!IsPlain(id, point)) {
      return std::nullopt;
    }
    Ball ball;
    if (EvaluateBall(tree_, id, point, kPrecision, budget_, ball) != BallStatus::kValue) {
      return std::nullopt;
    }
    arf_t end;
    arf_init(end);
    NearRange range;
    arb_get_lbound_arf(end, acb_realref(ball.raw()), kPrecision);
    range.low = arf_get_d(end, ARF_RND_FLOOR);
    arb_get_ubound_arf(end, acb_realref(ball.raw()), kPrecision);
    range.high = arf_get_d(end, ARF_RND_CEIL);
    arf_clear(end);
    return range;
  }

  // Equal collections have equal elements, in whichever order, so equal largest ones.
  std::optional<NearRange> Largest(const std::vector<NodeId>& elements) {
    std::optional<NearRange> largest;
    for (const NodeId element : elements) {
      const std::optional<NearRange> range = OfScalar(element);
      if (!range) {
        return std::nullopt;
      }
      if (!largest) {
        largest = range;
      }
      largest->low = std::max(largest->low, range->low);
      largest->high = std::max(largest->high, range->high);
    }
    return largest;
  }

  // "[a, b)" is known by its upper end, unless it may be empty: all empty intervals are equal.
  std::optional<NearRange> OfInterval(const Node& tuple) {
    if (tuple.args.size() != 2) {
      return std::nullopt;
    }
    const std::optional<NearRange> low = OfScalar(tuple.args[0]);
    const std::optional<NearRange> high = OfScalar(tuple.args[1]);
    return low && high && low->high < high->low ? high : std::nullopt;
  }

  // Whether an expression can mean one thing only; its variables are given their values.
  bool IsPlain(NodeId id, Point& point) {
    if (!budget_.Steps()) {
      return false;
    }
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kSymbol:
        point.emplace(node.text, Rational(ValueOfName(node.text)));
        return true;
      case Kind::kNumber:
      case Kind::kConstant:
        return true;
      case Kind::kCall:
        if (node.text == "log" && node.args.size() == 1) {
          return false;
        }
        break;
      case Kind::kSum:
      case Kind::kProduct:
      case Kind::kPower:
        break;
      default:
        return false;
    }
    return std::all_of(node.args.begin(), node.args.end(),
                       [&](NodeId arg) { return IsPlain(arg, point); });
  }

  const Expression& tree_;
  Budget& budget_;
};

}  // namespace

NearRange NearRangeOf(const Expression& tree, NodeId root, const EqualOptions& options,
                      Budget& budget) {
  if (options.rounded || options.allow_renamed_constants) {
    return {};
  }
  return RangeFinder(tree, budget).Find(root).value_or(NearRange{});
}

}  // namespace hyper::answer

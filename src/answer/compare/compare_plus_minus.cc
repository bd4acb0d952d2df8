// The values of plus-minus.
#include <algorithm>
#include <string>
#include <vector>

#include "src/answer/compare/compare.h"

namespace hyper::answer {
namespace {

// More plus-minus signs than this are not chosen each for itself.
constexpr size_t kMaxSigns = 4;

}  // namespace

bool Comparer::HasPlusMinus(NodeId id) const {
  if (!budget_.Steps()) {
    return false;
  }
  const Node& node = tree_.at(id);
  return node.kind == Kind::kPlusMinus ||
         std::any_of(node.args.begin(), node.args.end(),
                     [&](NodeId arg) { return HasPlusMinus(arg); });
}

// Counts the plus-minus signs of an expression; `opposite`: one of them is minus-plus.
int Comparer::CountPlusMinus(NodeId id, bool& opposite) const {
  if (!budget_.Steps()) {
    return 0;
  }
  const Node& node = tree_.at(id);
  int count = node.kind == Kind::kPlusMinus ? 1 : 0;
  opposite = opposite || (count == 1 && node.text == "-");
  for (const NodeId arg : node.args) {
    count += CountPlusMinus(arg, opposite);
  }
  return count;
}

// The expression with each plus-minus replaced by one of its signs: upper where the next of
// `signs` is set.
NodeId Comparer::WithSigns(NodeId id, const std::vector<bool>& signs, size_t& next) {
  if (!HasPlusMinus(id)) {
    return id;
  }
  Node node = tree_.at(id);
  const bool own = node.kind == Kind::kPlusMinus;
  const bool upper = own && next < signs.size() && signs[next++];
  for (NodeId& arg : node.args) {
    arg = WithSigns(arg, signs, next);
  }
  if (!own) {
    return tree_.Add(std::move(node));
  }
  if (upper == (node.text == "+")) {
    return node.args[0];
  }
  return tree_.Add(Kind::kProduct, {tree_.AddNumber(Rational(-1)), node.args[0]});
}

// Members of a set or list, plus-minus written out; anything else is its own only member. `each`:
// several signs of a member are chosen each for itself, else all together.
std::vector<NodeId> Comparer::Elements(NodeId id, bool each) {
  const std::vector<NodeId> members =
      IsCollection(id) ? tree_.at(id).args : std::vector<NodeId>{id};
  std::vector<NodeId> elements;
  for (const NodeId member : members) {
    bool opposite = false;
    const auto count = static_cast<size_t>(CountPlusMinus(member, opposite));
    const bool together = !each || opposite || count > kMaxSigns;
    const size_t choices = count == 0 ? 1 : together ? 2 : size_t{1} << count;
    for (size_t choice = 0; choice < choices; ++choice) {
      std::vector<bool> signs(count);
      for (size_t i = 0; i < count; ++i) {
        signs[i] = together ? choice == 0 : (choice >> i) % 2 == 0;
      }
      size_t next = 0;
      elements.push_back(WithSigns(member, signs, next));
    }
  }
  return elements;
}

// Whether a member has several plus-minus signs and none that is tied to another by minus-plus.
bool Comparer::SignsAreAmbiguous(NodeId id) const {
  const std::vector<NodeId> members =
      IsCollection(id) ? tree_.at(id).args : std::vector<NodeId>{id};
  return std::any_of(members.begin(), members.end(), [&](NodeId member) {
    bool opposite = false;
    return CountPlusMinus(member, opposite) > 1 && !opposite;
  });
}

Verdict Comparer::ComparePlusMinus(NodeId a, NodeId b) {
  const Verdict together = CompareUnordered(Elements(a), Elements(b));
  if (!SignsAreAmbiguous(a) && !SignsAreAmbiguous(b)) {
    return together;
  }
  const std::string reason = reason_;
  const Verdict each = CompareUnordered(Elements(a, true), Elements(b, true));
  return together == each
             ? Say(together, reason)
             : Say(Verdict::kUndecided, "several plus-minus signs may go together or not");
}

}  // namespace hyper::answer

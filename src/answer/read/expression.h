// Expressions as the reader builds them: nodes in one arena, referred to by index, so that
// neither building nor freeing recurses.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/answer/numbers/exact.h"

namespace hyper::answer {

// Index of a node in its Expression; kNoNode: none.
using NodeId = int;
inline constexpr NodeId kNoNode = -1;

enum class Kind {
  kNumber,     // number; decimals >= 0 where it was written as a decimal
  kSymbol,     // text: name, subscript included ("x", "theta", "a_1")
  kConstant,   // text: "pi", "e", "i" or "infinity"
  kSum,        // args
  kProduct,    // args
  kPower,      // args: base, exponent
  kCall,       // text: function name; args. Known functions and opaque ones (f, O, sum) alike
  kPlusMinus,  // args: expression; text "+" or "-": the sign that goes with the upper branch
  kUnit,       // text: canonical unit name ("degree", "percent", "dollar", "apple")
  kText,       // text: words in lower case; no mathematics
  kTuple,      // args; text: opening and closing bracket, "()", "[)" and so on
  kSet,        // args, unordered
  kList,       // args: elements separated by commas or "and", without brackets
  kRatio,      // args: a : b; text: the digits of b as written
  kRelation,   // args: operands; text: operators between them, one character each (see below)
  kJoin,       // args: two; text: "union", "intersection" or "difference"
  kMatrix,     // args: entries row by row; columns
  kBuilder,    // args: element, condition
  kQualified,  // args: statement; text: qualifier ("forall x > 0", "if ..."), normalised; or args:
               // statement, relation that says which integers a parameter of it runs through; with
               // text kCondition: statement, relation or list of relations that limit its letters
  kCases,      // args: value, condition, value, condition, ...; kText "otherwise"
  kEllipsis,
  kApproximated,  // args: the value, and what it is approximately; alone it is itself rounded
};

// Text of a list "1, 2; 3, 4": its elements may be tuples, or numbers after all.
inline constexpr std::string_view kGuessedGroups = ";";

// Name of the call that "a \pmod{n}" is: args a, reduced where it is a number, and n.
inline constexpr std::string_view kResidueClass = "?mod";

// Text of the product that \left(\frac{a}{p}\right) is, alone in an answer: perhaps a symbol of
// Legendre.
inline constexpr std::string_view kBracketedFraction = "(/)";

// Text of a statement with a condition behind a comma: 2^n, n \ge 0.
inline constexpr std::string_view kCondition = "if";

// Operators of kRelation: '=', '<', '>', 'l' (<=), 'g' (>=), 'n' (/=), 'i' (in), 'a'
// (approximately), 'e' (equivalent, congruent).

struct Node {
  Kind kind = Kind::kNumber;
  std::string text;
  Rational number;
  int decimals = -1;
  int columns = 0;
  bool doubtful = false;  // letters that may be part of a name which the reader does not know
  std::vector<NodeId> args;
};

// A tree in an arena. `root` is kNoNode where nothing could be read.
class Expression {
 public:
  NodeId Add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size()) - 1;
  }
  NodeId Add(Kind kind, std::vector<NodeId> args, std::string text = {}) {
    Node node;
    node.kind = kind;
    node.args = std::move(args);
    node.text = std::move(text);
    return Add(std::move(node));
  }
  NodeId AddText(Kind kind, std::string text) { return Add(kind, {}, std::move(text)); }
  NodeId AddNumber(Rational value, int decimals = -1) {
    Node node;
    node.number = std::move(value);
    node.decimals = decimals;
    return Add(std::move(node));
  }
  // Copies the nodes of another expression; the new index of its root.
  NodeId Import(const Expression& other) {
    const auto shift = static_cast<NodeId>(nodes_.size());
    for (Node node : other.nodes_) {
      for (NodeId& arg : node.args) {
        arg += shift;
      }
      nodes_.push_back(std::move(node));
    }
    return other.root + shift;
  }
  // References are valid until the next Add.
  const Node& at(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& at(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  size_t size() const { return nodes_.size(); }

  NodeId root = kNoNode;

 private:
  std::vector<Node> nodes_;
};

}  // namespace hyper::answer

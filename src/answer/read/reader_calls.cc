// Calls of known functions: powers, bases and arguments.
#include <string>
#include <utility>
#include <vector>

#include "src/answer/read/names.h"
#include "src/answer/read/reader_impl.h"

namespace hyper::answer {

// The call of a known function: its power, its base, its argument.
NodeId Reader::Call(std::string name) {
  const Level level(*this);
  if (level.TooDeep()) {
    return Fail("nested too deeply");
  }
  NodeId exponent = kNoNode;
  NodeId base = kNoNode;
  while (Punct("^") || (Punct("_") && name == "log")) {
    const bool power = Punct("^");
    ++at_;
    NodeId& slot = power ? exponent : base;
    // "log_10 x" has base 10, "\\log_28" base 2.
    const bool whole = !power && Peek().kind == TokenKind::kNumber && Peek(1).space_before;
    slot = whole ? Literal() : Argument();
    if (slot == kNoNode) {
      return kNoNode;
    }
  }
  const NodeId arguments = Punct("(") ? CallArguments() : ImplicitArgument();
  if (arguments == kNoNode) {
    return kNoNode;
  }
  if (const NodeId value = ValueOfCall(name, arguments); value != kNoNode) {
    return exponent == kNoNode ? value : tree_.Add(Kind::kPower, {value, exponent});
  }
  if (!error_.empty()) {
    return kNoNode;
  }
  // sin^{-1} is the inverse function; any other power is that of the value.
  const bool inverse = exponent != kNoNode && tree_.at(exponent).kind == Kind::kNumber &&
                       tree_.at(exponent).number == Rational(-1);
  if (inverse && !FunctionName("arc" + name).empty()) {
    name.insert(0, "arc");
    exponent = kNoNode;
  }
  Node& call = tree_.at(arguments);
  call.text = std::move(name);
  if (base != kNoNode) {
    call.args.push_back(base);
  }
  if (exponent == kNoNode) {
    return arguments;
  }
  return tree_.Add(Kind::kPower, {arguments, exponent});
}

// What a call is that is written in another way: roots, exp, cis, determinants; kNoNode for any
// other, and after an error.
NodeId Reader::ValueOfCall(const std::string& name, NodeId arguments) {
  const std::vector<NodeId> args = tree_.at(arguments).args;
  const Node first = tree_.at(args[0]);
  const bool root = name == "sqrt" || name == "cbrt";
  if ((root || name == "exp" || name == "cis") && args.size() != 1) {
    return Fail(name + " of several numbers");
  }
  if (root) {
    const NodeId exponent = tree_.AddNumber(Rational(1, name == "sqrt" ? 2 : 3));
    return tree_.Add(Kind::kPower, {args[0], exponent});
  }
  if (name == "exp" || name == "cis") {
    const NodeId i = tree_.AddText(Kind::kConstant, "i");
    const NodeId power = name == "exp" ? args[0] : tree_.Add(Kind::kProduct, {i, args[0]});
    return tree_.Add(Kind::kPower, {tree_.AddText(Kind::kConstant, "e"), power});
  }
  if (name == "det" && first.kind == Kind::kMatrix) {
    return Determinant(args[0]);
  }
  // \max\{3, 5\}
  const bool many = name == "max" || name == "min" || name == "gcd" || name == "lcm";
  if (many && args.size() == 1 && first.kind == Kind::kSet && !first.args.empty()) {
    return tree_.Add(Kind::kCall, first.args, name);
  }
  return kNoNode;
}

// "(a, b)" as the arguments of a kCall without a name yet.
NodeId Reader::CallArguments() {
  ++at_;
  const int outer = std::exchange(calls_, 0);
  const int bars = std::exchange(bars_, 0);
  const NodeId inner = List(")");
  calls_ = outer;
  bars_ = bars;
  if (inner == kNoNode) {
    return kNoNode;
  }
  if (!Accept(TokenKind::kPunct, ")")) {
    return Fail("unmatched (");
  }
  const Node& list = tree_.at(inner);
  return tree_.Add(Kind::kCall, list.kind == Kind::kList ? list.args : std::vector<NodeId>{inner});
}

// The argument of a function without parentheses: factors up to the next sign, "/" or function.
NodeId Reader::ImplicitArgument() {
  ++calls_;
  NodeId argument = Power();
  while (argument != kNoNode && AtomHere() && !Punct("[")) {
    const NodeId factor = Power();
    argument = factor == kNoNode ? kNoNode : Times(argument, factor);
  }
  --calls_;
  return argument == kNoNode ? kNoNode : tree_.Add(Kind::kCall, {argument});
}

}  // namespace hyper::answer

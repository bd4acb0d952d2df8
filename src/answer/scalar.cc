#include "src/answer/scalar.h"

#include <optional>
#include <string>

#include "src/answer/evaluate.h"

namespace hyper {

Verdict CompareScalars(Expression& tree, NodeId a, NodeId b, const EqualOptions& options,
                       Budget& budget, std::string& reason) {
  (void)options;
  const auto left = RationalValue(tree, a, budget);
  const auto right = RationalValue(tree, b, budget);
  if (budget.exhausted()) {
    reason = "the numbers are out of reach of the work budget";
    return Verdict::kUndecided;
  }
  if (left && right) {
    const bool same = *left == *right;
    reason = same ? "the same rational number" : "different rational numbers";
    return same ? Verdict::kEqual : Verdict::kNotEqual;
  }
  const std::string key = StructuralKey(tree, a, budget);
  if (!key.empty() && key == StructuralKey(tree, b, budget)) {
    reason = "the same expression";
    return Verdict::kEqual;
  }
  reason = "neither equality nor difference was proved";
  return Verdict::kUndecided;
}

}  // namespace hyper

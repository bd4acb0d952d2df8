#include "src/answer/values/modular.h"

#include <flint/nmod.h>
#include <flint/ulong_extras.h>

#include <cstdlib>

#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

using Residue = std::optional<std::uint64_t>;

class ModularEvaluator {
 public:
  ModularEvaluator(const Expression& tree, const ModularPoint& point, std::uint64_t prime,
                   Budget& budget)
      : tree_(tree), point_(point), budget_(budget) {
    nmod_init(&modulus_, prime);
  }

  Residue Evaluate(NodeId id) {
    if (!budget_.Steps()) {
      return std::nullopt;
    }
    const Node& node = tree_.at(id);
    switch (node.kind) {
      case Kind::kNumber:
        return Rational(node.number);
      case Kind::kSymbol: {
        const auto found = point_.find(node.text);
        return found == point_.end() ? std::nullopt : Residue(found->second);
      }
      case Kind::kSum:
      case Kind::kProduct:
        return Fold(node);
      case Kind::kPower:
        return Power(node);
      default:
        return std::nullopt;
    }
  }

 private:
  Residue Inverse(std::uint64_t value) const {
    if (value == 0) {
      return std::nullopt;
    }
    return nmod_inv(value, modulus_);
  }

  Residue Rational(const answer::Rational& value) const {
    const std::uint64_t above = fmpz_fdiv_ui(fmpq_numref(value.raw()), modulus_.n);
    const Residue below = Inverse(fmpz_fdiv_ui(fmpq_denref(value.raw()), modulus_.n));
    if (!below) {
      return std::nullopt;
    }
    return nmod_mul(above, *below, modulus_);
  }

  Residue Fold(const Node& node) {
    Residue total = Evaluate(node.args[0]);
    for (size_t i = 1; total && i < node.args.size(); ++i) {
      const Residue next = Evaluate(node.args[i]);
      if (!next) {
        return std::nullopt;
      }
      total = node.kind == Kind::kSum ? nmod_add(*total, *next, modulus_)
                                      : nmod_mul(*total, *next, modulus_);
    }
    return total;
  }

  Residue Power(const Node& node) {
    const auto exponent = RationalValue(tree_, node.args[1], budget_);
    const auto power = exponent ? exponent->ToLong(1L << 40) : std::nullopt;
    if (!power) {
      return std::nullopt;
    }
    const Residue base = Evaluate(node.args[0]);
    if (!base) {
      return std::nullopt;
    }
    const std::uint64_t raised =
        nmod_pow_ui(*base, static_cast<ulong>(std::labs(*power)), modulus_);
    return *power < 0 ? Inverse(raised) : Residue(raised);
  }

  const Expression& tree_;
  const ModularPoint& point_;
  Budget& budget_;
  nmod_t modulus_;
};

}  // namespace

std::optional<std::uint64_t> ModularValue(const Expression& tree, NodeId id,
                                          const ModularPoint& point, std::uint64_t prime,
                                          Budget& budget) {
  return ModularEvaluator(tree, point, prime, budget).Evaluate(id);
}

}  // namespace hyper::answer

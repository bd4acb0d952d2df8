// Values of rational expressions modulo a prime: two that differ there differ as functions,
// however large their expanded forms are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "src/answer/numbers/exact.h"
#include "src/answer/read/expression.h"

namespace hyper::answer {

// Values of the variables modulo the prime.
using ModularPoint = std::map<std::string, std::uint64_t>;

// The value of an expression in sums, products and integer powers of rational numbers and
// variables, modulo a prime below 2^62; nothing for any other expression and where a denominator
// vanishes.
std::optional<std::uint64_t> ModularValue(const Expression& tree, NodeId id,
                                          const ModularPoint& point, std::uint64_t prime,
                                          Budget& budget);

}  // namespace hyper::answer

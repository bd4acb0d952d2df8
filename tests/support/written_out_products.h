// Operands of products, drawn at random, and the products written out: rounded rows, whole-number
// sums, floats added in the order of the blocks. Shares no code with ggml.
#pragma once

#include <random>
#include <vector>

#include "tests/support/native_products.h"

namespace hyper::test {

// Which experts the rows ask for: any, one in all rows (the last), or few of them.
enum class Experts { kAny, kOne, kFew };

// Operands with numbers of about `size` in the input. Weights are Q4_0, Q4_K or F16.
Operands RandomOperands(const Product& product, std::mt19937& random, float size = 1,
                        Experts experts = Experts::kAny);

// F16 with experts only.
std::vector<float> WrittenOut(const Product& product, const Operands& operands);

}  // namespace hyper::test

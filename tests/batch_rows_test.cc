// Products of weights with all rows of a batch (cmake/native/batch_rows.cc), beside ggml's own code
// and beside sums written out here. Quantised weights: rounded rows, whole-number products, floats
// in the order of the blocks. F16: fused products in 16 partial sums.
#include <ggml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/native_products.h"
#include "tests/support/native_test.h"
#include "tests/support/written_out_products.h"

namespace hyper {
namespace {

using test::Bits;
using test::Experts;
using test::Operands;
using test::Product;
using test::Products;
using test::WrittenOut;

using Random = std::mt19937;

struct Case {
  Product product;
  float size = 1;  // of the input's numbers
  Experts experts = Experts::kAny;
};

Operands Make(const Case& of, Random& random) {
  return test::RandomOperands(of.product, random, of.size, of.experts);
}

class BatchRowsTest : public test::NativeTest {
 protected:
  static std::vector<float> Run(const Product& product, const Operands& operands, int threads = 1) {
    Products products(*backend_, product, {operands});
    products.Compute(threads);
    return products.Result(0);
  }

  // The result here, once it is known that batch_rows.cc has computed it.
  static std::vector<float> Batched(const Product& product, const Operands& operands,
                                    int threads = 1) {
    const int64_t before = backend_->BatchRows(1);
    std::vector<float> result = Run(product, operands, threads);
    EXPECT_EQ(backend_->BatchRows(1), before + 1);
    return result;
  }

  static std::vector<float> OfGgml(const Product& product, const Operands& operands,
                                   int threads = 1) {
    const int64_t before = backend_->BatchRows(0);
    std::vector<float> result = Run(product, operands, threads);
    EXPECT_EQ(backend_->BatchRows(1), before);
    return result;
  }

  static std::vector<Case> Cases() {
    std::vector<Case> cases;
    for (const ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_K}) {
      const int64_t block = type == GGML_TYPE_Q4_K ? 256 : 32;
      for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 63, 80}) {
        cases.push_back({{type, 2 * block, 48, 0, 1, rows}});
        cases.push_back({{type, block, 16, 4, 2, rows}});
      }
      cases.push_back({{type, 3 * block, 8, 0, 1, 5}});
      cases.push_back({{type, block, 24, 0, 3, 5}});  // planes
      cases.push_back({{type, 7 * block, 104, 0, 1, 9}});
      cases.push_back({{type, 4096, 16, 0, 1, 3}});
      cases.push_back({{type, 5 * block, 88, 3, 2, 11}});
      cases.push_back({{type, 2 * block, 40, 3, 2, 11, true}});
      cases.push_back({{type, block, 72, 1, 1, 6}});
      cases.push_back({{type, block, 16, 128, 8, 9}});
      cases.push_back({{type, block, 144, 16, 1, 37}, 1, Experts::kOne});
      cases.push_back({{type, block, 40, 64, 4, 20, true}, 1, Experts::kFew});
      for (const float size : {1e-38F, 1e-6F, 1e6F, 1e30F}) {
        cases.push_back({{type, 2 * block, 32, 4, 2, 7}, size});
        cases.push_back({{type, 2 * block, 32, 0, 1, 7}, size});
      }
    }
    constexpr ggml_type kHalf = GGML_TYPE_F16;
    for (int64_t rows = 1; rows <= 17; ++rows) {  // every kernel
      cases.push_back({{kHalf, 48, 24, 1, 1, rows}});
      cases.push_back({{kHalf, 96, 16, 4, 2, rows}});
    }
    for (const int64_t rows : {63, 80}) {
      cases.push_back({{kHalf, 192, 96, 16, 4, rows}});
      cases.push_back({{kHalf, 96, 192, 16, 4, rows, true}});
    }
    cases.push_back({{kHalf, 16, 8, 3, 2, 11, true}, 1e-6F});
    cases.push_back({{kHalf, 64, 144, 16, 1, 37}, 100, Experts::kOne});
    cases.push_back({{kHalf, 32, 40, 64, 4, 20, true}, 1, Experts::kFew});
    return cases;
  }
};

std::string Describe(const Case& of) {
  const Product& p = of.product;
  return std::string(ggml_type_name(p.type)) + ", inner " + std::to_string(p.inner) + ", columns " +
         std::to_string(p.columns) + ", experts " + std::to_string(p.experts) + ", used " +
         std::to_string(p.used) + ", rows " + std::to_string(p.rows) + ", size " +
         std::to_string(of.size);
}

TEST_F(BatchRowsTest, EqualsTheSumsWrittenOut) {
  Random random(2);
  for (const Case& of : Cases()) {
    const Operands operands = Make(of, random);
    const std::vector<float> expected = WrittenOut(of.product, operands);
    ASSERT_EQ(Bits(Batched(of.product, operands)), Bits(expected)) << Describe(of);
  }
}

// How far two results lie apart, as a part of the greatest number.
float Apart(const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0;
  float apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(b[i]));
    apart = std::max(apart, std::fabs(a[i] - b[i]));
  }
  return most == 0 ? apart : apart / most;
}

TEST_F(BatchRowsTest, EqualsGgml) {
  Random random(3);
  for (const Case& of : Cases()) {
    const Product& product = of.product;
    const Operands operands = Make(of, random);
    const std::vector<float> result = Batched(product, operands);
    const std::vector<float> expected = OfGgml(product, operands);
    if (product.type == GGML_TYPE_F16) {  // with AVX512-FP16, ggml adds from 64 numbers on in F16
      ASSERT_LT(Apart(result, expected), product.inner < 64 ? 1e-6F : 2e-3F) << Describe(of);
      continue;
    }
    // From four rows on, ggml rounds rows for Q4_K in another way and adds in another order.
    if (product.type == GGML_TYPE_Q4_K && product.experts == 0 && product.rows > 3) {
      ASSERT_TRUE(of.size > 1e6F || of.size < 1e-6F || Apart(result, expected) < 1e-5F)
          << Describe(of) << ": " << Apart(result, expected);
    } else {
      ASSERT_EQ(Bits(result), Bits(expected)) << Describe(of);
    }
  }
}

TEST_F(BatchRowsTest, ThreadsChangeNothingForHalves) {
  Random random(9);
  for (const Product& product :
       {Product{GGML_TYPE_F16, 48, 152, 5, 2, 9}, Product{GGML_TYPE_F16, 32, 72, 3, 2, 40, true}}) {
    const Operands operands = Make({product}, random);
    const std::string expected = Bits(WrittenOut(product, operands));
    for (const int threads : {1, 2, 3}) {
      ASSERT_EQ(Bits(Batched(product, operands, threads)), expected)
          << Describe({product}) << ", threads " << threads;
    }
  }
}

TEST_F(BatchRowsTest, LeavesHalvesThatDoNotFitToGgml) {
  Random random(10);
  for (const Product& product :
       {Product{GGML_TYPE_F16, 24, 16, 2, 1, 5},     // not in groups of 16
        Product{GGML_TYPE_F16, 32, 12, 2, 1, 5}}) {  // nor columns of eight
    const Operands operands = Make({product}, random);
    const int64_t before = backend_->BatchRows(1);
    const std::vector<float> result = Run(product, operands);
    ASSERT_EQ(backend_->BatchRows(1), before) << Describe({product});
    ASSERT_LT(Apart(result, WrittenOut(product, operands)), 1e-5F) << Describe({product});
  }
}

TEST_F(BatchRowsTest, ThreadsChangeNothing) {
  Random random(4);
  for (const ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_K}) {
    for (const Product& product :
         {Product{type, 512, 16, 0, 1, 5}, Product{type, 256, 200, 0, 3, 4},
          Product{type, 256, 152, 5, 2, 9}, Product{type, 512, 72, 3, 2, 4, true}}) {
      const Operands operands = Make({product}, random);
      const std::string one = Bits(Batched(product, operands));
      ASSERT_EQ(one, Bits(WrittenOut(product, operands))) << Describe({product});
      for (const int threads : {2, 3}) {
        ASSERT_EQ(Bits(Batched(product, operands, threads)), one)
            << Describe({product}) << ", threads " << threads;
      }
    }
  }
}

// Each row alone gives what it gives among the others.
// With more threads than processors some sleep in the barriers (sleeping-barrier.patch); one that
// nobody wakes would never end.
TEST_F(BatchRowsTest, ThreadsThatSleepInABarrierAreWoken) {
  Random random(11);
  const Product product = {GGML_TYPE_F16, 48, 152, 5, 2, 9};
  const Operands operands = Make({product}, random);
  const std::string expected = Bits(WrittenOut(product, operands));
  const int threads = 4 * static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for (int run = 0; run < 200; ++run) {
    ASSERT_EQ(Bits(Batched(product, operands, threads)), expected) << run;
  }
}

TEST_F(BatchRowsTest, OtherRowsChangeNothing) {
  Random random(5);
  for (Case of : Cases()) {
    const Product all = of.product;
    if (all.experts == 0 && all.used > 1) {
      continue;
    }
    const Operands operands = Make(of, random);
    const std::vector<float> together = Batched(all, operands);
    for (int64_t row = 0; row < all.rows; row += 5) {
      Product single = all;
      single.rows = 1;
      Operands alone;
      alone.weights = operands.weights;
      const int64_t input = single.Inputs() * all.inner;
      alone.input.assign(operands.input.begin() + row * input,
                         operands.input.begin() + (row + 1) * input);
      if (all.experts > 0) {
        alone.experts.assign(operands.experts.begin() + row * all.used,
                             operands.experts.begin() + (row + 1) * all.used);
      }
      const int64_t output = single.Outputs() * all.columns;
      const std::vector<float> expected(together.begin() + row * output,
                                        together.begin() + (row + 1) * output);
      ASSERT_EQ(Bits(Batched(single, alone)), Bits(expected)) << Describe(of) << ", row " << row;
    }
  }
}

// The least weights and the greatest numbers: no sum within a block overflows.
TEST_F(BatchRowsTest, TakesTheGreatestSums) {
  for (const ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_K}) {
    const bool k = type == GGML_TYPE_Q4_K;
    const Product product{type, 512, 16, 0, 1, 8};
    for (const uint8_t weights : {0x00, 0xFF}) {
      Operands operands;
      operands.weights.assign(product.Weights() / (k ? 256 : 32) * (k ? 144 : 18), weights);
      const size_t block_size = k ? 144 : 18;
      const uint16_t one = ggml_fp32_to_fp16(1);
      for (size_t at = 0; at < operands.weights.size(); at += block_size) {
        for (size_t i = 0; i < (k ? 16U : 2U); ++i) {
          operands.weights[at + i] = 0xFF;  // scales and minimums
        }
        std::memcpy(&operands.weights[at], &one, sizeof one);
        std::memcpy(&operands.weights[at + (k ? 2 : 0)], &one, sizeof one);
      }
      for (int64_t row = 0; row < product.rows; ++row) {
        operands.input.insert(operands.input.end(), product.inner, row % 2 == 0 ? 127.0F : -127.0F);
      }
      const std::vector<float> result = Batched(product, operands);
      ASSERT_EQ(Bits(result), Bits(WrittenOut(product, operands)));
      // 15 or 0 of Q4_K times scale 63, less minimum 63; 7 or -8 of Q4_0.
      const float weight =
          k ? (weights == 0 ? -63.0F : 15 * 63 - 63.0F) : (weights == 0 ? -8.0F : 7.0F);
      ASSERT_FLOAT_EQ(result[0], weight * 127 * 512);
      ASSERT_FLOAT_EQ(result[16], -weight * 127 * 512);
    }
  }
}

// Blocks of zeros, numbers too small for a scale, and the greatest ones.
TEST_F(BatchRowsTest, OddNumbersGiveWhatGgmlGives) {
  Random random(8);
  const std::vector<float> odd = {0.0F, -0.0F, 1e-45F, -1e-39F, 3e38F, -3e38F};
  for (const ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_K}) {
    const Product product{type, 512, 16, 2, 1, 12};
    Operands operands = Make({product}, random);
    for (int64_t row = 0; row < product.rows; ++row) {
      const auto first = operands.input.begin() + row * product.inner;
      if (row < 6) {
        std::fill(first, first + 256, odd[row]);
      }
      *(first + 300) = odd[row % 6];
    }
    const std::vector<float> result = Batched(product, operands);
    const std::vector<float> expected = OfGgml(product, operands);
    for (size_t i = 0; i < result.size(); ++i) {
      ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(result[i]) : result[i] == expected[i])
          << ggml_type_name(type) << ' ' << i << ": " << result[i] << ' ' << expected[i];
    }
  }
}

// Several columns may ask for one expert, as when a router is overruled.
TEST_F(BatchRowsTest, ARowMayUseAnExpertTwice) {
  Random random(6);
  const Product product{GGML_TYPE_Q4_0, 64, 32, 2, 3, 9};
  Operands operands = Make({{GGML_TYPE_Q4_0, 64, 32, 2, 1, 27}}, random);
  operands.input.resize(product.Inputs() * product.inner);
  ASSERT_EQ(Bits(Batched(product, operands)), Bits(WrittenOut(product, operands)));
}

TEST_F(BatchRowsTest, LeavesOtherTypesToGgml) {
  Random random(7);
  const Product product{GGML_TYPE_IQ4_NL, 64, 32, 0, 1, 5};
  Operands operands = Make({{GGML_TYPE_Q4_0, 64, 32, 0, 1, 5}}, random);  // blocks of equal size
  const int64_t before = backend_->BatchRows(1);
  Run(product, operands);
  EXPECT_EQ(backend_->BatchRows(1), before);
}

}  // namespace
}  // namespace hyper

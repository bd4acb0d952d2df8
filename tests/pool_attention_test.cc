// Attention of rows that see few cells (cmake/native/pool_attention.cc), beside the sums written
// out in doubles, and beside itself: other rows, threads and hidden cells change no bit.
#include <ggml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/support/native_attention.h"
#include "tests/support/native_products.h"
#include "tests/support/native_test.h"

namespace hyper {
namespace {

using test::Attention;
using test::AttentionOperands;
using test::Bits;
using test::kAttentionScale;

using Random = std::mt19937;

std::string Describe(const Attention& shape) {
  return std::to_string(shape.rows) + " rows, " + std::to_string(shape.cells) + " cells, " +
         std::to_string(shape.heads) + " heads on " + std::to_string(shape.key_heads) + ", sizes " +
         std::to_string(shape.size) + " and " + std::to_string(shape.value_size) + ", streams " +
         std::to_string(shape.streams);
}

AttentionOperands Make(const Attention& shape, int sparse, Random& random) {
  return test::RandomAttention(shape, sparse, random);
}

// [stream][row][head][number], the order of the operation's result.
std::vector<double> WrittenOut(const Attention& shape, const AttentionOperands& operands) {
  std::vector<double> result;
  const int64_t sharing = shape.heads / shape.key_heads;
  for (int64_t stream = 0; stream < shape.streams; ++stream) {
    for (int64_t row = 0; row < shape.rows; ++row) {
      const ggml_fp16_t* mask = &operands.mask[(stream * shape.rows + row) * shape.cells];
      for (int64_t head = 0; head < shape.heads; ++head) {
        const int64_t key_head = stream * shape.key_heads + head / sharing;
        const float* query =
            &operands.queries[((stream * shape.heads + head) * shape.rows + row) * shape.size];
        std::vector<double> weights(shape.cells);
        double sum = 0;
        for (int64_t cell = 0; cell < shape.cells; ++cell) {
          double score = 0;
          for (int64_t i = 0; i < shape.size; ++i) {
            const float rounded = ggml_fp16_to_fp32(ggml_fp32_to_fp16(query[i]));
            score += rounded * ggml_fp16_to_fp32(
                                   operands.keys[(key_head * shape.cells + cell) * shape.size + i]);
          }
          weights[cell] = std::exp(score * kAttentionScale + ggml_fp16_to_fp32(mask[cell]));
          sum += weights[cell];
        }
        for (int64_t i = 0; i < shape.value_size; ++i) {
          double value = 0;
          for (int64_t cell = 0; cell < shape.cells; ++cell) {
            value += weights[cell] / sum *
                     ggml_fp16_to_fp32(
                         operands.values[(key_head * shape.cells + cell) * shape.value_size + i]);
          }
          result.push_back(value);
        }
      }
    }
  }
  return result;
}

class PoolAttentionTest : public test::NativeTest {
 protected:
  static std::vector<float> Run(const Attention& shape, const AttentionOperands& operands,
                                int threads = 1) {
    return test::Attend(*backend_, shape, operands, threads);
  }

  static std::vector<float> Taken(const Attention& shape, const AttentionOperands& operands,
                                  int threads = 1) {
    const int64_t before = backend_->BatchRows(1);
    std::vector<float> result = Run(shape, operands, threads);
    EXPECT_EQ(backend_->BatchRows(1), before + 1) << Describe(shape);
    return result;
  }

  static void ExpectLeft(const Attention& shape, const AttentionOperands& operands) {
    const int64_t before = backend_->BatchRows(1);
    Run(shape, operands);
    EXPECT_EQ(backend_->BatchRows(1), before) << Describe(shape);
  }

  // A row's result is that of its visible cells alone, in a buffer of their own.
  static void ExpectRowsAlone(const Attention& shape, const AttentionOperands& all, int step) {
    const std::vector<float> together = Taken(shape, all);
    for (int64_t row = 0; row < shape.rows; row += step) {
      std::vector<int64_t> visible;
      for (int64_t cell = 0; cell < shape.cells; ++cell) {
        if (all.mask[row * shape.cells + cell] != 0xFC00) {
          visible.push_back(cell);
        }
      }
      Attention single = shape;
      single.rows = 1;
      single.cells = static_cast<int64_t>(visible.size());
      AttentionOperands alone;
      for (int64_t head = 0; head < shape.heads; ++head) {
        const auto query = all.queries.begin() + (head * shape.rows + row) * shape.size;
        alone.queries.insert(alone.queries.end(), query, query + shape.size);
      }
      for (int64_t head = 0; head < shape.key_heads; ++head) {
        for (const int64_t cell : visible) {
          const auto key = all.keys.begin() + (head * shape.cells + cell) * shape.size;
          alone.keys.insert(alone.keys.end(), key, key + shape.size);
          const auto value = all.values.begin() + (head * shape.cells + cell) * shape.value_size;
          alone.values.insert(alone.values.end(), value, value + shape.value_size);
        }
      }
      for (const int64_t cell : visible) {
        alone.mask.push_back(all.mask[row * shape.cells + cell]);
      }
      const int64_t size = shape.heads * shape.value_size;
      const std::vector<float> expected(together.begin() + row * size,
                                        together.begin() + (row + 1) * size);
      ASSERT_EQ(Bits(Taken(single, alone)), Bits(expected)) << Describe(shape) << ", row " << row;
    }
  }

  static std::vector<Attention> Shapes() {
    return {{.rows = 1, .cells = 256},
            {.rows = 7, .cells = 200, .heads = 2, .key_heads = 1},
            {.rows = 9, .cells = 333, .heads = 6, .key_heads = 2},
            {.rows = 5, .cells = 640, .heads = 8, .key_heads = 2, .size = 64, .value_size = 64},
            {.rows = 5, .cells = 100, .heads = 7, .key_heads = 1, .size = 48, .value_size = 80},
            {.rows = 3, .cells = 300, .heads = 4, .key_heads = 4, .size = 128, .value_size = 128},
            {.rows = 3, .cells = 90, .heads = 9, .key_heads = 1, .size = 192, .value_size = 256},
            {.rows = 2, .cells = 70, .heads = 5, .key_heads = 1, .size = 256, .value_size = 16},
            {.rows = 80, .cells = 512, .heads = 2, .key_heads = 1},
            {.rows = 4, .cells = 96, .heads = 4, .key_heads = 2, .streams = 3}};
  }
};

TEST_F(PoolAttentionTest, EqualsTheSumsWrittenOut) {
  Random random(1);
  for (const Attention& shape : Shapes()) {
    for (const int sparse : {3, 40, 100000}) {
      const AttentionOperands operands = Make(shape, sparse, random);
      const std::vector<float> result = Taken(shape, operands);
      const std::vector<double> expected = WrittenOut(shape, operands);
      ASSERT_EQ(result.size(), expected.size());
      for (size_t i = 0; i < result.size(); ++i) {
        ASSERT_NEAR(result[i], expected[i], 3e-6) << Describe(shape) << ", number " << i;
      }
    }
  }
}

TEST_F(PoolAttentionTest, ThreadsChangeNothing) {
  Random random(2);
  for (const Attention& shape : Shapes()) {
    const AttentionOperands operands = Make(shape, 9, random);
    const std::string one = Bits(Taken(shape, operands));
    for (const int threads : {2, 3}) {
      ASSERT_EQ(Bits(Taken(shape, operands, threads)), one) << Describe(shape);
    }
  }
}

TEST_F(PoolAttentionTest, OtherRowsAndHiddenCellsChangeNothing) {
  Random random(3);
  for (Attention shape : Shapes()) {
    shape.streams = 1;
    ExpectRowsAlone(shape, Make(shape, 9, random), 3);
  }
}

// Prefixes that all rows see, or one of two families, before the row's own cells.
TEST_F(PoolAttentionTest, RowsWithACommonPrefixAreAsAlone) {
  Random random(7);
  for (const Attention& shape :
       {Attention{.rows = 70, .cells = 600, .heads = 6, .key_heads = 2},
        Attention{.rows = 9, .cells = 420, .heads = 5, .key_heads = 1, .size = 64},
        Attention{.rows = 33, .cells = 450, .heads = 2, .key_heads = 2, .value_size = 80}}) {
    AttentionOperands operands = Make(shape, 1, random);
    for (int64_t row = 0; row < shape.rows; ++row) {
      for (int64_t cell = 0; cell < shape.cells; ++cell) {
        const bool seen = cell < 150   ? cell % 7 != 0
                          : cell < 350 ? cell % 2 == row % 2
                                       : cell % shape.rows == row;
        operands.mask[row * shape.cells + cell] = !seen ? ggml_fp16_t{0xFC00} : ggml_fp16_t{0};
      }
    }
    // The same cells, one of which is weighed otherwise.
    operands.mask[2 * shape.cells + 20] = ggml_fp32_to_fp16(-1.5F);
    ExpectRowsAlone(shape, operands, 1);
  }
}

// A prompt: each row sees all before it.
TEST_F(PoolAttentionTest, APromptEqualsTheSumsWrittenOut) {
  Random random(8);
  const Attention shape{.rows = 130, .cells = 140, .heads = 3, .key_heads = 1};
  AttentionOperands operands = Make(shape, 1, random);
  for (int64_t row = 0; row < shape.rows; ++row) {
    std::fill(operands.mask.begin() + row * shape.cells + row + 1,
              operands.mask.begin() + (row + 1) * shape.cells, ggml_fp16_t{0xFC00});
  }
  const std::vector<float> result = Taken(shape, operands);
  const std::vector<double> expected = WrittenOut(shape, operands);
  for (size_t i = 0; i < result.size(); ++i) {
    ASSERT_NEAR(result[i], expected[i], 3e-6) << "number " << i;
  }
  ExpectRowsAlone(shape, operands, 13);
}

TEST_F(PoolAttentionTest, ARowThatSeesNothingIsZero) {
  Random random(4);
  const Attention shape{.rows = 2, .cells = 64, .heads = 2, .key_heads = 1};
  AttentionOperands operands = Make(shape, 4, random);
  std::fill_n(operands.mask.begin(), shape.cells, ggml_fp16_t{0xFC00});
  const std::vector<float> result = Taken(shape, operands);
  for (int64_t i = 0; i < shape.heads * shape.value_size; ++i) {
    ASSERT_EQ(result[i], 0);
  }
}

// Scores of hundreds: neither the largest nor the running sum overflows.
TEST_F(PoolAttentionTest, TakesLargeScores) {
  Random random(5);
  const Attention shape{.rows = 3, .cells = 300, .heads = 4, .key_heads = 2};
  AttentionOperands operands = Make(shape, 2, random);
  for (float& query : operands.queries) {
    query *= 200;
  }
  const std::vector<float> result = Taken(shape, operands);
  for (size_t i = 0; i < result.size(); ++i) {
    ASSERT_TRUE(std::isfinite(result[i]));
  }
}

TEST_F(PoolAttentionTest, LeavesTheRestToGgml) {
  Random random(6);
  for (const Attention& shape :
       {Attention{.size = 40, .value_size = 40}, Attention{.size = 272, .value_size = 272},
        Attention{.soft_cap = 20}, Attention{.heads = 2, .alibi = 8},
        Attention{.type = GGML_TYPE_F32}}) {
    ExpectLeft(shape, Make(shape, 3, random));
  }
}

}  // namespace
}  // namespace hyper

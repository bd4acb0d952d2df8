#include "tests/support/written_out_products.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hyper::test {
namespace {

float FromHalf(uint16_t half) { return ggml_fp16_to_fp32(half); }

// One column of weights: whole numbers with a scale for each part, and what to subtract.
struct Part {
  int scale = 1;    // of Q4_K, as a whole number
  int minimum = 0;  // of Q4_K
  std::vector<int> numbers;
};

struct Block {
  float scale = 0;
  float minimum_scale = 0;
  std::vector<Part> parts;
};

Block ReadQ4_0(const uint8_t* from) {
  uint16_t half;
  std::memcpy(&half, from, sizeof half);
  Block block{.scale = FromHalf(half), .parts = {Part{}}};
  for (int i = 0; i < 32; ++i) {
    const int byte = from[2 + i % 16];
    block.parts[0].numbers.push_back((i < 16 ? byte & 15 : byte >> 4) - 8);
  }
  return block;
}

Block ReadQ4_K(const uint8_t* from) {
  uint16_t halves[2];
  std::memcpy(halves, from, sizeof halves);
  const uint8_t* packed = from + 4;
  Block block{.scale = FromHalf(halves[0]), .minimum_scale = FromHalf(halves[1]), .parts = {}};
  for (int p = 0; p < 8; ++p) {
    Part part;
    part.scale = p < 4 ? packed[p] & 63 : (packed[p + 4] & 15) | (packed[p - 4] >> 6 << 4);
    part.minimum = p < 4 ? packed[p + 4] & 63 : (packed[p + 4] >> 4) | (packed[p] >> 6 << 4);
    for (int i = 0; i < 32; ++i) {
      const int byte = from[16 + p / 2 * 32 + i];
      part.numbers.push_back(p % 2 == 0 ? byte & 15 : byte >> 4);
    }
    block.parts.push_back(part);
  }
  return block;
}

struct RoundedRow {
  float scale = 0;
  std::vector<int> numbers;
};

RoundedRow RoundQ8_0(const float* from) {
  float most = 0;
  for (int i = 0; i < 32; ++i) {
    most = std::max(most, std::fabs(from[i]));
  }
  RoundedRow row{.scale = FromHalf(ggml_fp32_to_fp16(most / 127.0F)), .numbers = {}};
  const float factor = most == 0 ? 0 : 127.0F / most;
  for (int i = 0; i < 32; ++i) {
    row.numbers.push_back(static_cast<int>(std::nearbyint(from[i] * factor)));
  }
  return row;
}

RoundedRow RoundQ8_K(const float* from) {
  float most = 0;
  for (int i = 0; i < 256; ++i) {
    most = std::fabs(from[i]) > std::fabs(most) ? from[i] : most;
  }
  RoundedRow row{.scale = 0, .numbers = std::vector<int>(256)};
  if (most == 0) {
    return row;
  }
  const float factor = -127.0F / most;
  for (int i = 0; i < 256; ++i) {
    row.numbers[i] = std::min(127, static_cast<int>(std::nearbyint(factor * from[i])));
  }
  row.scale = 1 / factor;
  return row;
}

// Of a row and a column of halves, `size` numbers: 16 partial sums, then those four places apart in
// a group of four, then neighbours, then the groups.
float SumOfHalves(const float* row, const uint16_t* column, int64_t size) {
  float parts[16] = {};
  for (int64_t i = 0; i < size; ++i) {
    parts[i % 16] =
        std::fma(FromHalf(column[i]), FromHalf(ggml_fp32_to_fp16(row[i])), parts[i % 16]);
  }
  float fours[4];
  for (int i = 0; i < 4; ++i) {
    const float* four = parts + 4 * i;
    fours[i] = (four[0] + four[2]) + (four[1] + four[3]);
  }
  return (fours[0] + fours[2]) + (fours[1] + fours[3]);
}

std::vector<float> WrittenOutHalves(const Product& product, const Operands& operands) {
  std::vector<uint16_t> halves(product.Weights());
  std::memcpy(halves.data(), operands.weights.data(), operands.weights.size());
  std::vector<float> result;
  for (int64_t out = 0; out < product.Outputs(); ++out) {
    const int64_t in = product.own_input ? out : out / product.used;
    const int64_t first = operands.experts[out] * product.columns;
    for (int64_t column = 0; column < product.columns; ++column) {
      result.push_back(SumOfHalves(&operands.input[in * product.inner],
                                   &halves[(first + column) * product.inner], product.inner));
    }
  }
  return result;
}

// The product of one row and one column.
float Sum(const std::vector<RoundedRow>& row, const std::vector<Block>& column, bool k) {
  float sum = 0;
  float minimums = 0;
  for (size_t b = 0; b < column.size(); ++b) {
    int products = 0;
    int minimum = 0;
    for (size_t p = 0; p < column[b].parts.size(); ++p) {
      const Part& part = column[b].parts[p];
      int inner = 0;
      int numbers = 0;
      for (size_t i = 0; i < part.numbers.size(); ++i) {
        inner += part.numbers[i] * row[b].numbers[p * 32 + i];
        numbers += row[b].numbers[p * 32 + i];
      }
      products += part.scale * inner;
      minimum += part.minimum * numbers;
    }
    sum = std::fma(static_cast<float>(products), column[b].scale * row[b].scale, sum);
    minimums =
        std::fma(static_cast<float>(minimum), column[b].minimum_scale * row[b].scale, minimums);
  }
  return k ? sum - minimums : sum;
}

}  // namespace

std::vector<float> WrittenOut(const Product& product, const Operands& operands) {
  if (product.type == GGML_TYPE_F16) {
    return WrittenOutHalves(product, operands);
  }
  const bool k = product.type == GGML_TYPE_Q4_K;
  const int64_t in_block = k ? 256 : 32;
  const int64_t blocks = product.inner / in_block;
  std::vector<std::vector<RoundedRow>> rows;
  for (int64_t row = 0; row < product.Inputs(); ++row) {
    rows.emplace_back();
    for (int64_t b = 0; b < blocks; ++b) {
      const float* from = &operands.input[row * product.inner + b * in_block];
      rows.back().push_back(k ? RoundQ8_K(from) : RoundQ8_0(from));
    }
  }
  std::vector<std::vector<Block>> columns;
  const size_t block_size = k ? 144 : 18;
  for (size_t at = 0; at < operands.weights.size();) {
    columns.emplace_back();
    for (int64_t b = 0; b < blocks; ++b, at += block_size) {
      columns.back().push_back(k ? ReadQ4_K(&operands.weights[at])
                                 : ReadQ4_0(&operands.weights[at]));
    }
  }
  std::vector<float> result;
  for (int64_t out = 0; out < product.Outputs(); ++out) {
    const int64_t in = product.experts == 0 || product.own_input ? out : out / product.used;
    const int64_t expert = product.experts == 0 ? 0 : operands.experts[out];
    for (int64_t column = 0; column < product.columns; ++column) {
      result.push_back(Sum(rows[in], columns[expert * product.columns + column], k));
    }
  }
  return result;
}

namespace {

std::vector<uint8_t> RandomHalves(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<uint8_t> bytes(2 * count);
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t half = ggml_fp32_to_fp16(normal(random));
    std::memcpy(&bytes[2 * i], &half, sizeof half);
  }
  return bytes;
}

// Any bytes, with scales of about 0.01.
std::vector<uint8_t> RandomBlocks(const Product& product, std::mt19937& random) {
  const bool k = product.type == GGML_TYPE_Q4_K;
  const size_t block_size = k ? 144 : 18;
  std::vector<uint8_t> bytes(product.Weights() / (k ? 256 : 32) * block_size);
  std::normal_distribution<float> normal;
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random());
  }
  for (size_t at = 0; at < bytes.size(); at += block_size) {
    for (size_t i = 0; i < (k ? 2U : 1U); ++i) {
      const uint16_t half = ggml_fp32_to_fp16(normal(random) * 0.01F);
      std::memcpy(&bytes[at + 2 * i], &half, sizeof half);
    }
  }
  return bytes;
}

}  // namespace

Operands RandomOperands(const Product& product, std::mt19937& random, float size, Experts experts) {
  Operands operands;
  operands.weights = product.type == GGML_TYPE_F16 ? RandomHalves(product.Weights(), random)
                                                   : RandomBlocks(product, random);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < product.Inputs() * product.inner; ++i) {
    operands.input.push_back(normal(random) * size);
  }
  for (int64_t row = 0; product.experts > 0 && row < product.rows; ++row) {
    std::vector<int32_t> all(experts == Experts::kFew
                                 ? std::min<int64_t>(product.experts, product.used + 1)
                                 : product.experts);
    for (size_t e = 0; e < all.size(); ++e) {
      all[e] = static_cast<int32_t>(e);
    }
    std::shuffle(all.begin(), all.end(), random);
    if (experts == Experts::kOne) {
      std::iter_swap(all.begin(), std::find(all.begin(), all.end(), product.experts - 1));
    }
    operands.experts.insert(operands.experts.end(), all.begin(), all.begin() + product.used);
  }
  return operands;
}

}  // namespace hyper::test

// FLASH_ATTN_EXT of ggml as one operation, computed by a CPU backend that this build compiled.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/native_products.h"

namespace hyper::test {

constexpr float kAttentionScale = 0.3F;

struct Attention {
  int64_t rows = 1;
  int64_t cells = 64;
  int64_t heads = 1;
  int64_t key_heads = 1;
  int64_t size = 32;        // of a head's keys
  int64_t value_size = 32;  // and of its values
  int64_t streams = 1;
  float soft_cap = 0;
  float alibi = 0;
  ggml_type type = GGML_TYPE_F16;
};

// In ggml's order of the operation's operands: [stream][head][row or cell][number].
struct AttentionOperands {
  std::vector<float> queries;
  std::vector<ggml_fp16_t> keys;
  std::vector<ggml_fp16_t> values;
  std::vector<ggml_fp16_t> mask;  // [stream][row][cell]
};

// A row sees one cell in `sparse`, and at least one; some visible cells have a bias.
AttentionOperands RandomAttention(const Attention& attention, int sparse, std::mt19937& random);

// [stream][row][head][number].
std::vector<float> Attend(const NativeBackend& backend, const Attention& attention,
                          const AttentionOperands& operands, int threads);

}  // namespace hyper::test

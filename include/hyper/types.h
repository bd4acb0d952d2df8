// Plain values shared by all parts.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
namespace hyper {

// Index of a vocabulary entry, as the model's tokenizer numbers them; negative means none.
using Token = int32_t;
inline constexpr Token kNoToken = -1;

// A token with its natural log-probability under the raw distribution (temperature 1, no filter).
struct TokenLogprob {
  Token token = kNoToken;
  float logprob = 0.0F;
};

// How a next token is drawn. Filters apply in the order temperature, top-k, top-p, min-p.
struct SamplerSpec {
  double temperature = 1.0;  // > 0; 0 means the most probable token
  int top_k = 0;             // keep the k most probable; 0 keeps all
  double top_p = 1.0;        // keep the smallest set with this probability mass, (0, 1]
  double min_p = 0.0;        // drop tokens below min_p x the largest probability, [0, 1)
};

}  // namespace hyper
#pragma GCC visibility pop

// One pass over a row of logits: everything the statistics need to know of it.
#pragma once

#include <span>
#include <vector>

#include "hyper/types.h"

namespace hyper {

// A row of next-token logits, summed up.
struct RowSummary {
  float max = 0;                  // largest logit
  double log_sum_exp = 0;         // log P(v) = logit(v) - log_sum_exp
  double mean_logprob = 0;        // mean of log P over the vocabulary, nats, <= 0
  std::vector<TokenLogprob> top;  // most probable first; equal ones by lower token id
  bool degenerate = false;        // NaN, +inf or nothing finite: no other field is meaningful
};

// Sums a row up into `summary`; its vector's memory is used again.
// Source: log P of App. A at temperature 1 before any filter; mean_logprob is Self-Certainty's, up
// to sign and constant. Masked tokens (-inf) enter the mean with kLogProbFloor, their probability
// being 0 to any precision; in `top` they stay -inf.
//   logits  [n_vocab], n_vocab >= 1
//   k       length of the top list, >= 0; at most n_vocab are given
// Absolute error below 1e-5 nats for n_vocab up to 2^20. The result depends on the row only, not on
// its address, nor on the vector width of the machine, as long as that has fused multiply-add.
// Pure but for `summary`; reads the row from memory once.
void SummarizeRow(std::span<const float> logits, int k, RowSummary& summary);

// exp((logit - max) / temperature) for each logit, into `weights`; the sum of them is returned.
//   max          finite, no logit is above it      inverse_temperature  > 0, finite
//   weights      at least [n_vocab], written; NaN and -inf give 0
// Pure but for `weights`; same guarantees as SummarizeRow.
double ExponentialWeights(std::span<const float> logits, float max, float inverse_temperature,
                          std::span<float> weights);

}  // namespace hyper

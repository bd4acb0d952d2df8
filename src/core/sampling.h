// Choice of the next token from a row of logits.
#pragma once

#include <span>
#include <vector>

#include "hyper/types.h"
#include "src/core/logits.h"

namespace hyper {

// A token that passed the filters so far.
struct SamplerCandidate {
  float logit = 0;
  float weight = 0;  // exp((logit - largest logit) / temperature)
  Token token = kNoToken;
};

// Memory that calls of SampleToken share; holds no state between them.
struct SamplerScratch {
  RowSummary summary;
  std::vector<float> weights;
  std::vector<SamplerCandidate> candidates;
};

// The next token. Filters in the order temperature, top-k, top-p, min-p:
//   temperature  weights w = exp(logit / temperature); 0 takes the largest logit
//   top-k        keeps the k largest (0: all)
//   top-p        keeps, from the largest down, the fewest that reach the share p of what top-k kept
//   min-p        drops what is below p times the largest
// Equal logits rank by lower token id, so of equals the later are cut first. Then the inverse
// distribution function in token order: the first kept token whose running sum of w, taken by
// ascending id, exceeds u times the sum of all kept.
//   logits  [n_vocab]      u  in (0, 1), from Uniform(.., kSample)
// Returns a token of positive probability; of a row with NaN or +inf the MostProbableToken.
// Pure but for `scratch`. One pass over the row with top-k on, two to three else.
Token SampleToken(std::span<const float> logits, const SamplerSpec& spec, double u,
                  SamplerScratch& scratch);

// Index of the largest logit, the lowest of equals; NaN counts as -inf; kNoToken when all are.
Token MostProbableToken(std::span<const float> logits);

}  // namespace hyper

// Choice of the next token from a row of logits.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "hyper/types.h"

namespace hyper {

// Memory that calls of SampleToken share; holds no state between them.
struct SamplerScratch {
  std::vector<float> weights;
  std::vector<std::pair<float, Token>> candidates;
};

// The next token. Filters in the order temperature, top-k, top-p, min-p:
//   temperature  weights w = exp(logit / temperature); 0 takes the largest logit
//   top-k        keeps the k largest (0: all)
//   top-p        keeps, from the largest down, the fewest that reach the share p of what top-k kept
//   min-p        drops what is below p times the largest
// Equal logits rank by lower token id, so of equals the later are cut first. Then the inverse
// distribution function in token order: the first kept token whose running sum of w, taken by
// ascending id, exceeds u times the sum of all kept.
//   logits  [n_vocab]; NaN counts as -inf      u  in (0, 1), from Uniform(.., kSample)
// Returns a token with logit above -inf (of +inf ones the first), or kNoToken when there is none.
// Pure but for `scratch`. O(n_vocab); with top-k off and top-p on, O(n_vocab + c log n_vocab) for
// c tokens kept.
Token SampleToken(std::span<const float> logits, const SamplerSpec& spec, double u,
                  SamplerScratch& scratch);

// Index of the largest logit, the lowest of equals; NaN counts as -inf; kNoToken when all are.
Token MostProbableToken(std::span<const float> logits);

}  // namespace hyper

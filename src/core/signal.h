// What may stand for the confidence of a generated token: the signals of --confidence.
//
// Every signal is at least 0 and larger where the model is surer of its token. Where a large value
// of the original quantity is a bad sign (entropy, surprise), the signal is exp(-value). So
// thresholds, lowest windows, vote weights and the controller's statistics mean the same under all
// of them: a path is pruned where its window falls below the threshold, and the worst window is the
// lowest one. Signals of the form exp(x) are averaged over tokens as exp(mean x), the geometric
// mean (see MeanKind): pruning by them is pruning by the window's mean log-probability, mean
// surprise or mean entropy.
#pragma once

#include <span>

#include "hyper/option_types.h"
#include "hyper/types.h"
#include "src/core/confidence.h"

namespace hyper {

// exp(log P(y)) of the chosen token y. Over a trace: the geometric mean of its probabilities, which
// is 1 / perplexity. Source: Zhou et al., "A Theoretical Study on Bridging Internal Probability and
// Self-Consistency for LLM Reasoning" (NeurIPS 2025), the path probability of its published code.
//   logprob  nats, taken no lower than kLogProbFloor and no higher than 0
// Returns a value in (0, 1]; NaN for NaN. Pure.
double ChosenProbability(double logprob);

// exp(-s) with the surprise s = -log P(y) - H: how much less probable the chosen token is than a
// token of this distribution is on average. Source: the deviation from the entropy in locally
// typical sampling (Meister et al. 2023), with its sign kept.
//   logprob  as above      entropy  H of the same token, nats, >= 0
// Returns a value above 0, 1 for an ordinary token; at most e^H; NaN where either is NaN. Pure.
double Typicality(double logprob, double entropy);

// exp(-H): 1 over the number of equally probable tokens that would be as uncertain.
//   entropy  nats, >= 0
// Returns a value in (0, 1]; NaN for NaN. Pure.
double InversePerplexity(double entropy);

// Minus the mean log-probability over the whole vocabulary: the top-k confidence with k = V.
// Source: Kang et al., "Scalable Best-of-N Selection for Large Language Models via Self-Certainty"
// (2025), without its constant -log V, which changes no order and would need the vocabulary's size.
//   mean_logprob  nats, <= 0
// Returns nats in [0, kMaxConfidence]; NaN for NaN. Pure.
double VocabularyConfidence(double mean_logprob);

// What is known of one generated token. NaN: the engine does not say.
struct TokenReading {
  std::span<const TokenLogprob> top;  // most probable first
  Token chosen = kNoToken;
  double logprob = 0;       // of `chosen`, raw distribution
  double entropy = 0;       // TopKEntropy
  double mean_logprob = 0;  // over the whole vocabulary
};

// The value of a signal for one token. kAlternatives and kTopK are TokenConfidence over `k`
// candidates. Returns NaN where what the signal reads is unknown. Pure.
double SignalOf(ConfidenceSignal signal, const TokenReading& token, int k);

// How the signal is averaged over tokens. Pure.
MeanKind MeanOf(ConfidenceSignal signal);

// The largest value that a signal can have: 1 for probabilities, else kMaxConfidence. Pure.
double LargestSignal(ConfidenceSignal signal);

}  // namespace hyper

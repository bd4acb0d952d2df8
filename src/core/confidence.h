// Confidence and entropy of single tokens (App. A), and of windows and whole traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "hyper/option_types.h"
#include "hyper/types.h"

namespace hyper {

// Log-probabilities enter a confidence no lower than this, in nats: a masked token (-inf) must not
// make a path infinitely sure. So every confidence lies in [0, kMaxConfidence].
inline constexpr double kLogProbFloor = -60.0;
inline constexpr double kMaxConfidence = -kLogProbFloor;

// Candidate counts of the paper: for HyPER's confidence and entropy, and for DeepConf's confidence.
inline constexpr int kHyperCandidates = 8;
inline constexpr int kDeepConfCandidates = 20;

// Confidence c of one generated token: minus the mean log-probability of k candidates.
// Source: App. A, eq. token-conf; the chosen token is always left out of kAlternatives (the paper
// also allows "the top-k if it is dominant").
//   top     most probable first, raw distribution; kAlternatives needs k + 1 entries
//   k       >= 1; a shorter list is averaged over what it has
// Returns nats in [0, kMaxConfidence], larger means surer; NaN where there is no candidate or a
// log-probability is NaN. Pure; O(k).
double TokenConfidence(std::span<const TokenLogprob> top, Token chosen, ConfidenceSet set, int k);

// A token with its probability.
struct TokenProbability {
  Token token = kNoToken;
  double probability = 0;
};

// The k most probable tokens with probabilities that sum to 1, by ascending token: P-tilde of
// App. A. Source: the sentence before eq. token-entropy-topk-app.
//   top  most probable first; fewer than k entries are taken as they are
// Returns nothing when no entry has a probability above 0, or one is NaN. Pure.
std::vector<TokenProbability> Renormalise(std::span<const TokenLogprob> top, int k);

// Entropy h of one token over its k most probable candidates, renormalised, the chosen one
// included. Source: App. A, eq. token-entropy-topk-app.
// Returns nats in [0, ln k], lower means surer; NaN where Renormalise gives nothing. Pure.
double TopKEntropy(std::span<const TokenLogprob> top, int k = kHyperCandidates);

// How the confidences of several tokens become one.
enum class MeanKind {
  kArithmetic,  // mean c
  kGeometric,   // exp(mean log c)
};

// Running confidence of one path: sliding window, lowest window and whole trace, O(1) per token.
//
// A confidence, or its logarithm under kGeometric, is rounded once, to a multiple of 2^-32 (an
// error below 1.2e-10), and kept as an integer; all sums are integer sums. They do not drift, so a
// window's mean depends on the window's values only, and a value recomputed from the stored series
// is equal, not just close.
// Copying it is what a fork does: the copy goes on with the parent's window, length and sum.
class ConfidenceWindow {
 public:
  // `window` >= 1 tokens; smaller values count as 1.
  explicit ConfidenceWindow(int window = 1, MeanKind kind = MeanKind::kArithmetic);

  // Adds the next token. NaN (no confidence known) is left out; other values are brought into
  // [0, kMaxConfidence], under kGeometric into [e^kLogProbFloor, kMaxConfidence]. Returns whether
  // the value was added as it was.
  bool Push(double confidence);

  // Whether `window` values were added.
  bool full() const { return recent_.size() == window_; }
  // Values added so far.
  int64_t count() const { return count_; }
  // Sum of all values added so far, of their logarithms under kGeometric.
  double sum() const;
  // Mean of the last `window` values, or of all where there are fewer; NaN where there are none.
  double WindowMean() const;
  // Smallest mean of any full window so far; the whole mean before the first; NaN where none.
  double LowestWindowMean() const;
  // Mean of all values; NaN where there are none.
  double TraceMean() const;

 private:
  double Mean(int64_t sum_units, int64_t count) const;

  size_t window_;
  MeanKind kind_;
  std::deque<int64_t> recent_;  // the window's values, in units of 2^-32
  int64_t window_sum_ = 0;
  int64_t lowest_window_sum_ = 0;
  int64_t total_ = 0;
  int64_t count_ = 0;
};

// The smallest mean of `window` consecutive confidences; the whole mean where there are fewer.
// Source: DeepConf's lowest group confidence. Equal to pushing all into a ConfidenceWindow.
// Returns NaN for no (known) confidence at all. Pure; O(n).
double LowestWindow(std::span<const double> confidences, int window,
                    MeanKind kind = MeanKind::kArithmetic);

// Mean of all confidences: c-hat of eq. hyper-marginalize-full. NaN where there are none. Pure.
double TraceConfidence(std::span<const double> confidences, MeanKind kind = MeanKind::kArithmetic);

// Mean of the last `window` confidences, or of all where there are fewer. Source: DeepConf, tail.
double TailConfidence(std::span<const double> confidences, int window,
                      MeanKind kind = MeanKind::kArithmetic);

// Arithmetic mean of the lowest floor(fraction x windows) window means, at least one; the whole
// mean where there are fewer values than `window`. Source: DeepConf, bottom 10 %. Pure; O(n log n).
//   fraction  in (0, 1]
double BottomWindowConfidence(std::span<const double> confidences, int window,
                              MeanKind kind = MeanKind::kArithmetic, double fraction = 0.1);

}  // namespace hyper

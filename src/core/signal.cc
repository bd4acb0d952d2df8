#include "src/core/signal.h"

#include <algorithm>
#include <cmath>

namespace hyper {
namespace {

// std::clamp keeps NaN.
double Floored(double logprob) { return std::clamp(logprob, kLogProbFloor, 0.0); }

}  // namespace

double ChosenProbability(double logprob) { return std::exp(Floored(logprob)); }

double Typicality(double logprob, double entropy) { return std::exp(Floored(logprob) + entropy); }

double InversePerplexity(double entropy) { return std::exp(-entropy); }

double VocabularyConfidence(double mean_logprob) { return -Floored(mean_logprob); }

double SignalOf(ConfidenceSignal signal, const TokenReading& token, int k) {
  switch (signal) {
    case ConfidenceSignal::kAlternatives:
      return TokenConfidence(token.top, token.chosen, ConfidenceSet::kAlternatives, k);
    case ConfidenceSignal::kTopK:
      return TokenConfidence(token.top, token.chosen, ConfidenceSet::kTopK, k);
    case ConfidenceSignal::kLogprob:
      return ChosenProbability(token.logprob);
    case ConfidenceSignal::kSurprise:
      return Typicality(token.logprob, token.entropy);
    case ConfidenceSignal::kEntropy:
      return InversePerplexity(token.entropy);
    case ConfidenceSignal::kSelfCertainty:
      return VocabularyConfidence(token.mean_logprob);
  }
  return token.logprob;
}

MeanKind MeanOf(ConfidenceSignal signal) {
  const bool exponential = signal == ConfidenceSignal::kLogprob ||
                           signal == ConfidenceSignal::kSurprise ||
                           signal == ConfidenceSignal::kEntropy;
  return exponential ? MeanKind::kGeometric : MeanKind::kArithmetic;
}

double LargestSignal(ConfidenceSignal signal) {
  const bool probability =
      signal == ConfidenceSignal::kLogprob || signal == ConfidenceSignal::kEntropy;
  return probability ? 1.0 : kMaxConfidence;
}

}  // namespace hyper

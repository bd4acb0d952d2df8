#include "src/core/signal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "src/core/threshold.h"
#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

std::vector<ConfidenceSignal> AllSignals() {
  std::vector<ConfidenceSignal> signals;
  for (size_t i = 0; i < kNamesOf<ConfidenceSignal>.size(); ++i) {
    signals.push_back(static_cast<ConfidenceSignal>(i));
  }
  return signals;
}

TEST(Signals, EqualTheOracle) {
  const auto goldens = CoreGoldens("signals");
  ASSERT_GE(goldens.size(), 7U);
  for (const auto& golden : goldens) {
    const std::vector<TokenLogprob> top = GoldenTop(golden["top"]);
    const TokenReading token{top, golden["chosen"], golden["logprob"], golden["entropy"],
                             golden["mean_logprob"]};
    for (const ConfidenceSignal signal : AllSignals()) {
      SCOPED_TRACE(NameOf(signal));
      const double expected = golden["signals"][NameOf(signal)];
      EXPECT_NEAR(SignalOf(signal, token, golden["k"]), expected, 1e-9 * expected);
      EXPECT_LE(expected, LargestSignal(signal));
    }
    // The entropy that tokens are read with is that of their top list, in binary32.
    EXPECT_NEAR(TopKEntropy(top, golden["k"]), golden["entropy"].get<double>(), 1e-6);
  }
}

// Two tokens to choose from, P = 0.9 and 0.1: H is known in closed form.
TEST(Signals, ASlipIsASurpriseAndAnOrdinaryTokenIsNone) {
  const double entropy = -0.9 * std::log(0.9) - 0.1 * std::log(0.1);
  const double likely = Typicality(std::log(0.9), entropy);
  const double slip = Typicality(std::log(0.1), entropy);
  EXPECT_NEAR(likely, 0.9 / (std::pow(0.9, 0.9) * std::pow(0.1, 0.1)), 1e-12);
  EXPECT_LT(slip, 0.2);
  EXPECT_GT(likely, 1);
  // By its own distribution the log of it is 0 on average.
  EXPECT_NEAR(0.9 * std::log(likely) + 0.1 * std::log(slip), 0, 1e-12);
  // A token that had to come is neither sure nor unsure, nor is one of equally likely ones.
  EXPECT_DOUBLE_EQ(Typicality(0, 0), 1.0);
  EXPECT_NEAR(Typicality(std::log(0.125), std::log(8.0)), 1.0, 1e-12);
}

TEST(Signals, AreLargerWhereTheModelIsSurer) {
  const std::vector<TokenLogprob> peaked = {{1, -0.02F}, {2, -5.0F}, {3, -6.0F}, {4, -7.0F}};
  const std::vector<TokenLogprob> flat = {{1, -1.2F}, {2, -1.3F}, {3, -1.5F}, {4, -1.6F}};
  const TokenReading sure{peaked, 1, -0.02, TopKEntropy(peaked), -9.0};
  const TokenReading unsure{flat, 4, -1.6, TopKEntropy(flat), -3.0};
  for (const ConfidenceSignal signal : AllSignals()) {
    EXPECT_GT(SignalOf(signal, sure, 3), SignalOf(signal, unsure, 3)) << NameOf(signal);
    EXPECT_GE(SignalOf(signal, unsure, 3), 0) << NameOf(signal);
  }
}

// Pruning by a signal of the form exp(x) is pruning by the mean of x over the window.
TEST(Signals, WindowsOfProbabilitiesAreMeansOfLogProbabilities) {
  const std::vector<double> logprobs = {-0.1, -2.5, -0.2, -0.05, -4.0, -0.3, -0.01};
  ConfidenceWindow window(3, MeanOf(ConfidenceSignal::kLogprob));
  for (size_t i = 0; i < logprobs.size(); ++i) {
    window.Push(ChosenProbability(logprobs[i]));
    if (i >= 2) {
      const double mean = (logprobs[i] + logprobs[i - 1] + logprobs[i - 2]) / 3;
      EXPECT_NEAR(std::log(window.WindowMean()), mean, 1e-9);
      EXPECT_EQ(ShouldPrune(window, std::exp(-1.4)), mean < -1.4) << i;
    }
  }
  EXPECT_EQ(MeanOf(ConfidenceSignal::kSurprise), MeanKind::kGeometric);
  EXPECT_EQ(MeanOf(ConfidenceSignal::kEntropy), MeanKind::kGeometric);
  EXPECT_EQ(MeanOf(ConfidenceSignal::kAlternatives), MeanKind::kArithmetic);
  EXPECT_EQ(MeanOf(ConfidenceSignal::kSelfCertainty), MeanKind::kArithmetic);
}

TEST(Signals, HaveTheFloorOfConfidences) {
  EXPECT_DOUBLE_EQ(ChosenProbability(-1e9), std::exp(-60.0));
  EXPECT_DOUBLE_EQ(ChosenProbability(-kInfinity), std::exp(-60.0));
  EXPECT_DOUBLE_EQ(ChosenProbability(1e-6), 1.0);  // rounding of a server's log-probability
  EXPECT_DOUBLE_EQ(Typicality(-kInfinity, 1), std::exp(-59.0));
  EXPECT_DOUBLE_EQ(VocabularyConfidence(-1e9), 60.0);
}

TEST(Signals, UnknownIsNotANumber) {
  const TokenReading nothing{{}, 1, kNan, kNan, kNan};
  for (const ConfidenceSignal signal : AllSignals()) {
    EXPECT_TRUE(std::isnan(SignalOf(signal, nothing, 8))) << NameOf(signal);
  }
  EXPECT_TRUE(std::isnan(Typicality(-1, kNan)));
  EXPECT_TRUE(std::isnan(Typicality(kNan, 1)));
}

}  // namespace
}  // namespace hyper

#include "src/core/confidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

void ExpectNear(double actual, double expected, double tolerance) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual));
  } else {
    EXPECT_NEAR(actual, expected, tolerance);
  }
}

TEST(Confidence, EqualsTheOracle) {
  const auto goldens = CoreGoldens("confidence");
  ASSERT_GE(goldens.size(), 10U);
  for (const auto& golden : goldens) {
    SCOPED_TRACE(golden.dump());
    const std::vector<TokenLogprob> top = GoldenTop(golden["top"]);
    const Token chosen = golden["chosen"];
    const int k = golden["k"];
    ExpectNear(TokenConfidence(top, chosen, ConfidenceSet::kAlternatives, k),
               GoldenNumber(golden["alternatives"]), 1e-12);
    ExpectNear(TokenConfidence(top, chosen, ConfidenceSet::kTopK, k), GoldenNumber(golden["topk"]),
               1e-12);
    ExpectNear(TopKEntropy(top, k), GoldenNumber(golden["entropy"]), 1e-12);
    const std::vector<TokenProbability> distribution = Renormalise(top, k);
    ASSERT_EQ(distribution.size(), golden["renormalised"].size());
    for (size_t i = 0; i < distribution.size(); ++i) {
      EXPECT_EQ(distribution[i].token, golden["renormalised"][i][0]);
      EXPECT_NEAR(distribution[i].probability, golden["renormalised"][i][1].get<double>(), 1e-12);
    }
  }
}

TEST(Confidence, SurerPathsHaveMoreConfidenceAndLessEntropy) {
  const std::vector<TokenLogprob> sure = {{1, -0.01F}, {2, -6.0F}, {3, -7.0F}};
  const std::vector<TokenLogprob> unsure = {{1, -1.0F}, {2, -1.1F}, {3, -1.3F}};
  EXPECT_GT(TokenConfidence(sure, 1, ConfidenceSet::kAlternatives, 2),
            TokenConfidence(unsure, 1, ConfidenceSet::kAlternatives, 2));
  EXPECT_LT(TopKEntropy(sure, 3), TopKEntropy(unsure, 3));
}

TEST(Confidence, AlternativesLeaveOutTheChosenTokenWhereverItStands) {
  const std::vector<TokenLogprob> top = {{7, -1.0F}, {8, -2.0F}, {9, -4.0F}};
  EXPECT_DOUBLE_EQ(TokenConfidence(top, 7, ConfidenceSet::kAlternatives, 2), 3.0);
  EXPECT_DOUBLE_EQ(TokenConfidence(top, 8, ConfidenceSet::kAlternatives, 2), 2.5);
  EXPECT_DOUBLE_EQ(TokenConfidence(top, 9, ConfidenceSet::kAlternatives, 2), 1.5);
  EXPECT_DOUBLE_EQ(TokenConfidence(top, 9, ConfidenceSet::kTopK, 2), 1.5);
  EXPECT_DOUBLE_EQ(TokenConfidence(top, 9, ConfidenceSet::kTopK, 3), 7.0 / 3);
}

TEST(Confidence, MaskedTokensCountWithTheFloor) {
  const std::vector<TokenLogprob> top = {
      {1, 0.0F}, {2, -50.0F}, {3, kMinusInfinity}, {4, std::numeric_limits<float>::lowest()}};
  EXPECT_DOUBLE_EQ(TokenConfidence(top, 1, ConfidenceSet::kAlternatives, 3), (50.0 + 60 + 60) / 3);
  EXPECT_DOUBLE_EQ(TopKEntropy(std::vector<TokenLogprob>{{1, 0.0F}, {3, kMinusInfinity}}), 0.0);
}

TEST(Confidence, UnknownIsNotANumber) {
  const std::vector<TokenLogprob> broken = {{1, -1.0F}, {2, std::nanf("")}};
  EXPECT_TRUE(std::isnan(TokenConfidence({}, 1, ConfidenceSet::kTopK, 8)));
  EXPECT_TRUE(std::isnan(TokenConfidence(broken, 1, ConfidenceSet::kAlternatives, 8)));
  EXPECT_TRUE(std::isnan(TopKEntropy({})));
  EXPECT_TRUE(Renormalise(broken, 8).empty());
  EXPECT_TRUE(Renormalise(std::vector<TokenLogprob>{{1, kMinusInfinity}}, 8).empty());
}

TEST(Entropy, IsLargestForEqualProbabilities) {
  const std::vector<TokenLogprob> equal = {{5, -3.0F}, {6, -3.0F}, {7, -3.0F}, {8, -3.0F}};
  EXPECT_NEAR(TopKEntropy(equal, 4), std::log(4.0), 1e-12);
  EXPECT_NEAR(TopKEntropy(equal, 3), std::log(3.0), 1e-12);
}

TEST(Windows, EqualTheOracle) {
  const auto goldens = CoreGoldens("windows");
  ASSERT_GE(goldens.size(), 7U);
  for (const auto& golden : goldens) {
    const std::vector<double> confidences = golden["confidences"];
    const int window = golden["window"];
    // A value is rounded to a multiple of 2^-32, so means agree within half of that.
    EXPECT_NEAR(LowestWindow(confidences, window), golden["lowest"].get<double>(), 0x1p-32);
    EXPECT_NEAR(TraceConfidence(confidences), golden["mean"].get<double>(), 0x1p-32);
    EXPECT_NEAR(TailConfidence(confidences, window), golden["tail"].get<double>(), 0x1p-32);
    EXPECT_NEAR(BottomWindowConfidence(confidences, window), golden["bottom"].get<double>(),
                0x1p-32);
    // Here the logarithm is rounded: a relative error.
    const auto& geometric = golden["geometric"];
    constexpr MeanKind kGeometric = MeanKind::kGeometric;
    const auto near = [](double actual, double expected) {
      EXPECT_NEAR(actual, expected, 0x1p-32 * expected);
    };
    near(LowestWindow(confidences, window, kGeometric), geometric["lowest"]);
    near(TraceConfidence(confidences, kGeometric), geometric["mean"]);
    near(TailConfidence(confidences, window, kGeometric), geometric["tail"]);
    near(BottomWindowConfidence(confidences, window, kGeometric), geometric["bottom"]);
  }
}

TEST(ConfidenceWindow, FollowsASlidingMean) {
  ConfidenceWindow window(3);
  EXPECT_TRUE(std::isnan(window.WindowMean()));
  EXPECT_TRUE(std::isnan(window.LowestWindowMean()));
  for (double confidence : {9.0, 3.0}) {
    EXPECT_TRUE(window.Push(confidence));
  }
  EXPECT_FALSE(window.full());
  EXPECT_DOUBLE_EQ(window.LowestWindowMean(), 6.0);
  window.Push(6.0);
  EXPECT_TRUE(window.full());
  EXPECT_DOUBLE_EQ(window.WindowMean(), 6.0);
  window.Push(0.0);
  EXPECT_DOUBLE_EQ(window.WindowMean(), 3.0);
  window.Push(12.0);
  EXPECT_DOUBLE_EQ(window.WindowMean(), 6.0);
  EXPECT_DOUBLE_EQ(window.LowestWindowMean(), 3.0);
  EXPECT_DOUBLE_EQ(window.TraceMean(), 6.0);
  EXPECT_DOUBLE_EQ(window.sum(), 30.0);
  EXPECT_EQ(window.count(), 5);
}

// The lowest mean of a full window may exceed the mean of an early, shorter one.
TEST(ConfidenceWindow, PartialWindowsDoNotLowerTheLowest) {
  EXPECT_DOUBLE_EQ(LowestWindow(std::vector<double>{0.0, 8.0, 8.0, 8.0}, 2), 4.0);
}

TEST(ConfidenceWindow, DoesNotDrift) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> any(0, 60);
  ConfidenceWindow window(7);
  std::vector<double> last;
  for (int i = 0; i < 200000; ++i) {
    const double confidence = i % 3 == 0 ? any(generator) * 1e-9 : any(generator);
    window.Push(confidence);
    if (i >= 200000 - 7) {
      last.push_back(confidence);
    }
  }
  EXPECT_EQ(window.WindowMean(), LowestWindow(last, 7));  // equal to the last bit
}

TEST(ConfidenceWindow, ACopyGoesOnByItself) {
  ConfidenceWindow parent(2);
  parent.Push(10.0);
  parent.Push(4.0);
  ConfidenceWindow child = parent;
  child.Push(0.0);
  EXPECT_DOUBLE_EQ(child.WindowMean(), 2.0);
  EXPECT_DOUBLE_EQ(child.LowestWindowMean(), 2.0);
  EXPECT_EQ(child.count(), 3);
  EXPECT_DOUBLE_EQ(parent.WindowMean(), 7.0);
  EXPECT_EQ(parent.count(), 2);
}

TEST(ConfidenceWindow, ClipsWhatCannotBeAConfidence) {
  ConfidenceWindow window(2);
  EXPECT_FALSE(window.Push(kNan));
  EXPECT_EQ(window.count(), 0);
  EXPECT_FALSE(window.Push(kInfinity));
  EXPECT_FALSE(window.Push(-5.0));
  EXPECT_DOUBLE_EQ(window.WindowMean(), 30.0);
}

// A probability of 0 counts with the floor of its logarithm and does not rule out the window.
TEST(ConfidenceWindow, GeometricMeansHaveAFloor) {
  ConfidenceWindow window(2, MeanKind::kGeometric);
  EXPECT_FALSE(window.Push(0.0));
  EXPECT_TRUE(window.Push(1.0));
  EXPECT_NEAR(std::log(window.WindowMean()), -30.0, 1e-9);
  EXPECT_TRUE(window.Push(0.25));
  EXPECT_NEAR(window.WindowMean(), 0.5, 1e-9);
  EXPECT_TRUE(window.Push(4.0));
  EXPECT_NEAR(window.WindowMean(), 1.0, 1e-9);
  EXPECT_NEAR(std::log(window.LowestWindowMean()), -30.0, 1e-9);
}

TEST(Windows, WithoutAnyConfidenceAreNotANumber) {
  EXPECT_TRUE(std::isnan(LowestWindow({}, 4)));
  EXPECT_TRUE(std::isnan(TraceConfidence({})));
  EXPECT_TRUE(std::isnan(TailConfidence(std::vector<double>{kNan}, 4)));
  EXPECT_TRUE(std::isnan(BottomWindowConfidence({}, 4)));
}

// A token without a confidence (an empty top list) is left out; the others make the window.
TEST(Windows, SkipTokensWithoutConfidence) {
  const std::vector<double> gap = {4.0, kNan, 2.0, 6.0};
  EXPECT_DOUBLE_EQ(LowestWindow(gap, 2), 3.0);
  EXPECT_DOUBLE_EQ(TraceConfidence(gap), 4.0);
  EXPECT_DOUBLE_EQ(BottomWindowConfidence(gap, 2), 3.0);
}

}  // namespace
}  // namespace hyper

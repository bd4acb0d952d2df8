#include "src/eval/metrics/metrics.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <numeric>

namespace hyper::eval {
namespace {

TEST(SpreadTest, RepeatsGiveTheSampleStandardDeviation) {
  // Five repeats of thirty questions, worked out by hand: mean 16/150, squared deviations 7/2250.
  const std::vector<double> accuracies = {2.0 / 30, 4.0 / 30, 3.0 / 30, 4.0 / 30, 3.0 / 30};
  EXPECT_NEAR(Mean(accuracies), 0.1067, 5e-5);
  EXPECT_NEAR(SampleStd(accuracies), 0.0279, 5e-5);  // 0.0249 would be the one divided by n
  EXPECT_TRUE(std::isnan(SampleStd(std::vector<double>{0.5})));
  EXPECT_TRUE(std::isnan(Mean({})));
}

// Shares of all subsets of size k, by enumeration.
template <class Win>
double Enumerated(int n, int k, Win win) {
  double won = 0;
  double all = 0;
  for (uint32_t subset = 0; subset < 1U << n; ++subset) {
    if (std::popcount(subset) != k) {
      continue;
    }
    all += 1;
    won += win(subset);
  }
  return won / all;
}

TEST(PassAtKTest, KnownValues) {
  EXPECT_DOUBLE_EQ(*PassAtK(4, 1, 1), 0.25);
  EXPECT_DOUBLE_EQ(*PassAtK(4, 1, 2), 0.5);
  EXPECT_DOUBLE_EQ(*PassAtK(4, 1, 4), 1.0);
  EXPECT_DOUBLE_EQ(*PassAtK(200, 0, 100), 0.0);
  EXPECT_DOUBLE_EQ(*PassAtK(5, 5, 1), 1.0);
}

TEST(PassAtKTest, MoreSamplesThanThereAreIsRefused) {
  for (const auto& [n, c, k] : {std::tuple{4, 1, 5}, {0, 0, 1}, {4, 5, 1}, {4, -1, 1}, {4, 1, 0}}) {
    const Result<double> result = PassAtK(n, c, k);
    ASSERT_FALSE(result.has_value()) << n << " " << c << " " << k;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(PassAtKTest, EqualsEnumeration) {
  for (int n = 1; n <= 8; ++n) {
    for (int c = 0; c <= n; ++c) {
      for (int k = 1; k <= n; ++k) {
        const uint32_t right = (1U << c) - 1;
        const double expected =
            Enumerated(n, k, [&](uint32_t subset) { return (subset & right) != 0 ? 1.0 : 0.0; });
        EXPECT_NEAR(*PassAtK(n, c, k), expected, 1e-12) << n << " " << c << " " << k;
      }
    }
  }
}

// Answers by sample: 0 the right one, -1 none; the credit of a drawn subset.
double MajorityCredit(const std::vector<int>& answers, uint32_t subset) {
  std::map<int, int> votes;
  for (size_t i = 0; i < answers.size(); ++i) {
    if ((subset >> i & 1) != 0 && answers[i] >= 0) {
      ++votes[answers[i]];
    }
  }
  int most = 0;
  for (const auto& [answer, count] : votes) {
    most = std::max(most, count);
  }
  if (votes[0] == 0 || votes[0] < most) {
    return 0;
  }
  int tied = 0;
  for (const auto& [answer, count] : votes) {
    tied += count == most ? 1 : 0;
  }
  return 1.0 / tied;
}

TEST(MajorityAtKTest, EqualsEnumeration) {
  const std::vector<std::pair<std::vector<int>, std::pair<int, int>>> cases = {
      // others, {right, silent}
      {{}, {3, 0}},  {{}, {2, 3}},     {{2}, {2, 0}},       {{3, 1}, {2, 1}}, {{1, 1, 1}, {1, 0}},
      {{4}, {1, 2}}, {{2, 2}, {3, 1}}, {{5, 2, 1}, {3, 1}}, {{0, 2}, {2, 2}}, {{3}, {0, 2}}};
  for (const auto& [others, counts] : cases) {
    std::vector<int> answers(static_cast<size_t>(counts.first), 0);
    answers.insert(answers.end(), static_cast<size_t>(counts.second), -1);
    for (size_t i = 0; i < others.size(); ++i) {
      answers.insert(answers.end(), static_cast<size_t>(others[i]), static_cast<int>(i) + 1);
    }
    const int n = static_cast<int>(answers.size());
    for (int k = 1; k <= n; ++k) {
      const double expected =
          Enumerated(n, k, [&](uint32_t subset) { return MajorityCredit(answers, subset); });
      EXPECT_NEAR(*MajorityAtK(counts.first, others, counts.second, k), expected, 1e-12)
          << "right " << counts.first << " silent " << counts.second << " k " << k;
    }
  }
}

TEST(MajorityAtKTest, LargePoolsStayFinite) {
  const std::vector<int> others = {500, 300};
  const double value = *MajorityAtK(1200, others, 48, 40);
  EXPECT_GT(value, 0.99);
  EXPECT_LE(value, 1.0);
}

TEST(MajorityAtKTest, MoreSamplesThanThereAreIsRefused) {
  EXPECT_FALSE(MajorityAtK(2, std::vector<int>{1}, 0, 4).has_value());
  EXPECT_FALSE(MajorityAtK(2, std::vector<int>{1}, 0, 0).has_value());
  EXPECT_FALSE(MajorityAtK(2, std::vector<int>{-1}, 3, 1).has_value());
}

// Against values of the closed formula that were worked out elsewhere.
TEST(WilsonIntervalTest, EqualsTheClosedFormula) {
  const Interval quarter = WilsonInterval(0.25, 400);
  EXPECT_NEAR(quarter.low, 0.2100790, 1e-6);
  EXPECT_NEAR(quarter.high, 0.2946771, 1e-6);
  const Interval most = WilsonInterval(0.9, 10);
  EXPECT_NEAR(most.low, 0.5958500, 1e-6);
  EXPECT_NEAR(most.high, 0.9821238, 1e-6);
}

TEST(WilsonIntervalTest, AFewEqualAnswersAreFarFromSure) {
  const Interval both = WilsonInterval(1, 2);
  EXPECT_NEAR(both.low, 0.3423802, 1e-6);
  EXPECT_EQ(both.high, 1.0);
  const Interval none = WilsonInterval(0, 1);
  EXPECT_EQ(none.low, 0.0);
  EXPECT_NEAR(none.high, 0.7934507, 1e-6);
}

TEST(McNemarTest, EqualsTheBinomialTail) {
  EXPECT_DOUBLE_EQ(McNemarExact(0, 0), 1.0);
  EXPECT_DOUBLE_EQ(McNemarExact(5, 5), 1.0);
  EXPECT_NEAR(McNemarExact(0, 5), 2.0 / 32, 1e-12);
  EXPECT_NEAR(McNemarExact(2, 8), 2.0 * (1 + 10 + 45) / 1024, 1e-12);
  EXPECT_NEAR(McNemarExact(8, 2), McNemarExact(2, 8), 1e-15);
  // Large counts neither overflow nor vanish; the normal approximation gives 3.7e-6.
  EXPECT_NEAR(McNemarExact(1950, 2250), 3.7e-6, 0.3e-6);
}

TEST(PairedBootstrapTest, ADifferenceOnEveryQuestionIsCertain) {
  const std::vector<double> a = {1, 1, 1, 1};
  const std::vector<double> b = {0, 0, 0, 0};
  const Result<PairedDifference> result = PairedBootstrap(a, b, 0.95, 200, 1);
  EXPECT_EQ(result->mean, 1.0);
  EXPECT_EQ(result->p_value, 0.0);
  const Result<PairedDifference> swapped = PairedBootstrap(b, a, 0.95, 200, 1);
  EXPECT_EQ(swapped->mean, -1.0);
  EXPECT_EQ(swapped->interval.low, -1.0);
}

TEST(PairedBootstrapTest, EqualMethodsAreNotDifferent) {
  const std::vector<double> a = {1, 0, 1, 0, 1};
  EXPECT_EQ(PairedBootstrap(a, a, 0.95, 200, 1)->p_value, 1.0);
  EXPECT_EQ(PairedBootstrap(a, a, 0.95, 200, 1)->mean, 0.0);
}

TEST(PairedBootstrapTest, PairsMatter) {
  // 10 of 100 questions are won and none lost: paired it is plain, although the means differ
  // little.
  std::vector<double> a(100, 0);
  std::fill(a.begin(), a.begin() + 60, 1.0);
  std::vector<double> b = a;
  std::fill(b.begin(), b.begin() + 10, 0.0);
  EXPECT_LT(PairedBootstrap(a, b, 0.95, 2000, 1)->p_value, 0.01);
  EXPECT_FALSE(PairedBootstrap(a, std::vector<double>(99, 0), 0.95, 10, 1).has_value());
  EXPECT_FALSE(PairedBootstrap({}, {}, 0.95, 10, 1).has_value());
}

// 24 questions, three repeats: two won by a third, four lost by a third. A resample with w won and
// l lost ones has the sum (w - l) / 3; the share beyond zero is a sum of multinomial terms.
TEST(PairedBootstrapTest, TiesOfThirdsCountOnBothSides) {
  std::vector<double> a(24, 1.0 / 3);
  std::vector<double> b(24, 1.0 / 3);
  for (size_t i = 0; i < 2; ++i) {
    a[i] = 2.0 / 3;
  }
  for (size_t i = 2; i < 4; ++i) {
    b[i] = 2.0 / 3;
  }
  for (size_t i = 4; i < 6; ++i) {
    a[i] = 2.0 / 3, b[i] = 1;
  }
  const double won = 2.0 / 24;
  const double lost = 4.0 / 24;
  double above = 0;
  for (int w = 0; w <= 24; ++w) {
    for (int l = 0; l <= w && w + l <= 24; ++l) {
      const double ways = std::lgamma(25.0) - std::lgamma(w + 1.0) - std::lgamma(l + 1.0) -
                          std::lgamma(25.0 - w - l);
      above += std::exp(ways + w * std::log(won) + l * std::log(lost) +
                        (24 - w - l) * std::log(1 - won - lost));
    }
  }
  ASSERT_NEAR(2 * above, 0.532, 5e-4);
  EXPECT_NEAR(PairedBootstrap(a, b, 0.95, 20'000, 1)->p_value, 2 * above, 0.015);
  EXPECT_NEAR(PairedBootstrap(b, a, 0.95, 20'000, 1)->p_value, 2 * above, 0.015);
}

constexpr Outcome R = Outcome::kRight;
constexpr Outcome W = Outcome::kWrong;
constexpr Outcome U = Outcome::kUndecided;
constexpr Outcome F = Outcome::kFailed;

TEST(SummariseTest, AccuracyIsRightOverAll) {
  const std::vector<std::vector<Outcome>> outcomes = {{R, R}, {R, W}, {W, W}, {R, R}};
  const Result<Accuracy> accuracy = Summarise(outcomes);
  ASSERT_TRUE(accuracy.has_value());
  EXPECT_EQ(accuracy->questions, 4);
  EXPECT_EQ(accuracy->repeats, 2);
  EXPECT_EQ(accuracy->per_repeat, (std::vector<double>{0.75, 0.5}));
  EXPECT_DOUBLE_EQ(accuracy->mean, 0.625);
  EXPECT_NEAR(accuracy->std_dev, 0.125 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(accuracy->low, accuracy->high);
  EXPECT_TRUE(accuracy->comparable);
  EXPECT_LE(accuracy->interval.low, accuracy->mean);
  EXPECT_GE(accuracy->interval.high, accuracy->mean);
}

TEST(SummariseTest, UndecidedAndFailedItemsAreARangeNotAVerdict) {
  std::vector<std::vector<Outcome>> outcomes(100, std::vector<Outcome>{R});
  outcomes[0] = {U};
  outcomes[1] = {F};
  Result<Accuracy> accuracy = Summarise(outcomes);
  EXPECT_DOUBLE_EQ(accuracy->low, 0.98);
  EXPECT_DOUBLE_EQ(accuracy->high, 1.0);
  EXPECT_TRUE(accuracy->comparable);
  EXPECT_DOUBLE_EQ(accuracy->interval.low, WilsonInterval(0.98, 100).low);
  EXPECT_DOUBLE_EQ(accuracy->interval.high, WilsonInterval(1, 100).high);
  outcomes[2] = {U};
  accuracy = Summarise(outcomes);
  EXPECT_DOUBLE_EQ(accuracy->low, 0.97);
  EXPECT_FALSE(accuracy->comparable);
}

TEST(SummariseTest, UnevenRepeatsAndNothingAreRefused) {
  EXPECT_FALSE(Summarise({}).has_value());
  const std::vector<std::vector<Outcome>> uneven = {{R, R}, {R}};
  EXPECT_FALSE(Summarise(uneven).has_value());
  const std::vector<std::vector<Outcome>> none = {{}, {}};
  EXPECT_FALSE(Summarise(none).has_value());
}

}  // namespace
}  // namespace hyper::eval

#include "src/core/logits.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "src/core/confidence.h"
#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

RowSummary Summarize(std::span<const float> logits, int k) {
  RowSummary summary;
  SummarizeRow(logits, k, summary);
  return summary;
}

std::vector<float> RandomRow(size_t count, unsigned seed, float scale = 4.0F) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> row(count);
  for (float& value : row) {
    value = normal(generator);
  }
  return row;
}

TEST(SummarizeRow, EqualsTheOracle) {
  const auto goldens = CoreGoldens("rows");
  ASSERT_GE(goldens.size(), 7U);
  for (const auto& golden : goldens) {
    const std::vector<float> logits = GoldenFloats(golden["logits"]);
    SCOPED_TRACE(logits.size());
    const RowSummary summary = Summarize(logits, golden["k"]);
    ASSERT_FALSE(summary.degenerate);
    EXPECT_EQ(summary.max, *std::max_element(logits.begin(), logits.end()));
    EXPECT_NEAR(summary.log_sum_exp, golden["log_sum_exp"].get<double>(), 2e-6);
    EXPECT_NEAR(summary.mean_logprob, golden["mean_logprob"].get<double>(),
                1e-5 * std::max(1.0, std::abs(golden["mean_logprob"].get<double>())));
    ASSERT_EQ(summary.top.size(), golden["top"].size());
    for (size_t i = 0; i < summary.top.size(); ++i) {
      EXPECT_EQ(summary.top[i].token, golden["top"][i][0]);
      const double expected = GoldenNumber(golden["top"][i][1]);
      if (std::isfinite(expected)) {
        EXPECT_NEAR(summary.top[i].logprob, expected, 1e-5 * std::max(1.0, std::abs(expected)));
      } else {
        EXPECT_EQ(summary.top[i].logprob, -kFloatInfinity);
      }
    }
  }
}

// In double, without blocks or lanes.
TEST(SummarizeRow, EqualsTheNaiveSumForAnyLength) {
  for (size_t count : {1U, 2U, 15U, 16U, 17U, 31U, 1023U, 1024U, 1025U, 2048U, 5000U, 151936U}) {
    SCOPED_TRACE(count);
    const std::vector<float> row = RandomRow(count, static_cast<unsigned>(count));
    double sum = 0;
    double logit_sum = 0;
    for (float value : row) {
      sum += std::exp(static_cast<double>(value));
      logit_sum += value;
    }
    std::vector<Token> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) {
      return row[static_cast<size_t>(a)] > row[static_cast<size_t>(b)];
    });
    const RowSummary summary = Summarize(row, 20);
    EXPECT_NEAR(summary.log_sum_exp, std::log(sum), 2e-6);
    EXPECT_NEAR(summary.mean_logprob, logit_sum / static_cast<double>(count) - std::log(sum), 1e-5);
    ASSERT_EQ(summary.top.size(), std::min<size_t>(count, 20));
    for (size_t i = 0; i < summary.top.size(); ++i) {
      EXPECT_EQ(summary.top[i].token, order[i]);
    }
  }
}

TEST(SummarizeRow, TiesGoToTheLowerToken) {
  std::vector<float> row(3000, 1.0F);
  row[2999] = 2.0F;
  const RowSummary summary = Summarize(row, 4);
  EXPECT_EQ(summary.top[0].token, 2999);
  EXPECT_EQ(summary.top[1].token, 0);
  EXPECT_EQ(summary.top[2].token, 1);
  EXPECT_EQ(summary.top[3].token, 2);
}

// The worst orders for a running list: every value, or none, beats the ones before.
TEST(SummarizeRow, FindsTheTopInSortedRows) {
  std::vector<float> rising(2500);
  std::iota(rising.begin(), rising.end(), 0.0F);
  EXPECT_EQ(Summarize(rising, 3).top[2].token, 2497);
  std::reverse(rising.begin(), rising.end());
  EXPECT_EQ(Summarize(rising, 3).top[2].token, 2);
}

// The maximum comes late, so what was summed before is scaled down, to nothing if need be.
TEST(SummarizeRow, RescalesWhenALargerLogitComes) {
  std::vector<float> row(4096, 0.0F);
  row[4000] = 5.0F;
  EXPECT_NEAR(Summarize(row, 1).log_sum_exp, std::log(4095 + std::exp(5.0)), 2e-6);
  row[4000] = 500.0F;
  EXPECT_NEAR(Summarize(row, 1).log_sum_exp, 500.0, 1e-9);
}

TEST(SummarizeRow, ShiftedRowsAreTheSameDistribution) {
  std::vector<float> row = RandomRow(2000, 5, 1.0F);
  for (float& value : row) {
    value = std::round(value * 64) / 64;  // exact after the shift
  }
  const RowSummary here = Summarize(row, 3);
  for (float& value : row) {
    value += 4096;
  }
  const RowSummary there = Summarize(row, 3);
  EXPECT_NEAR(there.log_sum_exp - 4096, here.log_sum_exp, 1e-6);
  EXPECT_NEAR(there.mean_logprob, here.mean_logprob, 1e-6);
}

TEST(SummarizeRow, NanAndInfinityAreDegenerate) {
  for (size_t count : {3U, 1500U}) {
    for (float broken : {kFloatNan, kFloatInfinity}) {
      for (size_t place : {size_t{0}, count - 1}) {
        std::vector<float> row = RandomRow(count, 9);
        row[place] = broken;
        const RowSummary summary = Summarize(row, 5);
        EXPECT_TRUE(summary.degenerate) << count << ' ' << broken << ' ' << place;
        EXPECT_TRUE(summary.top.empty());
      }
    }
  }
  EXPECT_TRUE(Summarize(std::vector<float>(100, -kFloatInfinity), 5).degenerate);
  EXPECT_TRUE(Summarize(std::vector<float>(100, -3e38F), 5).degenerate);
}

TEST(SummarizeRow, MaskedTokensHaveNoProbabilityAndCountWithTheFloor) {
  std::vector<float> row(2000, -kFloatInfinity);
  row[1234] = 3.0F;
  row[1500] = 3.0F;
  const RowSummary summary = Summarize(row, 3);
  ASSERT_FALSE(summary.degenerate);
  EXPECT_NEAR(summary.log_sum_exp, 3 + std::log(2.0), 1e-6);
  EXPECT_NEAR(summary.mean_logprob, (1998 * kLogProbFloor - 2 * std::log(2.0)) / 2000, 1e-6);
  EXPECT_EQ(summary.top[0].token, 1234);
  EXPECT_EQ(summary.top[1].token, 1500);
  EXPECT_EQ(summary.top[2].logprob, -kFloatInfinity);
  EXPECT_EQ(summary.top[2].token, 0);
}

TEST(SummarizeRow, ASummaryCanBeUsedAgain) {
  RowSummary summary;
  SummarizeRow(std::vector<float>(8, kFloatNan), 4, summary);
  SummarizeRow(std::vector<float>{2.0F, 1.0F, 0.0F}, 2, summary);
  EXPECT_FALSE(summary.degenerate);
  ASSERT_EQ(summary.top.size(), 2U);
  EXPECT_NEAR(summary.top[0].logprob, -0.4076, 1e-4);
  EXPECT_NEAR(summary.top[1].logprob, -1.4076, 1e-4);
}

TEST(SummarizeRow, KBeyondTheVocabularyOrNone) {
  EXPECT_EQ(Summarize(std::vector<float>{1.0F, 2.0F}, 9).top.size(), 2U);
  EXPECT_TRUE(Summarize(std::vector<float>{1.0F, 2.0F}, 0).top.empty());
}

TEST(SummarizeRow, DoesNotDependOnTheAddressOfTheRow) {
  const std::vector<float> row = RandomRow(3001, 2);
  const RowSummary reference = Summarize(row, 8);
  std::vector<float> shifted(row.size() + 16);
  for (size_t offset = 1; offset < 16; ++offset) {
    std::copy(row.begin(), row.end(), shifted.begin() + static_cast<std::ptrdiff_t>(offset));
    const RowSummary summary = Summarize(std::span(shifted).subspan(offset, row.size()), 8);
    EXPECT_EQ(summary.log_sum_exp, reference.log_sum_exp);
    EXPECT_EQ(summary.mean_logprob, reference.mean_logprob);
    // Equal bytes are the claim, of NaN and -0 too:
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    EXPECT_EQ(std::memcmp(summary.top.data(), reference.top.data(), 8 * sizeof(TokenLogprob)), 0);
  }
}

TEST(ExponentialWeights, EqualTheDefinition) {
  const std::vector<float> row = RandomRow(1111, 4);
  const float max = *std::max_element(row.begin(), row.end());
  std::vector<float> weights(row.size());
  const double total = ExponentialWeights(row, max, 1 / 0.6F, weights);
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double expected = std::exp((static_cast<double>(row[i]) - max) * (1 / 0.6F));
    // The exponent is a binary32 product: its rounding counts in units of its size.
    EXPECT_NEAR(weights[i], expected, 1e-5 * expected + 1e-37);
    sum += expected;
  }
  EXPECT_NEAR(total, sum, 1e-5 * sum);
}

TEST(ExponentialWeights, MaskedAndBrokenLogitsWeighNothing) {
  const std::vector<float> row = {0.0F, -kFloatInfinity, kFloatNan, -1.0F};
  std::vector<float> weights(4, -1.0F);
  EXPECT_NEAR(ExponentialWeights(row, 0.0F, 1.0F, weights), 1 + std::exp(-1.0), 1e-6);
  EXPECT_EQ(weights[1], 0.0F);
  EXPECT_EQ(weights[2], 0.0F);
}

// Every instruction set this machine has gives the same result; the same bytes where it has fused
// multiply-add.
TEST(SummarizeRow, EqualOnEveryInstructionSet) {
  const std::vector<float> row = RandomRow(5003, 8);
  const RowSummary reference = Summarize(row, 20);
  constexpr int64_t kFused = HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL | HWY_NEON;
  const bool reference_is_fused = (hwy::SupportedTargets() & kFused) != 0;
  int compared = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    const RowSummary summary = Summarize(row, 20);
    SCOPED_TRACE(hwy::TargetName(target));
    if (reference_is_fused && (target & kFused) != 0) {
      EXPECT_EQ(summary.log_sum_exp, reference.log_sum_exp);
      EXPECT_EQ(summary.mean_logprob, reference.mean_logprob);
    }
    EXPECT_NEAR(summary.log_sum_exp, reference.log_sum_exp, 2e-6);
    EXPECT_NEAR(summary.mean_logprob, reference.mean_logprob, 1e-5);
    for (size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(summary.top[i].token, reference.top[i].token);
    }
    ++compared;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(compared, 1);
}

}  // namespace
}  // namespace hyper

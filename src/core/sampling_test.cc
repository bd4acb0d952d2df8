#include "src/core/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "src/core/random.h"
#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

Token Sample(const std::vector<float>& logits, const SamplerSpec& spec, double u) {
  SamplerScratch scratch;
  return SampleToken(logits, spec, u, scratch);
}

SamplerSpec SamplerSpecOf(const nlohmann::json& golden) {
  return {golden["temperature"], golden["top_k"], golden["top_p"], golden["min_p"]};
}

TEST(SampleToken, EqualsTheOracle) {
  const auto goldens = CoreGoldens("sampling");
  ASSERT_GE(goldens.size(), 30U);
  SamplerScratch scratch;
  for (const auto& golden : goldens) {
    const std::vector<float> logits = GoldenFloats(golden["logits"]);
    const SamplerSpec spec = SamplerSpecOf(golden);
    SCOPED_TRACE(golden["tokens"].dump() + " kept " + golden["kept"].dump());
    for (size_t i = 0; i < golden["u"].size(); ++i) {
      EXPECT_EQ(SampleToken(logits, spec, golden["u"][i], scratch), golden["tokens"][i]);
    }
  }
}

// With u on a fine grid, what is drawn is what the filters keep, no more and no less.
TEST(SampleToken, DrawsExactlyTheKeptTokens) {
  SamplerScratch scratch;
  for (const auto& golden : CoreGoldens("sampling")) {
    const std::vector<float> logits = GoldenFloats(golden["logits"]);
    if (golden["kept"].size() > 8) {
      continue;
    }
    std::set<Token> drawn;
    for (int i = 0; i < 4000; ++i) {
      drawn.insert(SampleToken(logits, SamplerSpecOf(golden), (i + 0.5) / 4000, scratch));
    }
    EXPECT_EQ(drawn, golden["kept"].get<std::set<Token>>());
  }
}

TEST(SampleToken, FrequenciesAreTheProbabilities) {
  const std::vector<float> logits = {std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  std::vector<int> counts(3);
  SamplerScratch scratch;
  constexpr int kDraws = 50000;
  for (uint32_t i = 0; i < kDraws; ++i) {
    const double u = Uniform(77, i, Purpose::kSample);
    ++counts[static_cast<size_t>(SampleToken(logits, SamplerSpec(), u, scratch))];
  }
  EXPECT_NEAR(counts[0], 0.5 * kDraws, 450);  // four standard deviations; the draws are fixed
  EXPECT_NEAR(counts[1], 0.3 * kDraws, 410);
  EXPECT_NEAR(counts[2], 0.2 * kDraws, 360);
}

// The inverse distribution function runs over token ids, not over ranks.
TEST(SampleToken, RunsInTokenOrder) {
  const std::vector<float> logits = {std::log(0.2F), std::log(0.5F), std::log(0.3F)};
  for (const SamplerSpec& spec : {SamplerSpec(), SamplerSpec{1.0, 3, 1.0, 0.0}}) {
    EXPECT_EQ(Sample(logits, spec, 0.19), 0);
    EXPECT_EQ(Sample(logits, spec, 0.21), 1);
    EXPECT_EQ(Sample(logits, spec, 0.69), 1);
    EXPECT_EQ(Sample(logits, spec, 0.71), 2);
  }
}

TEST(SampleToken, TemperatureZeroTakesTheLargestAndTheLowestOfEquals) {
  const SamplerSpec greedy{0.0, 0, 1.0, 0.0};
  EXPECT_EQ(Sample({1.0F, 5.0F, 5.0F, 2.0F}, greedy, 0.9), 1);
  EXPECT_EQ(Sample({kFloatNan, -kFloatInfinity, -7.0F}, greedy, 0.9), 2);
}

TEST(SampleToken, TinyTemperaturesAreGreedy) {
  const std::vector<float> logits = {1.0F, 1.5F, 1.25F};
  for (double temperature : {1e-4, 1e-30, 1e-300, std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(Sample(logits, {temperature, 0, 1.0, 0.0}, 0.999), 1);
    EXPECT_EQ(Sample(logits, {temperature, 2, 0.9, 0.0}, 0.999), 1);
  }
}

TEST(SampleToken, HighTemperaturesFlatten) {
  const std::vector<float> logits = {0.0F, 10.0F};
  EXPECT_EQ(Sample(logits, {1.0, 0, 1.0, 0.0}, 0.4), 1);
  EXPECT_EQ(Sample(logits, {1000.0, 0, 1.0, 0.0}, 0.4), 0);
}

TEST(SampleToken, TopKCutsTheLaterOfEquals) {
  const std::vector<float> logits = {1.0F, 2.0F, 2.0F, 2.0F};
  for (double u : {0.01, 0.49, 0.51, 0.99}) {
    const Token token = Sample(logits, {1.0, 2, 1.0, 0.0}, u);
    EXPECT_EQ(token, u < 0.5 ? 1 : 2);
  }
}

// min-p looks at what top-p left, and top-p at what top-k left: with top-k first, 0.7 of the
// remaining mass is one token; with top-p first it would be two.
TEST(SampleToken, FiltersComeInOrder) {
  const std::vector<float> logits = {std::log(0.45F), std::log(0.19F), std::log(0.18F),
                                     std::log(0.18F)};
  EXPECT_EQ(Sample(logits, {1.0, 2, 0.7, 0.0}, 0.99), 0);
  EXPECT_EQ(Sample(logits, {1.0, 0, 0.7, 0.0}, 0.99), 2);
}

// A mask stays a mask: whatever u is, no token without probability is drawn.
TEST(SampleToken, NeverDrawsWhatIsMasked) {
  std::vector<float> logits(2100, -kFloatInfinity);
  logits[7] = 0.0F;
  logits[2000] = 1.0F;
  for (double u : {1e-16, 0.2, 0.5, 0.9, 1 - 1e-16}) {
    for (const SamplerSpec& spec :
         {SamplerSpec(), SamplerSpec{0.7, 20, 0.95, 0.05}, SamplerSpec{1.0, 0, 0.9, 0.0}}) {
      const Token token = Sample(logits, spec, u);
      EXPECT_TRUE(token == 7 || token == 2000) << token;
    }
  }
}

// Long lists and whole rows take other ways to the same rule: filters by sorting everything.
TEST(SampleToken, EqualsSortingTheWholeVocabulary) {
  std::mt19937 generator(6);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(1500);
  for (float& value : logits) {
    value = std::round(normal(generator) * 8) / 8;  // many ties
  }
  std::vector<Token> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  const auto weight = [&](Token token, double temperature) {
    const double distance =
        logits[static_cast<size_t>(token)] - logits[static_cast<size_t>(order[0])];
    return std::exp(distance / temperature);
  };
  SamplerScratch scratch;
  for (const SamplerSpec& spec : {SamplerSpec{1.0, 0, 0.9, 0.0}, SamplerSpec{2.5, 0, 0.999, 0.0},
                                  SamplerSpec{1.0, 300, 1.0, 0.0}, SamplerSpec{3.0, 900, 0.97, 0.0},
                                  SamplerSpec{2.0, 9000, 1.0, 0.001},
                                  SamplerSpec{1.5, 0, 1.0, 0.02}, SamplerSpec{1.0, 0, 1e-9, 0.0}}) {
    const size_t k = spec.top_k > 0 ? static_cast<size_t>(spec.top_k) : logits.size();
    std::vector<Token> kept(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(k, logits.size())));
    double total = 0;
    for (Token token : kept) {
      total += weight(token, spec.temperature);
    }
    double sum = 0;
    size_t count = 0;
    while (count < kept.size() && (count == 0 || sum < spec.top_p * total)) {
      sum += weight(kept[count++], spec.temperature);
    }
    if (spec.top_p < 1) {
      kept.resize(count);
    }
    std::erase_if(kept, [&](Token token) { return weight(token, spec.temperature) < spec.min_p; });
    std::sort(kept.begin(), kept.end());
    double kept_total = 0;
    for (Token token : kept) {
      kept_total += weight(token, spec.temperature);
    }
    // In the middle of a kept token's interval the draw is that token (a quarter is tried).
    double before = 0;
    for (Token token : kept) {
      const double share = weight(token, spec.temperature) / kept_total;
      if (share > 1e-5 && token % 4 == 0) {
        EXPECT_EQ(SampleToken(logits, spec, before + share / 2, scratch), token);
      }
      before += share;
    }
  }
}

TEST(SampleToken, NothingToDraw) {
  EXPECT_EQ(Sample({}, SamplerSpec(), 0.5), kNoToken);
  EXPECT_EQ(Sample({kFloatNan, -kFloatInfinity}, SamplerSpec(), 0.5), kNoToken);
  EXPECT_EQ(Sample({kFloatNan, -kFloatInfinity}, {0.7, 20, 0.95, 0.0}, 0.5), kNoToken);
  EXPECT_EQ(Sample({0.0F, kFloatInfinity, kFloatInfinity}, SamplerSpec(), 0.9), 1);
}

}  // namespace
}  // namespace hyper

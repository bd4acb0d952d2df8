#include "src/core/routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "src/core/random.h"
#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

RouteSpec RouteSpecOf(const nlohmann::json& golden) {
  RouteSpec spec;
  spec.tau = golden["tau"];
  spec.lambda = golden["lambda"];
  spec.two_pass = golden["two_pass"];
  spec.penalty = golden["penalty"] == "softmax" ? RoutePenalty::kSoftmax : RoutePenalty::kScore;
  spec.weights = golden["weights"] == "clean" ? RouteWeights::kClean : RouteWeights::kNoisy;
  return spec;
}

TEST(RoutePass, EqualsTheOracle) {
  const auto goldens = CoreGoldens("routing");
  ASSERT_GE(goldens.size(), 24U);
  for (const auto& golden : goldens) {
    const size_t experts = golden["rows"][0].size();
    SCOPED_TRACE(std::to_string(experts) + golden["penalty"].dump() + golden["weights"].dump());
    RoutePass pass(RouteSpecOf(golden), static_cast<int>(experts), golden["m"]);
    for (size_t k = 0; k < golden["rows"].size(); ++k) {
      std::vector<float> row = GoldenFloats(golden["rows"][k]);
      const std::vector<float> noise = GoldenFloats(golden["noise"][k]);
      const std::vector<int> chosen = pass.Apply(row, k == 0 ? std::span<const float>() : noise);
      EXPECT_EQ(chosen, golden["chosen"][k].get<std::vector<int>>()) << k;
      for (size_t e = 0; e < experts; ++e) {
        EXPECT_NEAR(row[e], golden["out"][k][e].get<double>(), 2e-6) << k << ' ' << e;
      }
      if (golden["weights"] == "clean") {
        continue;
      }
      // The model's own top-m over the row that is written back picks the same experts.
      std::vector<int> picked = TopExperts(row, golden["m"]);
      std::vector<int> wanted = chosen;
      std::sort(picked.begin(), picked.end());
      std::sort(wanted.begin(), wanted.end());
      EXPECT_EQ(picked, wanted) << k;
    }
    EXPECT_EQ(pass.routes(), static_cast<int>(golden["rows"].size()));
    EXPECT_EQ(pass.penalty_count(), golden["sums"].get<int64_t>());
    EXPECT_EQ(pass.reward_count(), golden["rewards"].get<int64_t>());
  }
}

TEST(RoutePass, RouteZeroIsLeftBitForBit) {
  for (RouteWeights weights : {RouteWeights::kNoisy, RouteWeights::kClean}) {
    RouteSpec spec;
    spec.weights = weights;
    spec.tau = 5;
    RoutePass pass(spec, 4, 2);
    std::vector<float> row = {0.1F, -0.0F, 3.25F, kFloatNan};
    const std::vector<float> before = row;
    EXPECT_EQ(pass.Apply(row, {}), (std::vector<int>{2, 0}));
    // Equal bytes are the claim, of NaN and -0 too:
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    EXPECT_EQ(std::memcmp(row.data(), before.data(), sizeof(float) * 4), 0);
  }
}

// By hand: m = 1, no noise. Route 0 takes expert 0 with score 2, so route 1 sees 2 - tanh(2).
TEST(RoutePass, PenaltyByHand) {
  RouteSpec spec;
  spec.tau = 0;
  spec.lambda = 1;
  RoutePass pass(spec, 2, 1);
  const std::vector<float> noise = {7.0F, 7.0F};
  std::vector<float> row = {2.0F, 1.5F};
  EXPECT_EQ(pass.Apply(row, {}), std::vector<int>{0});
  row = {2.0F, 1.5F};
  EXPECT_EQ(pass.Apply(row, noise), std::vector<int>{1});
  EXPECT_FLOAT_EQ(row[0], 2.0F - std::tanh(2.0F));
  EXPECT_FLOAT_EQ(row[1], 1.5F);
  // What counts as used is the first pass: expert 0 again, so its sum is 4 and expert 1's is 0.
  row = {2.0F, 1.5F};
  pass.Apply(row, noise);
  EXPECT_FLOAT_EQ(row[0], 2.0F - std::tanh(4.0F));
  EXPECT_FLOAT_EQ(row[1], 1.5F);
  EXPECT_EQ(pass.penalty_count(), 2);
  EXPECT_EQ(pass.reward_count(), 0);
}

// Negative scores make the penalty a reward; probabilities cannot.
TEST(RoutePass, NegativeScoresRewardReuse) {
  for (RoutePenalty penalty : {RoutePenalty::kScore, RoutePenalty::kSoftmax}) {
    RouteSpec spec;
    spec.tau = 0;
    spec.penalty = penalty;
    RoutePass pass(spec, 3, 1);
    const std::vector<float> noise(3);
    std::vector<float> row = {-1.0F, -2.0F, -3.0F};
    pass.Apply(row, {});
    pass.Apply(row, noise);
    const bool rewarded = penalty == RoutePenalty::kScore;
    EXPECT_EQ(row[0] > -1.0F, rewarded);
    EXPECT_EQ(pass.reward_count(), rewarded ? 1 : 0);
    EXPECT_EQ(pass.penalty_count(), 1);
  }
}

TEST(RoutePass, WithoutTwoPassesRoutesDoNotKnowOfEachOther) {
  RouteSpec spec;
  spec.two_pass = false;
  spec.lambda = 100;
  RoutePass pass(spec, 8, 2);
  std::vector<float> first(8, 1.0F);
  pass.Apply(first, {});
  std::vector<float> noise(8);
  GumbelRow(3, 0, 0, 1, noise);
  std::vector<float> row(8, 1.0F);
  pass.Apply(row, noise);
  for (size_t e = 0; e < 8; ++e) {
    EXPECT_FLOAT_EQ(row[e], 1 + 0.5F * noise[e]);
  }
  EXPECT_EQ(pass.penalty_count(), 0);
}

// Whatever the model makes of the row, the weights of the chosen experts are the clean router's.
TEST(RoutePass, CleanWeightsLeaveTheRowAndChooseByTheNoise) {
  RouteSpec spec;
  spec.tau = 3;
  const std::vector<float> clean = {0.5F, 0.25F, -0.75F, 1.0F, 0.0F, -0.25F};
  std::vector<float> noise(6);
  GumbelRow(8, 5, 1, 1, noise);
  std::vector<std::vector<int>> chosen;
  for (const RouteWeights weights : {RouteWeights::kNoisy, RouteWeights::kClean}) {
    spec.weights = weights;
    RoutePass pass(spec, 6, 3);
    std::vector<float> row = clean;
    pass.Apply(row, {});
    row = clean;
    chosen.push_back(pass.Apply(row, noise));
    EXPECT_EQ(row == clean, weights == RouteWeights::kClean);
  }
  EXPECT_EQ(chosen[0], chosen[1]);
  EXPECT_NE(chosen[1], TopExperts(clean, 3));
}

TEST(RoutePass, ABrokenExpertIsNotChosen) {
  RoutePass pass(RouteSpec(), 4, 2);
  std::vector<float> row = {kFloatNan, 1.0F, 2.0F, -std::numeric_limits<float>::infinity()};
  EXPECT_EQ(pass.Apply(row, {}), (std::vector<int>{2, 1}));
}

TEST(RoutePass, AllExpertsUsedMeansNothingToChoose) {
  RoutePass pass(RouteSpec(), 3, 3);
  std::vector<float> row = {1.0F, 3.0F, 2.0F};
  EXPECT_EQ(pass.Apply(row, {}), (std::vector<int>{1, 2, 0}));
  const std::vector<float> noise(3);
  EXPECT_EQ(pass.Apply(row, noise).size(), 3U);
}

TEST(TopExperts, RankByValueThenIndex) {
  const std::vector<float> row = {1.0F, 3.0F, 3.0F, kFloatNan, 2.0F, 3.0F};
  EXPECT_EQ(TopExperts(row, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(TopExperts(row, 4), (std::vector<int>{1, 2, 5, 4}));
  EXPECT_EQ(TopExperts(row, 9), (std::vector<int>{1, 2, 5, 4, 0, 3}));
  EXPECT_TRUE(TopExperts(row, 0).empty());
  EXPECT_TRUE(TopExperts({}, 3).empty());
}

// Routes with a stronger penalty spread over more experts.
TEST(RoutePass, ThePenaltySpreadsTheRoutes) {
  const auto distinct = [](double lambda) {
    RouteSpec spec;
    spec.lambda = lambda;
    int total = 0;
    for (uint32_t position = 0; position < 50; ++position) {
      RoutePass pass(spec, 16, 2);
      std::vector<bool> seen(16);
      for (uint32_t route = 0; route < 6; ++route) {
        std::vector<float> row(16, 0.5F);
        for (size_t e = 0; e < 4; ++e) {
          row[e] = 1.5F;
        }
        std::vector<float> noise(16);
        GumbelRow(21, position, 0, route, noise);
        for (int expert : pass.Apply(row, noise)) {
          seen[static_cast<size_t>(expert)] = true;
        }
      }
      total += static_cast<int>(std::count(seen.begin(), seen.end(), true));
    }
    return total;
  };
  EXPECT_GT(distinct(1.5), distinct(0.0) * 5 / 4);
}

}  // namespace
}  // namespace hyper

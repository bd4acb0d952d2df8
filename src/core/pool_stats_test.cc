#include "src/core/pool_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

// A path that owns what its view shows.
struct OwnedPath {
  double confidence = 0;
  double entropy = 0;
  Token chosen = 0;
  std::vector<TokenLogprob> top;
  std::vector<Token> suffix;
};

std::vector<PathView> Views(const std::vector<OwnedPath>& paths) {
  std::vector<PathView> views;
  views.reserve(paths.size());
  for (const OwnedPath& path : paths) {
    views.push_back({path.confidence, path.entropy, path.chosen, path.top, path.suffix});
  }
  return views;
}

TEST(PoolStatistics, EqualTheOracle) {
  const auto goldens = CoreGoldens("pools");
  ASSERT_GE(goldens.size(), 10U);
  for (const auto& golden : goldens) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    std::vector<OwnedPath> paths;
    for (const auto& path : golden["paths"]) {
      paths.push_back({path["confidence"], path["entropy"], path["chosen"], GoldenTop(path["top"]),
                       path["suffix"].get<std::vector<Token>>()});
    }
    const PoolStatistics statistics =
        ComputePoolStatistics(Views(paths), golden["eta"], golden["k"]);
    const auto& expected = golden["expected"];
    EXPECT_NEAR(statistics.confidence, expected["mean_confidence"].get<double>(), 1e-12);
    EXPECT_NEAR(statistics.entropy, expected["mean_entropy"].get<double>(), 1e-12);
    EXPECT_NEAR(statistics.consensus, expected["consensus"].get<double>(), 1e-12);
    EXPECT_NEAR(statistics.distribution_diversity, expected["distribution_diversity"].get<double>(),
                1e-12);
    EXPECT_NEAR(statistics.sequence_diversity, expected["sequence_diversity"].get<double>(), 1e-12);
    EXPECT_NEAR(statistics.diversity, expected["diversity"].get<double>(), 1e-12);
    EXPECT_NEAR(statistics.variance, expected["confidence_variance"].get<double>(), 1e-12);
  }
}

TEST(PoolStatistics, AnEmptyPoolIsAllZero) {
  const PoolStatistics statistics = ComputePoolStatistics({});
  EXPECT_EQ(statistics.confidence, 0);
  EXPECT_EQ(statistics.entropy, 0);
  EXPECT_EQ(statistics.consensus, 0);
  EXPECT_EQ(statistics.diversity, 0);
  EXPECT_EQ(statistics.variance, 0);
}

TEST(PoolStatistics, OneSurvivorHasNoDiversityAndNoVariance) {
  const PoolStatistics statistics =
      ComputePoolStatistics(Views({{12.5, 0.7, 3, {{3, -0.1F}, {4, -3.0F}}, {1, 2, 3}}}));
  EXPECT_EQ(statistics.confidence, 12.5);
  EXPECT_EQ(statistics.entropy, 0.7);
  EXPECT_EQ(statistics.consensus, 1);
  EXPECT_EQ(statistics.distribution_diversity, 0);
  EXPECT_EQ(statistics.sequence_diversity, 0);
  EXPECT_EQ(statistics.variance, 0);
}

TEST(PoolStatistics, UnrelatedPathsAreAsDiverseAsCanBe) {
  const PoolStatistics statistics = ComputePoolStatistics(
      Views({{10, 0, 1, {{1, 0.0F}}, {1, 1}}, {14, 0, 2, {{2, 0.0F}}, {2, 2}}}), 0.4);
  EXPECT_NEAR(statistics.distribution_diversity, std::log(2.0), 1e-12);
  EXPECT_EQ(statistics.sequence_diversity, 1);
  EXPECT_NEAR(statistics.diversity, 0.4 * std::log(2.0) + 0.6, 1e-12);
  EXPECT_EQ(statistics.consensus, 0.5);
  EXPECT_EQ(statistics.variance, 4);  // of the population: ((-2)^2 + 2^2) / 2
}

// A path without log-probabilities has no say in the means and adds no divergence.
TEST(PoolStatistics, UnknownConfidencesAreLeftOut) {
  const PoolStatistics statistics = ComputePoolStatistics(Views(
      {{kNan, kNan, 1, {}, {1}}, {6, 0.5, 1, {{1, -0.1F}}, {1}}, {10, 1.5, 1, {{1, -0.1F}}, {1}}}));
  EXPECT_EQ(statistics.confidence, 8);
  EXPECT_EQ(statistics.entropy, 1);
  EXPECT_EQ(statistics.variance, 4);
  EXPECT_EQ(statistics.distribution_diversity, 0);
  EXPECT_EQ(statistics.consensus, 1);
}

TEST(JensenShannon, EqualsTheOracle) {
  const auto goldens = CoreGoldens("jsd");
  ASSERT_GE(goldens.size(), 25U);
  const auto distribution = [](const nlohmann::json& values) {
    std::vector<TokenProbability> entries;
    for (const auto& value : values) {
      entries.push_back({value[0], value[1]});
    }
    return entries;
  };
  for (const auto& golden : goldens) {
    const double divergence = JensenShannon(distribution(golden["p"]), distribution(golden["q"]));
    EXPECT_NEAR(divergence, golden["jsd"].get<double>(), 1e-14) << golden.dump();
    EXPECT_GE(divergence, 0);
    EXPECT_LE(divergence, std::log(2.0) + 1e-15);
  }
}

// Only the k most probable tokens enter: the third makes the difference here.
TEST(DistributionDiversity, LooksAtKTokens) {
  const std::vector<OwnedPath> paths = {{0, 0, 0, {{1, -0.5F}, {2, -1.5F}, {3, -2.5F}}, {}},
                                        {0, 0, 0, {{1, -0.5F}, {2, -1.5F}, {4, -2.5F}}, {}}};
  EXPECT_EQ(DistributionDiversity(Views(paths), 2), 0);
  EXPECT_GT(DistributionDiversity(Views(paths), 3), 0.01);
}

}  // namespace
}  // namespace hyper

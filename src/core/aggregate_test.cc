#include "src/core/aggregate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

using Rows = std::vector<std::vector<float>>;

struct Aggregated {
  std::vector<double> weights;
  std::vector<float> out;
};

Aggregated Aggregate(const Rows& rows, const AggregateOptions& options = {}) {
  const std::vector<std::span<const float>> spans(rows.begin(), rows.end());
  Aggregated result;
  result.out.resize(rows[0].size());
  result.weights = AggregateRoutes(spans, options, result.out);
  return result;
}

AggregateOptions MeanProb() {
  AggregateOptions options;
  options.rule = RouteAggregate::kMeanProb;
  return options;
}

double Mass(const std::vector<float>& log_probabilities) {
  double mass = 0;
  for (float value : log_probabilities) {
    mass += std::exp(static_cast<double>(value));
  }
  return mass;
}

TEST(AggregateRoutes, EqualsTheOracle) {
  const auto goldens = CoreGoldens("aggregate");
  ASSERT_GE(goldens.size(), 15U);
  for (const auto& golden : goldens) {
    Rows rows;
    for (const auto& row : golden["rows"]) {
      rows.push_back(GoldenFloats(row));
    }
    AggregateOptions options;
    options.rule =
        golden["rule"] == "confidence" ? RouteAggregate::kConfidence : RouteAggregate::kMeanProb;
    options.temperature = golden["temperature"];
    options.set =
        golden["alternatives"].get<bool>() ? ConfidenceSet::kAlternatives : ConfidenceSet::kTopK;
    options.k = golden["k"];
    const Aggregated result = Aggregate(rows, options);
    ASSERT_EQ(result.weights.size(), rows.size());
    for (size_t k = 0; k < rows.size(); ++k) {
      EXPECT_NEAR(result.weights[k], golden["weights"][k].get<double>(), 1e-5);
    }
    for (size_t v = 0; v < result.out.size(); ++v) {
      EXPECT_NEAR(result.out[v], golden["out"][v].get<double>(), 2e-5);
    }
  }
}

// Rows longer than the blocks they are worked through in, token by token in double.
TEST(AggregateRoutes, LongRowsEqualTheDefinition) {
  Rows rows(3, std::vector<float>(2500));
  for (size_t k = 0; k < rows.size(); ++k) {
    for (size_t v = 0; v < rows[k].size(); ++v) {
      rows[k][v] = static_cast<float>(std::sin(static_cast<double>(v * (k + 3))) * 4);
    }
  }
  std::vector<double> totals;
  for (const auto& row : rows) {
    totals.push_back(Mass(row));
  }
  for (const AggregateOptions& options : {AggregateOptions(), MeanProb()}) {
    const bool mean_prob = options.rule == RouteAggregate::kMeanProb;
    const Aggregated result = Aggregate(rows, options);
    std::vector<double> expected;  // not yet normalised
    for (size_t v = 0; v < rows[0].size(); ++v) {
      double sum = 0;
      for (size_t k = 0; k < rows.size(); ++k) {
        const double log_probability = rows[k][v] - std::log(totals[k]);
        sum += result.weights[k] * (mean_prob ? std::exp(log_probability) : log_probability);
      }
      expected.push_back(mean_prob ? sum : std::exp(sum));
    }
    const double total = std::accumulate(expected.begin(), expected.end(), 0.0);
    for (size_t v = 0; v < expected.size(); ++v) {
      EXPECT_NEAR(result.out[v], std::log(expected[v] / total), 2e-5) << v;
    }
  }
}

TEST(AggregateRoutes, ResultIsADistribution) {
  const Rows rows = {{1.0F, 2.0F, 0.0F}, {900.0F, 899.0F, 870.0F}, {-5.0F, -5.5F, -4.0F}};
  EXPECT_NEAR(Mass(Aggregate(rows).out), 1, 1e-6);
  EXPECT_NEAR(Mass(Aggregate(rows, MeanProb()).out), 1, 1e-6);
}

// Logits that differ by a constant are the same route: its own scale must not weigh.
TEST(AggregateRoutes, RoutesAreLogNormalisedFirst) {
  const std::vector<float> row = {1.0F, 0.5F, -1.0F};
  std::vector<float> shifted = row;
  for (float& value : shifted) {
    value += 64.0F;
  }
  for (const AggregateOptions& options : {AggregateOptions(), MeanProb()}) {
    const Aggregated alone = Aggregate({row}, options);
    const Aggregated both = Aggregate({row, shifted}, options);
    for (size_t v = 0; v < row.size(); ++v) {
      EXPECT_NEAR(both.out[v], alone.out[v], 1e-5);
    }
    EXPECT_NEAR(both.weights[0], 0.5, 1e-6);
  }
}

TEST(AggregateRoutes, OneRouteIsItsOwnLogSoftmax) {
  const Aggregated result = Aggregate({{2.0F, 1.0F, 0.0F}});
  EXPECT_NEAR(result.out[0], -0.4076, 1e-4);
  EXPECT_NEAR(result.out[1], -1.4076, 1e-4);
  EXPECT_NEAR(result.out[2], -2.4076, 1e-4);
}

TEST(AggregateRoutes, SurerRoutesWeighMore) {
  const Aggregated result = Aggregate({{8.0F, 0.0F, 0.0F}, {0.0F, 0.1F, 0.0F}});
  EXPECT_GT(result.weights[0], 0.9);
  EXPECT_GT(result.out[0], result.out[1]);
}

TEST(AggregateRoutes, BrokenRoutesAreLeftOut) {
  const std::vector<float> good = {1.0F, 0.0F, -1.0F};
  for (const AggregateOptions& options : {AggregateOptions(), MeanProb()}) {
    const Aggregated alone = Aggregate({good}, options);
    const Aggregated mixed = Aggregate(
        {{kFloatNan, 0.0F, 1.0F}, good, {-kFloatInfinity, -kFloatInfinity, -kFloatInfinity}},
        options);
    EXPECT_EQ(mixed.weights[0], 0);
    EXPECT_EQ(mixed.weights[2], 0);
    EXPECT_EQ(mixed.out, alone.out);
    const Aggregated none = Aggregate({{kFloatNan, 0.0F}, {kFloatNan, 0.0F}}, options);
    EXPECT_EQ(none.weights, (std::vector<double>{0, 0}));
    for (float value : none.out) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

TEST(AggregateRoutes, AMaskedTokenStaysMasked) {
  const Rows rows = {{1.0F, -kFloatInfinity, 0.0F, 0.5F}, {0.0F, 2.0F, 0.0F, 0.5F}};
  const Aggregated geometric = Aggregate(rows);
  EXPECT_EQ(geometric.out[1], -kFloatInfinity);
  EXPECT_NEAR(Mass(geometric.out), 1, 1e-6);
  const Aggregated mean = Aggregate(rows, MeanProb());
  EXPECT_TRUE(std::isfinite(mean.out[1]));
}

TEST(AggregateRoutes, MayWriteOverARoute) {
  Rows rows = {{1.0F, 2.0F, 0.0F}, {3.0F, 1.0F, 1.0F}};
  const Aggregated apart = Aggregate(rows);
  const std::vector<std::span<const float>> spans(rows.begin(), rows.end());
  AggregateRoutes(spans, AggregateOptions(), rows[0]);
  EXPECT_EQ(rows[0], apart.out);
}

TEST(RouteConfidenceWeights, AreASoftmax) {
  const std::vector<double> weights = RouteConfidenceWeights(std::vector<double>{10, 11, 10}, 0.5);
  EXPECT_NEAR(weights[1] / weights[0], std::exp(2.0), 1e-12);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-15);
  EXPECT_EQ(RouteConfidenceWeights(std::vector<double>{std::nan("")}, 1), std::vector<double>{0});
  EXPECT_EQ(RouteConfidenceWeights(std::vector<double>{60, std::nan("")}, 1e-300),
            (std::vector<double>{1, 0}));
}

}  // namespace
}  // namespace hyper

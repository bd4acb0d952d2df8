#include "src/core/controller.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

PoolStatistics Statistics(double confidence, double entropy, double diversity, double variance,
                          double consensus) {
  PoolStatistics statistics;
  statistics.confidence = confidence;
  statistics.entropy = entropy;
  statistics.diversity = diversity;
  statistics.variance = variance;
  statistics.consensus = consensus;
  return statistics;
}

TEST(Controller, ScoresEqualTheOracle) {
  const auto goldens = CoreGoldens("controller");
  ASSERT_GE(goldens.size(), 12U);
  for (const auto& golden : goldens) {
    SCOPED_TRACE(golden.dump());
    const auto& raw = golden["raw"];
    MaxStatistics maxima;
    maxima.confidence.value = golden["max"]["c"];
    maxima.entropy.value = golden["max"]["h"];
    maxima.diversity.value = golden["max"]["d"];
    maxima.variance.value = golden["max"]["v"];
    const PoolStatistics normalised =
        Normalise(Statistics(raw["c"], raw["h"], raw["d"], raw["v"], raw["beta"]), maxima);
    EXPECT_NEAR(normalised.confidence, golden["normalised"]["c"].get<double>(), 1e-15);
    EXPECT_NEAR(normalised.entropy, golden["normalised"]["h"].get<double>(), 1e-15);
    EXPECT_NEAR(normalised.diversity, golden["normalised"]["d"].get<double>(), 1e-15);
    EXPECT_NEAR(normalised.variance, golden["normalised"]["v"].get<double>(), 1e-15);
    const ActionScores scores = ScoreActions(normalised);
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores[i], golden["scores"][i].get<double>(), 1e-15);
    }
  }
}

// The state that the paper's text names for each action makes that action win.
TEST(Controller, EachActionWinsWhereThePaperWantsIt) {
  const auto choose = [](double confidence, double entropy, double diversity, double variance,
                         double beta) {
    return ChooseAction(ScoreActions(Statistics(confidence, entropy, diversity, variance, beta)),
                        ActionSet::All());
  };
  EXPECT_EQ(choose(0.9, 0.1, 0.9, 0.2, 0.9), Action::kNone);         // reliable and diverse
  EXPECT_EQ(choose(0.2, 0.9, 0.9, 0.2, 0.4), Action::kSingleToken);  // unstable
  EXPECT_EQ(choose(0.3, 0.2, 0.2, 0.9, 0.8), Action::kMultiToken);   // collapsed and dispersed
  EXPECT_EQ(choose(0.6, 0.5, 0.1, 0.1, 0.1), Action::kBranch);       // collapsed, in disagreement
}

TEST(Controller, EqualScoresGoToTheEarlierAction) {
  EXPECT_EQ(ChooseAction({0.5, 0.5, 0.5, 0.5}, ActionSet::All()), Action::kNone);
  EXPECT_EQ(ChooseAction({0.1, 0.5, 0.5, 0.5}, ActionSet::All()), Action::kSingleToken);
  EXPECT_EQ(ChooseAction({0.1, 0.2, 0.5, 0.5}, ActionSet::All()), Action::kMultiToken);
}

TEST(Controller, ForbiddenActionsAreNotChosen) {
  const ActionScores scores = {0.1, 0.9, 0.6, 0.7};
  const ActionSet dense = ActionSet::All().Without(Action::kSingleToken);
  EXPECT_EQ(ChooseAction(scores, dense), Action::kBranch);
  EXPECT_EQ(ChooseAction(scores, dense.Without(Action::kBranch)), Action::kMultiToken);
  EXPECT_EQ(ChooseAction(scores, ActionSet()), Action::kNone);
  EXPECT_EQ(ChooseAction(scores, ActionSet().With(Action::kSingleToken)), Action::kSingleToken);
  EXPECT_TRUE(ActionSet::All().Without(Action::kNone).Has(Action::kNone));
}

TEST(Controller, NormalisationIsAGlobalMaximumCappedAtOne) {
  EXPECT_EQ(NormaliseByMaximum(3, 4), 0.75);
  EXPECT_EQ(NormaliseByMaximum(5, 4), 1);
  EXPECT_EQ(NormaliseByMaximum(5, 0), 0);
  EXPECT_EQ(NormaliseByMaximum(0, 0), 0);
  EXPECT_EQ(NormaliseByMaximum(-1, 4), 0);
  EXPECT_EQ(NormaliseByMaximum(kNan, 4), 0);
  EXPECT_EQ(NormaliseByMaximum(2, kNan), 0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(NormaliseByMaximum(infinity, infinity), 0);
}

TEST(Controller, MaximaRememberWhereTheyWereFirstSeen) {
  MaxStatistics maxima;
  EXPECT_EQ(maxima.confidence.position, -1);
  Observe(maxima, Statistics(10, 1.0, 0.5, kNan, 1), 1, 4);
  Observe(maxima, Statistics(12, 0.5, 0.5, 3, 1), 2, 1);
  Observe(maxima, Statistics(12, 2.0, 0.4, 2, 1), 3, 4);
  Observe(maxima, PoolStatistics(), 4, 0);  // an empty pool says nothing
  EXPECT_EQ(maxima.confidence.value, 12);
  EXPECT_EQ(maxima.confidence.position, 2);
  EXPECT_EQ(maxima.confidence.paths, 1);
  EXPECT_EQ(maxima.entropy.value, 2);
  EXPECT_EQ(maxima.entropy.position, 3);
  EXPECT_EQ(maxima.entropy.paths, 4);
  EXPECT_EQ(maxima.diversity.position, 1);  // equal values: the first
  EXPECT_EQ(maxima.variance.value, 3);
}

TEST(Controller, ExpansionFactorRoundsUp) {
  EXPECT_EQ(ExpansionFactor(80, 80), 1);
  EXPECT_EQ(ExpansionFactor(80, 79), 2);
  EXPECT_EQ(ExpansionFactor(80, 40), 2);
  EXPECT_EQ(ExpansionFactor(80, 39), 3);
  EXPECT_EQ(ExpansionFactor(80, 1), 80);
  EXPECT_EQ(ExpansionFactor(80, 100), 1);
  EXPECT_EQ(ExpansionFactor(80, 0), 1);
  EXPECT_EQ(ExpansionFactor(0, 5), 1);
  EXPECT_EQ(ExpansionFactor(std::numeric_limits<int>::max(), 2), 1 << 30);
}

TEST(Controller, ActionsHaveTheNamesOfTheRecords) {
  EXPECT_EQ(std::string(NameOf(Action::kNone)), "none");
  EXPECT_EQ(std::string(NameOf(Action::kSingleToken)), "single_token");
  EXPECT_EQ(std::string(NameOf(Action::kMultiToken)), "multi_token");
  EXPECT_EQ(std::string(NameOf(Action::kBranch)), "branch");
}

}  // namespace
}  // namespace hyper

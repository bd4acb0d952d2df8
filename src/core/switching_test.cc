#include "src/core/switching.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/core/random.h"

namespace hyper {
namespace {

double SwitchDraw(uint32_t seed, uint32_t i, uint32_t which) {
  return static_cast<double>(Philox(seed, {i, which, 0, 0})[0]) / 4294967296.0;
}

struct SwitchSample {
  std::vector<SwitchFeatures> states;
  std::vector<bool> switched;
};

// Long streaks seldom switch, many flips often; the other features say nothing.
SwitchSample SwitchSampleOf(uint32_t seed, uint32_t count) {
  SwitchSample sample;
  for (uint32_t i = 0; i < count; ++i) {
    const double flips = std::floor(5 * SwitchDraw(seed, i, 0));
    const double streak = 1 + std::floor(8 * SwitchDraw(seed, i, 1));
    sample.states.push_back(
        {100 * SwitchDraw(seed, i, 2), SwitchDraw(seed, i, 3), flips, streak, 0});
    const double p = 1 / (1 + std::exp(-(0.8 * flips - 0.6 * streak + 0.5)));
    sample.switched.push_back(SwitchDraw(seed, i, 4) < p);
  }
  return sample;
}

TEST(Switching, FeaturesCountChangesAndStreaks) {
  SwitchFeatures state = NextSwitchFeatures(nullptr, 10, 0.5, true);
  EXPECT_EQ(state, (SwitchFeatures{10, 0.5, 0, 1, 0}));
  state = NextSwitchFeatures(&state, 20, 0.75, true);
  EXPECT_EQ(state, (SwitchFeatures{20, 0.75, 0, 2, 0.25}));
  state = NextSwitchFeatures(&state, 30, 0.25, false);
  EXPECT_EQ(state, (SwitchFeatures{30, 0.25, 1, 1, -0.5}));
  state = NextSwitchFeatures(&state, 40, 0.25, true);
  EXPECT_EQ(state, (SwitchFeatures{40, 0.25, 1, 2, 0}));
}

// The penalised log-likelihood of the logistic part, with numbers of its own.
double Likelihood(const SwitchSample& sample, const SwitchModel& model) {
  double sum = 0;
  for (const double slope : model.slopes) {
    sum -= 0.01 * slope * slope;
  }
  for (size_t i = 0; i < sample.states.size(); ++i) {
    double x = model.intercept;
    for (size_t k = 0; k < kSwitchFeatures; ++k) {
      x += model.slopes[k] * (sample.states[i][k] - model.means[k]) / model.deviations[k];
    }
    sum += std::log(sample.switched[i] ? 1 / (1 + std::exp(-x)) : 1 / (1 + std::exp(x)));
  }
  return sum;
}

TEST(Switches, TheFitIsTheHighestPointOfTheLikelihood) {
  const SwitchSample sample = SwitchSampleOf(3, 400);
  const SwitchModel model = FitSwitches(sample.states, sample.switched);
  const double best = Likelihood(sample, model);
  for (size_t k = 0; k <= kSwitchFeatures; ++k) {
    for (const double by : {-0.01, 0.01}) {
      SwitchModel other = model;
      (k == kSwitchFeatures ? other.intercept : other.slopes[k]) += by;
      EXPECT_LT(Likelihood(sample, other), best) << k;
    }
  }
  EXPECT_NEAR(model.slopes[4], 0, 1e-9) << "a constant feature";
  EXPECT_NEAR(model.deviations[0], 100 / std::sqrt(12.0), 2);
}

TEST(Switches, TheScalingMakesTheMeanRightAndIsNearlyNone) {
  const SwitchSample sample = SwitchSampleOf(4, 400);
  const SwitchModel model = FitSwitches(sample.states, sample.switched);
  double predicted = 0;
  double odds = 0;
  int switched = 0;
  for (size_t i = 0; i < sample.states.size(); ++i) {
    const double q = SwitchProbability(model, sample.states[i]);
    const double x = (std::log(q / (1 - q)) - model.shift) / model.scale;
    predicted += q;
    odds += (q - (sample.switched[i] ? 1 : 0)) * x;
    switched += sample.switched[i] ? 1 : 0;
  }
  // Where the gradients of Platt's likelihood are 0.
  EXPECT_NEAR(predicted, switched, 0.01);
  EXPECT_NEAR(odds, 0, 0.01);
  EXPECT_NEAR(model.scale, 1, 0.01);
  EXPECT_NEAR(model.shift, 0, 0.01);
}

TEST(Switches, TheFitFindsWhatTheSampleWasDrawnBy) {
  const SwitchSample sample = SwitchSampleOf(5, 20000);
  const SwitchModel model = FitSwitches(sample.states, sample.switched);
  for (const double flips : {0.0, 2.0, 4.0}) {
    for (const double streak : {1.0, 4.0, 8.0}) {
      const double p = 1 / (1 + std::exp(-(0.8 * flips - 0.6 * streak + 0.5)));
      EXPECT_NEAR(SwitchProbability(model, {50, 0.5, flips, streak, 0}), p, 0.03);
    }
  }
}

TEST(Switches, LabelsThatAreAllEqualAndNoneAtAllGiveNumbers) {
  SwitchSample sample = SwitchSampleOf(6, 50);
  sample.switched.assign(50, false);
  EXPECT_LT(SwitchProbability(FitSwitches(sample.states, sample.switched), sample.states[0]), 0.01);
  sample.switched.assign(50, true);
  EXPECT_GT(SwitchProbability(FitSwitches(sample.states, sample.switched), sample.states[0]), 0.99);
  EXPECT_DOUBLE_EQ(SwitchProbability(FitSwitches({}, {}), {1, 2, 3, 4, 5}), 0.5);
}

std::vector<SwitchVote> SwitchVotesOf(const std::vector<int>& answers, double switching) {
  std::vector<SwitchVote> votes;
  votes.reserve(answers.size());
  for (const int answer : answers) {
    votes.push_back({answer, 1, switching});
  }
  return votes;
}

TEST(SafeLead, PathsThatNeverSwitchLeaveAnyLeadSafe) {
  EXPECT_TRUE(IsSafeLead(SwitchVotesOf({0, 0, 1}, 0), 1));
  EXPECT_FALSE(IsSafeLead(SwitchVotesOf({0, 1}, 0), 1)) << "a tie";
  EXPECT_FALSE(IsSafeLead(SwitchVotesOf({-1, -1}, 0), 1));
  EXPECT_FALSE(IsSafeLead({}, 1));
}

TEST(SafeLead, IsTheSureLeadWhereUnfinishedPathsHaveNoAnswerAndMustSwitch) {
  // Each unfinished path may give one vote to a challenger.
  for (int leading = 1; leading <= 6; ++leading) {
    for (int second = 0; second <= leading; ++second) {
      for (int coming = 0; coming <= 6; ++coming) {
        std::vector<SwitchVote> votes =
            SwitchVotesOf(std::vector<int>(static_cast<size_t>(leading), 0), 0);
        votes.insert(votes.end(), static_cast<size_t>(second), {1, 1, 0});
        votes.insert(votes.end(), static_cast<size_t>(coming), {-1, 1, 1});
        EXPECT_EQ(IsSafeLead(votes, 1), leading - second > coming);
      }
    }
  }
}

TEST(SafeLead, ExpectedSwitchesCostTwiceFromTheLeaderAndGainFromTheChallenger) {
  // Lead 3 - 2 = 1. Against answer 1: q (2 x 3 - 2) < 1 for q < 1/4; against a new one: 3 > 8 q.
  EXPECT_TRUE(IsSafeLead(SwitchVotesOf({0, 0, 0, 1, 1}, 0.24), 1));
  EXPECT_FALSE(IsSafeLead(SwitchVotesOf({0, 0, 0, 1, 1}, 0.26), 1));
  // With gamma 1/2: q (3 - 2) < 1, and 3 > 4 q.
  EXPECT_TRUE(IsSafeLead(SwitchVotesOf({0, 0, 0, 1, 1}, 0.74), 0.5));
  EXPECT_FALSE(IsSafeLead(SwitchVotesOf({0, 0, 0, 1, 1}, 0.76), 0.5));
  // Nobody else has voted: 3 > 6 q.
  EXPECT_TRUE(IsSafeLead(SwitchVotesOf({2, 2, 2}, 0.49), 1));
  EXPECT_FALSE(IsSafeLead(SwitchVotesOf({2, 2, 2}, 0.51), 1));
  // Weights: 2 + 1 against 1.5; 0.1 (2 x 3 - 1.5) = 0.45.
  std::vector<SwitchVote> votes = {{0, 2, 0.1}, {0, 1, 0.1}, {1, 1.5, 0.1}};
  EXPECT_TRUE(IsSafeLead(votes, 1));
  votes[2].weight = 2.5;  // 0.5 > 0.1 (6 - 2.5)
  EXPECT_TRUE(IsSafeLead(votes, 1));
  votes[2].weight = 2.75;  // 0.25 < 0.1 (6 - 2.75)
  EXPECT_FALSE(IsSafeLead(votes, 1));
  EXPECT_EQ(LeaderOf(votes), 0);
  votes[2].weight = 4;
  EXPECT_EQ(LeaderOf(votes), 1);
}

TEST(SafeLead, GammaGoesDownWhileTheStopGivesTheSameAnswer) {
  const auto paths = [](int first, int second, double q) {
    std::vector<SwitchVote> votes(static_cast<size_t>(first), {0, 1, q});
    votes.insert(votes.end(), static_cast<size_t>(second), {1, 1, q});
    return votes;
  };
  // 16 paths. First 9 to 7 for answer 1 (swapped), which the end does not keep: q (2 x 9 gamma - 7)
  // < 2 and 9 > q gamma 25 for q = 0.5: gamma < 0.611 and < 0.72. So 0.7 is the least with the
  // same answer as 1, and 1 / 4 comes on top.
  std::vector<std::vector<SwitchVote>> probes = {paths(7, 9, 0.5), paths(16, 0, 0)};
  EXPECT_NEAR(CalibrateGamma(probes, 0), 0.7 + 0.25, 1e-12);
  // Without such a probe every gamma gives the same answer: the floor.
  probes = {paths(16, 0, 0)};
  EXPECT_DOUBLE_EQ(CalibrateGamma(probes, 0), 0.5);
  // Where no probe is safe the answer is that of the end: here with gamma above 0.611.
  probes = {paths(7, 9, 0.5)};
  EXPECT_NEAR(CalibrateGamma(probes, 0), 0.95, 1e-12);
  EXPECT_DOUBLE_EQ(CalibrateGamma(probes, 1), 0.5);
  // Four paths, 3 to 1: 0.5 (6 gamma - 1) < 2 for gamma < 0.833, so 0.9, and 1 / 2 on top.
  probes = {{{1, 1, 0.5}, {1, 1, 0.5}, {1, 1, 0.5}, {0, 1, 0.5}}};
  EXPECT_DOUBLE_EQ(CalibrateGamma(probes, 0), 1);
}

}  // namespace
}  // namespace hyper

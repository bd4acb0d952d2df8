#include "src/core/stopping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

const std::vector<std::string> kThree = {"a", "b", "c"};

// Alike paths: counts[g] of them give answer g.
std::vector<Ballot> Alike(const std::vector<int>& counts) {
  std::vector<Ballot> ballots;
  for (size_t group = 0; group < counts.size(); ++group) {
    ballots.insert(ballots.end(), static_cast<size_t>(counts[group]),
                   Ballot{static_cast<int>(group), 100, 5.0, 4.0, 1.0});
  }
  return ballots;
}

double Urn(const std::vector<int>& counts, int coming, const UrnSpec& urn) {
  return UrnPosterior(Alike(counts), kThree, VoteRule::kMajority, {}, coming, urn);
}

// Whether the first answer stays alone in front whatever `coming` further votes are; new answers
// are one more entry of `counts`.
bool NeverCaught(std::vector<int> counts, int coming) {
  if (coming == 0) {
    return counts[0] > *std::max_element(counts.begin() + 1, counts.end());
  }
  for (size_t next = 0; next < counts.size(); ++next) {
    ++counts[next];
    if (!NeverCaught(counts, coming - 1)) {
      return false;
    }
    --counts[next];
  }
  return true;
}

// The urn's posterior of the first answer by going through all sequences of draws; ties stay with
// it, as its text is the smallest. Entries past `given` are new answers, each drawn by its votes.
double ByEnumeration(const std::vector<int>& counts, size_t given, int coming) {
  if (coming == 0) {
    return counts[0] == *std::max_element(counts.begin(), counts.end()) ? 1 : 0;
  }
  double total = 1;
  for (size_t group = 0; group < counts.size(); ++group) {
    total += counts[group] + (group < given ? 1 : 0);
  }
  double stays = 0;
  for (size_t next = 0; next <= counts.size(); ++next) {
    std::vector<int> then = counts;
    double weight = 1;
    if (next == counts.size()) {
      then.push_back(1);
    } else {
      weight = counts[next] + (next < given ? 1 : 0);
      ++then[next];
    }
    stays += weight / total * ByEnumeration(then, given, coming - 1);
  }
  return stays;
}

double Deviation(double share, int draws) { return std::sqrt(share * (1 - share) / draws); }

TEST(Stopping, TheBetaPosteriorEqualsTheOracle) {
  const auto goldens = CoreGoldens("leader_posterior");
  ASSERT_GE(goldens.size(), 10U);
  for (const auto& golden : goldens) {
    EXPECT_NEAR(LeaderPosterior(golden[0], golden[1]), golden[2].get<double>(), 1e-11)
        << golden.dump();
  }
}

TEST(Stopping, ALeadIsSureWhereNoCompletionCatchesIt) {
  for (int first = 1; first <= 6; ++first) {
    for (int second = 0; second <= first; ++second) {
      for (int coming = 0; coming <= 5; ++coming) {
        EXPECT_EQ(IsSureLead(first - second, coming, 1), NeverCaught({first, second, 0}, coming))
            << first << ":" << second << " with " << coming << " to come";
      }
    }
  }
  EXPECT_FALSE(IsSureLead(6.0, 2, 3.0));
  EXPECT_TRUE(IsSureLead(6.1, 2, 3.0));
}

TEST(Stopping, OnlyRulesThatAddFixedWeightsHaveASureLead) {
  constexpr ConfidenceSignal kSignal = ConfidenceSignal::kAlternatives;
  EXPECT_EQ(MostWeight(VoteRule::kMajority, kSignal), 1.0);
  EXPECT_EQ(MostWeight(VoteRule::kConfidence, kSignal), 60.0);
  EXPECT_EQ(MostWeight(VoteRule::kDeepConf, kSignal), 60.0);
  EXPECT_EQ(MostWeight(VoteRule::kConfidence, ConfidenceSignal::kLogprob), 1.0);
  for (const VoteRule rule :
       {VoteRule::kLengthConfidence, VoteRule::kLength, VoteRule::kImportanceSampling,
        VoteRule::kCisc, VoteRule::kWeighted, VoteRule::kBest, VoteRule::kBorda}) {
    EXPECT_FALSE(MostWeight(rule, kSignal).has_value()) << NameOf(rule);
    EXPECT_EQ(CanStop(rule), rule != VoteRule::kBest);
  }
}

TEST(Stopping, TheUrnGivesTheSharesOfAllItsSequences) {
  constexpr int kDraws = 20000;
  const std::vector<std::vector<int>> pools = {{2, 1, 0}, {3, 2, 2}, {1, 0, 0}, {4, 3, 1}};
  for (const std::vector<int>& counts : pools) {
    std::vector<int> seen = counts;
    std::erase(seen, 0);
    for (int coming = 0; coming <= 4; ++coming) {
      const double exact = ByEnumeration(seen, seen.size(), coming);
      const double share = Urn(counts, coming, {kDraws, 1, 11, 0, 0});
      EXPECT_NEAR(share, exact, 4 * Deviation(exact, kDraws) + 1e-12)
          << counts[0] << counts[1] << counts[2] << " with " << coming;
    }
  }
}

TEST(Stopping, TheUrnOfTwoAnswersIsTheBetaPosterior) {
  constexpr int kDraws = 4000;
  for (const auto& [first, second] : {std::pair(8, 2), {5, 4}, {3, 1}, {10, 10}}) {
    const double beta = LeaderPosterior(first, second);
    const double share = Urn({first, second, 0}, 600, {kDraws, 0, 5, 0, 0});
    EXPECT_NEAR(share, beta, 4 * Deviation(beta, kDraws) + 0.01) << first << ":" << second;
  }
}

TEST(Stopping, TheUrnCountsByTheRule) {
  // The surest path alone leads two others by its weight. One more vote for these turns it.
  std::vector<Ballot> ballots = Alike({1, 2, 0});
  ballots[0].weight = 2.5;
  constexpr int kDraws = 20000;
  const UrnSpec urn{kDraws, 1, 3, 0, 0};
  const auto posterior = [&](VoteRule rule) {
    return UrnPosterior(ballots, kThree, rule, {}, 1, urn);
  };
  EXPECT_NEAR(posterior(VoteRule::kWeighted), 3.0 / 6, 4 * Deviation(0.5, kDraws));
  // By counts b leads; a's second vote makes a tie, which a's smaller text wins.
  EXPECT_NEAR(posterior(VoteRule::kMajority), 4.0 / 6, 4 * Deviation(4.0 / 6, kDraws));
}

TEST(Stopping, EqualKeysDecideAlike) {
  const UrnSpec urn{256, 1, 42, 7, 0};
  UrnSpec other_key = urn;
  other_key.key = 43;
  UrnSpec other_step = urn;
  other_step.step = 8;
  const double share = Urn({5, 4, 1}, 20, urn);
  EXPECT_EQ(Urn({5, 4, 1}, 20, urn), share);
  EXPECT_NE(Urn({5, 4, 1}, 20, other_key), share);
  EXPECT_NE(Urn({5, 4, 1}, 20, other_step), share);
}

TEST(Stopping, DrawsEndWhereThePosteriorIsOutOfReach) {
  UrnSpec urn{256, 1, 42, 0, 0};
  const double share = Urn({5, 3, 1}, 20, urn);
  ASSERT_GT(share, 0.5);
  ASSERT_LT(share, 0.95);
  urn.at_least = share;
  EXPECT_EQ(Urn({5, 3, 1}, 20, urn), share);
  urn.at_least = 0.95;
  EXPECT_LT(Urn({5, 3, 1}, 20, urn), share);
  EXPECT_EQ(UrnPosterior({}, {}, VoteRule::kMajority, {}, 5, urn), 0);
}

TEST(Stopping, PathsWithoutAnAnswerAreNotDrawn) {
  std::vector<Ballot> ballots = Alike({3, 0, 0});
  ballots.resize(40);
  const UrnSpec urn{256, 0, 1, 0, 0};
  EXPECT_EQ(UrnPosterior(ballots, kThree, VoteRule::kMajority, {}, 9, urn), 1);
}

// Of the votes that were stopped at P, the share P and more would have ended with that winner:
// answers are drawn with a probability that is itself drawn evenly, paths one by one, 40 in all.
TEST(Stopping, StoppedVotesEndAsTheyStandAsOftenAsTheySay) {
  constexpr int kRuns = 3000;
  constexpr int kWidth = 40;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const double wanted : {0.8, 0.95}) {
    int stopped = 0;
    int kept = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double p = uniform(random);
      std::vector<int> counts(2, 0);
      int leader = -1;
      for (int path = 0; path < kWidth; ++path) {
        ++counts[uniform(random) < p ? 0 : 1];
        const auto [low, high] = std::minmax(counts[0], counts[1]);
        if (leader < 0 && LeaderPosterior(high, low) >= wanted) {
          leader = counts[0] == high ? 0 : 1;
        }
      }
      stopped += leader >= 0 ? 1 : 0;
      kept += leader >= 0 && counts[static_cast<size_t>(leader)] * 2 >= kWidth ? 1 : 0;
    }
    ASSERT_GT(stopped, kRuns / 2);
    const double share = static_cast<double>(kept) / stopped;
    EXPECT_GT(share, wanted - 4 * Deviation(wanted, stopped)) << wanted;
  }
}

TEST(Stopping, WavesDoubleTheNumberOfPaths) {
  const auto waves = [](LaunchOrder launch, int width) {
    std::vector<int> sizes;
    for (int opened = 0; opened < width; opened += sizes.back()) {
      sizes.push_back(NextWave(launch, opened, width));
    }
    return sizes;
  };
  using Sizes = std::vector<int>;
  EXPECT_EQ(waves(LaunchOrder::kParallel, 20), Sizes({20}));
  EXPECT_EQ(waves(LaunchOrder::kWaves, 80), Sizes({8, 8, 16, 32, 16}));
  EXPECT_EQ(waves(LaunchOrder::kWaves, 5), Sizes({5}));
  EXPECT_EQ(waves(LaunchOrder::kOne, 3), Sizes({1, 1, 1}));
}

TEST(Stopping, RulesAreReadAndWritten) {
  for (const char* text : {"never", "sure", "0.95", "0.999"}) {
    const Result<StopRule> rule = ParseStopRule(text);
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(StopRuleText(*rule), text);
  }
  EXPECT_EQ(ParseStopRule("0.95")->posterior, 0.95);
  for (const char* text : {"", "often", "0.5", "1", "95", "0.9x", "nan", "-0.9"}) {
    EXPECT_FALSE(ParseStopRule(text)) << text;
  }
}

}  // namespace
}  // namespace hyper

#include "src/core/tree_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace hyper {
namespace {

using Shares = std::vector<int>;

Shares Ceil(const std::vector<double>& rewards, int budget, double temperature) {
  return RebaseShares(rewards, budget, temperature, ShareRounding::kCeil);
}

Shares Round(const std::vector<double>& rewards, int budget, double temperature) {
  return RebaseShares(rewards, budget, temperature, ShareRounding::kRound);
}

TEST(RebaseShares, CeilByHand) {
  const std::vector<double> rewards = {0.9, 0.8, 0.5, 0.2};
  EXPECT_EQ(Ceil(rewards, 16, 0.2), (Shares{10, 5, 1, 0}));
  EXPECT_EQ(Ceil(rewards, 16, 0.1), (Shares{12, 4, 0, 0}));
  EXPECT_EQ(Ceil({0.2, 0.9, 0.5, 0.8}, 16, 0.2), (Shares{0, 10, 1, 5}));
}

TEST(RebaseShares, CeilGivesEqualRewardsToTheLatestFirst) {
  EXPECT_EQ(Ceil({0.5, 0.5, 0.5, 0.5}, 3, 0.2), (Shares{0, 1, 1, 1}));
  EXPECT_EQ(Ceil({0.5, 0.5, 0.5, 0.5}, 4, 0.2), (Shares{1, 1, 1, 1}));
  EXPECT_EQ(Ceil({0.5, 0.5, 0.5}, 4, 0.2), (Shares{1, 1, 2}));
}

TEST(RebaseShares, CeilHandsOutTheWholeBudgetWhateverTheRewards) {
  for (int nodes = 1; nodes <= 40; ++nodes) {
    for (const int budget : {1, 2, 7, 16, 64, 255}) {
      for (const double temperature : {0.001, 0.1, 0.2, 5.0}) {
        std::vector<double> rewards;
        rewards.reserve(static_cast<size_t>(nodes));
        for (int i = 0; i < nodes; ++i) {
          rewards.push_back((i * 37 % 11) / 10.0);
        }
        const Shares shares = Ceil(rewards, budget, temperature);
        EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), 0), budget);
        // A better node never gets less.
        for (int i = 0; i < nodes; ++i) {
          for (int j = 0; j < nodes; ++j) {
            const auto a = static_cast<size_t>(i);
            const auto b = static_cast<size_t>(j);
            if (rewards[a] > rewards[b]) {
              EXPECT_GE(shares[a], shares[b]);
            }
          }
        }
      }
    }
  }
}

TEST(RebaseShares, CeilOfEqualNodesIsEvenAtAnyWidth) {
  for (int nodes = 1; nodes <= 64; ++nodes) {
    const std::vector<double> rewards(static_cast<size_t>(nodes), 0.3);
    EXPECT_EQ(Ceil(rewards, 3 * nodes, 0.1), Shares(static_cast<size_t>(nodes), 3)) << nodes;
  }
}

TEST(RebaseShares, RoundByHand) {
  // Shares of 16 at T_b = 0.2: 8.96, 5.43, 1.21, 0.27 (by softmax of 4.5, 4, 2.5, 1, here times
  // 16).
  const double sum = std::exp(4.5) + std::exp(4.0) + std::exp(2.5) + std::exp(1.0);
  Shares expected;
  for (const double exponent : {4.5, 4.0, 2.5, 1.0}) {
    expected.push_back(static_cast<int>(std::lround(16 * std::exp(exponent) / sum)));
  }
  EXPECT_EQ(Round({0.9, 0.8, 0.5, 0.2}, 16, 0.2), expected);
  EXPECT_EQ(Round({0.5, 0.5, 0.5, 0.5}, 3, 0.2), (Shares{1, 1, 1, 1}));  // 0.75 each: one too many
  EXPECT_EQ(Round({0.5, 0.5, 0.5, 0.5}, 5, 0.2), (Shares{1, 1, 1, 1}));  // 1.25 each: one too few
}

TEST(RebaseShares, RoundNeverLetsTheSearchDie) {
  EXPECT_EQ(Round({0.5, 0.5, 0.5, 0.5}, 1, 0.2), (Shares{1, 0, 0, 0}));  // 0.25 each
  EXPECT_EQ(Round({0.1, 0.2, 0.3}, 0, 0.2), (Shares{0, 0, 0}));
}

TEST(RebaseShares, NoNodesAndLargeSpreadsAreFine) {
  EXPECT_TRUE(Ceil({}, 5, 0.1).empty());
  EXPECT_TRUE(Round({}, 5, 0.1).empty());
  EXPECT_EQ(Ceil({-1e6, 1e6}, 5, 0.1), (Shares{0, 5}));
  EXPECT_EQ(Round({-1e6, 1e6}, 5, 0.1), (Shares{0, 5}));
}

SearchNode Node(int parent, double value, int visits, std::vector<int> children = {}) {
  return {parent, std::move(children), value, visits};
}

TEST(Uct, ScoreByHand) {
  EXPECT_DOUBLE_EQ(UctScore(Node(0, 0.5, 2), 8, {0.7, 1.0}),
                   0.5 + 0.7 * std::sqrt(2 * std::log(8.0) / 2));
  EXPECT_DOUBLE_EQ(UctScore(Node(0, 0.5, 0), 8, {0.7, 1.0}), 1.5);
  EXPECT_DOUBLE_EQ(UctScore(Node(0, 0.5, 1), 1, {0.7, 1.0}), 0.5);  // ln 1 = 0
}

TEST(Uct, BestChildExploresAndBreaksTiesByTheDraw) {
  // Parent seen 3 times. Child 1: 0.9 + 0.7 sqrt(2 ln 3 / 2) = 1.634; child 2: 0.7 + 1 = 1.7.
  std::vector<SearchNode> nodes = {Node(-1, 0, 3, {1, 2, 3}), Node(0, 0.9, 2), Node(0, 0.7, 0),
                                   Node(0, 0.7, 0)};
  EXPECT_EQ(BestChild(nodes, 0, {}, 0.1), 2);
  EXPECT_EQ(BestChild(nodes, 0, {}, 0.49), 2);
  EXPECT_EQ(BestChild(nodes, 0, {}, 0.51), 3);
  EXPECT_EQ(BestChild(nodes, 0, {}, 0.999999), 3);
  EXPECT_EQ(BestChild(nodes, 0, {0.8, 1.0}, 0.1), 1);  // 0.9 + 0.839
  EXPECT_EQ(BestChild(nodes, 1, {}, 0.5), -1);
}

TEST(Backpropagate, WeighsChildrenByTheirVisits) {
  std::vector<SearchNode> nodes = {Node(-1, 0, 0, {1, 2}), Node(0, 0.2, 1, {3, 4}), Node(0, 0.6, 3),
                                   Node(1, 0.9, 2), Node(1, 0.5, 0)};
  Backpropagate(nodes, 1);
  EXPECT_DOUBLE_EQ(nodes[1].value, 0.9);  // child 4 was never visited
  EXPECT_EQ(nodes[1].visits, 2);
  EXPECT_DOUBLE_EQ(nodes[0].value, (2 * 0.9 + 3 * 0.6) / 5);
  EXPECT_EQ(nodes[0].visits, 1);
  EXPECT_EQ(nodes[3].visits, 2);
}

TEST(Backpropagate, LeavesAndUnvisitedFamiliesKeepTheirValue) {
  std::vector<SearchNode> nodes = {Node(-1, 0.4, 0, {1}), Node(0, 0.7, 0, {2}), Node(1, 0.1, 0)};
  Backpropagate(nodes, 1);
  EXPECT_DOUBLE_EQ(nodes[1].value, 0.7);
  EXPECT_EQ(nodes[1].visits, 1);
  EXPECT_DOUBLE_EQ(nodes[0].value, 0.7);
}

TEST(RolloutValue, MixesByAlpha) {
  EXPECT_DOUBLE_EQ(RolloutValue(0.8, 0.4, 0.5), 0.6);
  EXPECT_DOUBLE_EQ(RolloutValue(0.8, 0.4, 0.0), 0.8);
  EXPECT_DOUBLE_EQ(RolloutValue(0.8, 0.4, 1.0), 0.4);
}

TEST(RescaleConfidence, ClipsToTheQuantiles) {
  EXPECT_DOUBLE_EQ(RescaleConfidence(12, 10, 20), 0.2);
  EXPECT_DOUBLE_EQ(RescaleConfidence(9, 10, 20), 0);
  EXPECT_DOUBLE_EQ(RescaleConfidence(21, 10, 20), 1);
  EXPECT_DOUBLE_EQ(RescaleConfidence(10, 10, 10), 1);
  EXPECT_DOUBLE_EQ(RescaleConfidence(9.9, 10, 10), 0);
  EXPECT_DOUBLE_EQ(RescaleConfidence(std::numeric_limits<double>::quiet_NaN(), 10, 20), 0);
}

}  // namespace
}  // namespace hyper

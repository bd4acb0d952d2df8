#include "src/core/step_clusters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <set>

namespace hyper {
namespace {

using Texts = std::vector<std::string>;
using Matrix = std::vector<std::vector<double>>;

TEST(TextDistances, ByHand) {
  // Terms: {x, =, 1} and {x, =, 2}; x and = are in both of two texts, 1 and 2 in one each.
  const Matrix distances = TextDistances(Texts{"x = 1", "X=2"});
  const double common = std::log(3.0 / 3.0) + 1;
  const double rare = std::log(3.0 / 2.0) + 1;
  const double expected = 1 - 2 * common * common / (2 * common * common + rare * rare);
  EXPECT_NEAR(distances[0][1], expected, 1e-12);
  EXPECT_EQ(distances[0][1], distances[1][0]);
  EXPECT_EQ(distances[0][0], 0);
}

TEST(TextDistances, TermsAreLettersDigitsOrSingleOthers) {
  EXPECT_NEAR(TextDistances(Texts{"ab12++", "12 + + AB"})[0][1], 0, 1e-12);
  EXPECT_NEAR(TextDistances(Texts{"12", "1 2"})[0][1], 1, 1e-12);
  EXPECT_NEAR(TextDistances(Texts{"++", "+"})[0][1], 0, 1e-12);  // same direction
  EXPECT_NEAR(TextDistances(Texts{"\xc3\xa4"
                                  "b",
                                  "\xc3\xa4"
                                  "b"})[0][1],
              0, 1e-12);
  EXPECT_NEAR(TextDistances(Texts{"a", "b"})[0][1], 1, 1e-12);
}

TEST(TextDistances, EmptyTexts) {
  const Matrix distances = TextDistances(Texts{"", " \n", "a"});
  EXPECT_EQ(distances[0][1], 0);
  EXPECT_EQ(distances[0][2], 1);
  EXPECT_TRUE(TextDistances(Texts{}).empty());
}

TEST(AverageLinkage, JoinsByMeanDistance) {
  // 0 and 1 join at 0.1; 2 is 0.2 from 0 but 0.6 from 1, so 0.4 from both.
  const Matrix distances = {{0, .1, .2}, {.1, 0, .6}, {.2, .6, 0}};
  EXPECT_EQ(AverageLinkage(distances, 0.05), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(AverageLinkage(distances, 0.1), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(AverageLinkage(distances, 0.39), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(AverageLinkage(distances, 0.41), (std::vector<int>{0, 0, 0}));
}

TEST(AverageLinkage, NumbersClustersByTheirFirstItems) {
  const Matrix distances = {{0, 1, 1, .1}, {1, 0, .1, 1}, {1, .1, 0, 1}, {.1, 1, 1, 0}};
  EXPECT_EQ(AverageLinkage(distances, 0.5), (std::vector<int>{0, 1, 1, 0}));
  EXPECT_TRUE(AverageLinkage(Matrix{}, 0.5).empty());
  EXPECT_EQ(AverageLinkage(Matrix{{0}}, 0.5), std::vector<int>{0});
}

// The definition, taken literally: a set of sets, every pair compared anew each time.
std::set<std::set<int>> LiteralLinkage(const Matrix& distances, double cut) {
  std::set<std::set<int>> clusters;
  for (int i = 0; i < static_cast<int>(distances.size()); ++i) {
    clusters.insert({i});
  }
  while (clusters.size() > 1) {
    double best = 1e9;
    std::pair<std::set<int>, std::set<int>> pair;
    for (const auto& a : clusters) {
      for (const auto& b : clusters) {
        if (!(a < b)) {
          continue;
        }
        double sum = 0;
        for (const int i : a) {
          for (const int j : b) {
            sum += distances[static_cast<size_t>(i)][static_cast<size_t>(j)];
          }
        }
        const double mean = sum / static_cast<double>(a.size() * b.size());
        if (mean < best) {
          best = mean;
          pair = {a, b};
        }
      }
    }
    if (best > cut) {
      break;
    }
    clusters.erase(pair.first);
    clusters.erase(pair.second);
    pair.first.insert(pair.second.begin(), pair.second.end());
    clusters.insert(pair.first);
  }
  return clusters;
}

TEST(AverageLinkage, IsTheLiteralDefinition) {
  uint64_t state = 1;
  const auto next = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
  };
  for (int round = 0; round < 60; ++round) {
    const size_t n = 2 + static_cast<size_t>(round % 11);
    Matrix distances(n, std::vector<double>(n, 0.0));
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) {
        distances[i][j] = distances[j][i] = next();
      }
    }
    for (const double cut : {0.1, 0.3, 0.5, 0.7}) {
      const std::vector<int> labels = AverageLinkage(distances, cut);
      std::map<int, std::set<int>> groups;
      for (size_t i = 0; i < n; ++i) {
        groups[labels[i]].insert(static_cast<int>(i));
      }
      std::set<std::set<int>> clusters;
      for (const auto& [label, group] : groups) {
        clusters.insert(group);
      }
      EXPECT_EQ(clusters, LiteralLinkage(distances, cut));
    }
  }
}

}  // namespace
}  // namespace hyper

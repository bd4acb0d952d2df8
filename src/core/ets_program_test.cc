#include "src/core/ets_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace hyper {
namespace {

std::vector<bool> Bits(unsigned mask, size_t n) {
  std::vector<bool> keep(n);
  for (size_t i = 0; i < n; ++i) {
    keep[i] = (mask >> i & 1U) != 0;
  }
  return keep;
}

// The largest objective of all choices of at least one node.
double BruteForce(const EtsProgram& program) {
  double best = -1e9;
  const size_t n = program.shares.size();
  for (unsigned mask = 1; mask < 1U << n; ++mask) {
    best = std::max(best, EtsObjective(program, Bits(mask, n)));
  }
  return best;
}

TEST(EtsObjective, ByHand) {
  EtsProgram program;
  program.shares = {0.5, 0.25, 0.25};
  program.ancestors = {{0, 1}, {0, 1}, {0, 2}};  // root 0 with children 1 and 2
  program.clusters = {0, 0, 1};
  // M + N = 6. Keeping nodes 0 and 2: three ancestors, two nodes, both clusters.
  EXPECT_NEAR(EtsObjective(program, {true, false, true}), 0.75 - 5.0 / 6 + 1.5, 1e-12);
  EXPECT_NEAR(EtsObjective(program, {true, false, false}), 0.5 - 3.0 / 6 + 0.75, 1e-12);
  EXPECT_NEAR(EtsObjective(program, {true, true, true}), 1 - 1.0 + 1.5, 1e-12);
  program.coverage_weight = 0;
  EXPECT_NEAR(EtsObjective(program, {true, false, true}), 0.75 - 5.0 / 6, 1e-12);
  program.clusters.clear();
  program.cost_weight = 0;
  EXPECT_NEAR(EtsObjective(program, {true, false, true}), 0.75 + 5e-4 / 6, 1e-12);
}

TEST(SolveEts, KeepsAllWhereNodesCostNothing) {
  EtsProgram program;
  program.shares = {1, 0, 0};
  program.ancestors = {{0}, {0}, {0}};
  program.cost_weight = 0;
  program.coverage_weight = 0;
  EXPECT_EQ(*SolveEts(program), (std::vector<bool>{true, true, true}));
}

TEST(SolveEts, KeepsOneWhereNodesCostMuch) {
  EtsProgram program;
  program.shares = {0.2, 0.5, 0.3};
  program.ancestors = {{0}, {0}, {0}};
  program.cost_weight = 50;
  EXPECT_EQ(*SolveEts(program), (std::vector<bool>{false, true, false}));
}

TEST(SolveEts, PrefersNodesThatShareAncestorsAndCoverClusters) {
  EtsProgram program;
  program.shares = {0.4, 0.3, 0.3};
  program.ancestors = {{0, 1}, {0, 1}, {0, 2}};
  program.coverage_weight = 0;
  // Nodes 0 and 1: 0.7 - 4/6 = 0.033; all: 1 - 1 = 0; node 0 alone: 0.4 - 3/6 < 0.
  EXPECT_EQ(*SolveEts(program), (std::vector<bool>{true, true, false}));
  program.coverage_weight = 1.5;
  program.clusters = {0, 0, 1};
  // With coverage 0.75 per cluster: all 1.5; 0 and 2: 0.7 - 5/6 + 1.5 = 1.37.
  EXPECT_EQ(*SolveEts(program), (std::vector<bool>{true, true, true}));
}

TEST(SolveEts, NothingToChoose) {
  EXPECT_TRUE(SolveEts({})->empty());
  EtsProgram program;
  program.shares = {1};
  program.ancestors = {{0}};
  EXPECT_EQ(*SolveEts(program), std::vector<bool>{true});
}

TEST(SolveEts, IsTheOptimumOfEveryChoice) {
  uint64_t state = 7;
  const auto below = [&state](int n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>(state >> 33) % n;
  };
  for (int round = 0; round < 150; ++round) {
    EtsProgram program;
    const int n = 1 + below(12);
    const int parents = 1 + below(6);
    const int clusters = 1 + below(5);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      program.shares.push_back(below(5));
      sum += program.shares.back();
      program.ancestors.push_back({0, 1 + below(parents)});
      program.clusters.push_back(below(clusters));
    }
    for (double& share : program.shares) {
      share = sum > 0 ? share / sum : 1.0 / n;
    }
    program.cost_weight = below(4) * 0.7;
    program.coverage_weight = below(3) * 0.75;
    const Result<std::vector<bool>> keep = SolveEts(program);
    ASSERT_TRUE(keep);
    EXPECT_NE(std::count(keep->begin(), keep->end(), true), 0);
    EXPECT_NEAR(EtsObjective(program, *keep), BruteForce(program), 1e-6) << round;
  }
}

}  // namespace
}  // namespace hyper

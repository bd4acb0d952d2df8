#include "src/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

// Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  constexpr uint32_t kOnes = 0xFFFFFFFF;
  EXPECT_EQ(Philox(0, {0, 0, 0, 0}),
            (std::array<uint32_t, 4>{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(Philox(~uint64_t{0}, {kOnes, kOnes, kOnes, kOnes}),
            (std::array<uint32_t, 4>{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(Philox(0x299F31D0A4093822, {0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}),
            (std::array<uint32_t, 4>{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(Random, KeysEqualTheRecipe) {
  const auto goldens = CoreGoldens("random");
  ASSERT_EQ(goldens["path_keys"].size(), 5U);
  for (const auto& golden : goldens["path_keys"]) {
    const RandomKey root{golden[0].get<uint64_t>(), golden[1].get<uint64_t>()};
    EXPECT_EQ(std::to_string(PathKey(root, golden[2].get<uint64_t>())), golden[3]);
  }
  for (const auto& golden : goldens["child_keys"]) {
    const uint64_t parent = std::stoull(golden[0].get<std::string>());
    EXPECT_EQ(
        std::to_string(ChildPathKey(parent, golden[1].get<uint32_t>(), golden[2].get<uint32_t>())),
        golden[3]);
  }
}

Purpose PurposeNamed(const std::string& name) {
  const std::vector<std::string> names = {"sample", "route", "tie", "step", "child"};
  return static_cast<Purpose>(std::find(names.begin(), names.end(), name) - names.begin());
}

TEST(Random, UniformsEqualTheRecipeBitForBit) {
  const auto goldens = CoreGoldens("random");
  ASSERT_FALSE(goldens["uniforms"].empty());
  const uint64_t key = std::stoull(goldens["key"].get<std::string>());
  for (const auto& golden : goldens["uniforms"]) {
    const auto& draw = golden[0];
    EXPECT_EQ(Uniform(key, draw[0].get<uint32_t>(), PurposeNamed(draw[1]), draw[2].get<uint32_t>(),
                      draw[3].get<uint32_t>(), draw[4].get<uint32_t>()),
              golden[1].get<double>());
  }
}

TEST(Random, GumbelRowsEqualTheRecipe) {
  const auto goldens = CoreGoldens("random");
  ASSERT_FALSE(goldens["gumbel"].empty());
  const uint64_t key = std::stoull(goldens["key"].get<std::string>());
  for (const auto& golden : goldens["gumbel"]) {
    const std::vector<float> expected = GoldenFloats(golden[3]);
    std::vector<float> row(expected.size());
    GumbelRow(key, golden[0].get<uint32_t>(), golden[1].get<uint32_t>(), golden[2].get<uint32_t>(),
              row);
    // The logarithm may differ in its last bit between libraries.
    for (size_t e = 0; e < row.size(); ++e) {
      EXPECT_FLOAT_EQ(row[e], expected[e]);
    }
  }
}

TEST(Random, ShorterGumbelRowIsAPrefix) {
  std::vector<float> longer(13);
  std::vector<float> shorter(7);
  GumbelRow(99, 4, 2, 1, longer);
  GumbelRow(99, 4, 2, 1, shorter);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(Random, PathKeysOfNeighbouringSeedsNeverCoincide) {
  std::set<uint64_t> keys;
  size_t made = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    for (uint64_t question = 0; question < 16; ++question) {
      for (uint64_t index = 0; index < 64; ++index, ++made) {
        keys.insert(PathKey({seed, question}, index));
      }
    }
  }
  const uint64_t parent = PathKey({0, 0}, 0);
  for (uint32_t step = 0; step < 64; ++step) {
    for (uint32_t child = 0; child < 64; ++child, ++made) {
      keys.insert(ChildPathKey(parent, step, child));
    }
  }
  EXPECT_EQ(keys.size(), made);
}

// The five arguments of a draw are independent of each other: no two draws coincide.
TEST(Random, EveryArgumentOfADrawCounts) {
  std::set<double> draws;
  size_t made = 0;
  for (uint64_t key : {1U, 2U}) {
    for (uint32_t position = 0; position < 8; ++position) {
      for (uint32_t purpose = 0; purpose < 5; ++purpose) {
        for (uint32_t layer = 0; layer < 4; ++layer) {
          for (uint32_t route = 0; route < 4; ++route) {
            for (uint32_t block = 0; block < 4; ++block, ++made) {
              draws.insert(
                  Uniform(key, position, static_cast<Purpose>(purpose), layer, route, block));
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(draws.size(), made);
}

TEST(Random, UniformsAreUniform) {
  constexpr int kDraws = 100000;
  constexpr int kBins = 20;
  std::vector<int> bins(kBins);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = Uniform(5, static_cast<uint32_t>(i), Purpose::kSample);
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    ++bins[static_cast<size_t>(u * kBins)];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.004);
  double chi_square = 0;
  for (int count : bins) {
    const double expected = static_cast<double>(kDraws) / kBins;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, p = 0.001; the draws are fixed
}

TEST(Random, GumbelNoiseHasTheGumbelMoments) {
  constexpr double kEulerGamma = 0.5772156649015329;
  std::vector<float> row(100000);
  GumbelRow(11, 0, 0, 1, row);
  double sum = 0;
  double squares = 0;
  for (float g : row) {
    ASSERT_TRUE(std::isfinite(g));
    sum += g;
    squares += static_cast<double>(g) * g;
  }
  const double mean = sum / static_cast<double>(row.size());
  EXPECT_NEAR(mean, kEulerGamma, 0.015);
  EXPECT_NEAR(squares / static_cast<double>(row.size()) - mean * mean, 1.6449, 0.05);  // pi^2 / 6
}

}  // namespace
}  // namespace hyper

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "src/core/pool_stats.h"
#include "tests/goldens/core_goldens.h"

namespace hyper {
namespace {

// The textbook recurrence, row by row.
size_t NaiveDistance(const std::vector<Token>& a, const std::vector<Token>& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

TEST(Levenshtein, EqualsTheOracle) {
  const auto goldens = CoreGoldens("levenshtein");
  ASSERT_GE(goldens.size(), 15U);
  for (const auto& golden : goldens) {
    EXPECT_EQ(
        Levenshtein(golden["a"].get<std::vector<Token>>(), golden["b"].get<std::vector<Token>>()),
        golden["distance"].get<size_t>());
  }
}

TEST(Levenshtein, EqualsTheRecurrenceOnRandomSequences) {
  std::mt19937 generator(1);
  for (int round = 0; round < 1500; ++round) {
    const unsigned alphabet = 1 + generator() % 8;
    std::vector<Token> a(generator() % 200);
    std::vector<Token> b(generator() % 200);
    for (Token& token : a) {
      token = static_cast<Token>(generator() % alphabet);
    }
    for (Token& token : b) {
      token = static_cast<Token>(generator() % alphabet);
    }
    ASSERT_EQ(Levenshtein(a, b), NaiveDistance(a, b)) << round;
  }
}

// One insertion, deletion or substitution on either side of a block border.
TEST(Levenshtein, SingleEditsCostOneAtBlockBorders) {
  for (size_t length : {1U, 63U, 64U, 65U, 127U, 128U, 129U, 300U}) {
    std::vector<Token> sequence(length);
    for (size_t i = 0; i < length; ++i) {
      sequence[i] = static_cast<Token>(i * 37 + 5);
    }
    for (size_t place : {size_t{0}, length / 2, length - 1}) {
      const auto at = static_cast<std::ptrdiff_t>(place);
      std::vector<Token> changed = sequence;
      changed[place] = -9;
      EXPECT_EQ(Levenshtein(sequence, changed), 1U) << length << ' ' << place;
      changed = sequence;
      changed.insert(changed.begin() + at, -9);
      EXPECT_EQ(Levenshtein(sequence, changed), 1U) << length << ' ' << place;
      changed = sequence;
      changed.erase(changed.begin() + at);
      EXPECT_EQ(Levenshtein(sequence, changed), 1U) << length << ' ' << place;
    }
    EXPECT_EQ(Levenshtein(sequence, sequence), 0U);
  }
}

TEST(Levenshtein, ExtremeTokens) {
  const std::vector<Token> a = {std::numeric_limits<Token>::max(), 0, -1};
  const std::vector<Token> b = {std::numeric_limits<Token>::min(), 0, -1};
  EXPECT_EQ(Levenshtein(a, b), 1U);
}

}  // namespace
}  // namespace hyper

#include "src/engine/llama/kv/cell_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace hyper::llama {
namespace {

// The naive twin: every cell by name.
class NaiveLedger {
 public:
  explicit NaiveLedger(int sequences) : cells_(sequences) {}
  void Append(int sequence, int count) {
    for (int i = 0; i < count; ++i) {
      cells_[sequence].push_back(next_++);
    }
  }
  void Share(int from, int to, int count) {
    cells_[to].assign(cells_[from].begin(), cells_[from].begin() + count);
  }
  // The first position from which on the dropped cells were the sequence's own.
  int Truncate(int sequence, int length) {
    std::vector<int64_t> dropped(cells_[sequence].begin() + length, cells_[sequence].end());
    cells_[sequence].resize(length);
    const std::set<int64_t> left = Used();
    int own = length;
    while (own < length + static_cast<int>(dropped.size()) && left.count(dropped[own - length])) {
      ++own;
    }
    return own;
  }
  int Common(int a, int b) const {
    const auto apart =
        std::mismatch(cells_[a].begin(), cells_[a].end(), cells_[b].begin(), cells_[b].end());
    return static_cast<int>(apart.first - cells_[a].begin());
  }
  std::set<int64_t> Used() const {
    std::set<int64_t> used;
    for (const std::vector<int64_t>& cells : cells_) {
      used.insert(cells.begin(), cells.end());
    }
    return used;
  }
  int Length(int sequence) const { return static_cast<int>(cells_[sequence].size()); }

 private:
  std::vector<std::vector<int64_t>> cells_;
  int64_t next_ = 0;
};

TEST(CellLedgerTest, CountsASharedPrefixOnce) {
  CellLedger ledger(3);
  ledger.Append(0, 10);
  ledger.Share(0, 1, 6);
  ledger.Append(1, 3);
  EXPECT_EQ(ledger.used(), 13);
  EXPECT_EQ(ledger.Length(1), 9);
  EXPECT_EQ(ledger.Truncate(0, 0), 6);  // [0, 6) still belongs to sequence 1
  EXPECT_EQ(ledger.used(), 9);
  EXPECT_EQ(ledger.Truncate(1, 0), 0);
  EXPECT_EQ(ledger.used(), 0);
}

TEST(CellLedgerTest, TruncatingToTheLengthChangesNothing) {
  CellLedger ledger(1);
  ledger.Append(0, 4);
  EXPECT_EQ(ledger.Truncate(0, 4), 4);
  EXPECT_EQ(ledger.used(), 4);
}

TEST(CellLedgerTest, AgreesWithNaiveCountingOverRandomOperations) {
  constexpr int kSequences = 12;
  std::mt19937 random(1);
  CellLedger ledger(kSequences);
  NaiveLedger naive(kSequences);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int step = 0; step < 20000; ++step) {
    const int a = below(kSequences);
    const int b = below(kSequences);
    switch (below(3)) {
      case 0: {
        const int count = below(5);
        ledger.Append(a, count);
        naive.Append(a, count);
        break;
      }
      case 1:
        if (a != b && ledger.Length(b) == 0) {
          const int count = below(ledger.Length(a) + 1);
          ledger.Share(a, b, count);
          naive.Share(a, b, count);
        }
        break;
      default: {
        const int length = below(2) == 0 ? 0 : below(ledger.Length(a) + 1);
        ASSERT_EQ(ledger.Truncate(a, length), naive.Truncate(a, length)) << "step " << step;
        break;
      }
    }
    ASSERT_EQ(ledger.used(), static_cast<int64_t>(naive.Used().size())) << "step " << step;
    ASSERT_EQ(ledger.Length(a), naive.Length(a));
    ASSERT_EQ(ledger.Common(a, b), naive.Common(a, b)) << "step " << step;
  }
}

}  // namespace
}  // namespace hyper::llama

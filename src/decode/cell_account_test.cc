// The cells that forks share, against a count of all cells one by one.
#include "src/decode/cell_account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace hyper {
namespace {

constexpr int kPrompt = 7;

// Every path with the cells it reads: of a shared prefix its parent's, then its own.
struct Counted {
  using Cell = std::pair<PathId, size_t>;
  struct Reader {
    std::vector<Cell> cells;
    int judge_prompt = -1;
    bool open = true;
  };

  void Open(PathId parent, size_t inherited, int judge_prompt) {
    Reader reader;
    reader.judge_prompt = judge_prompt;
    if (parent != kNoPath) {
      const std::vector<Cell>& shared = readers[static_cast<size_t>(parent)].cells;
      reader.cells.assign(shared.begin(), shared.begin() + static_cast<std::ptrdiff_t>(inherited));
    }
    readers.push_back(reader);
  }
  void Grow(PathId path) {
    std::vector<Cell>& cells = readers[static_cast<size_t>(path)].cells;
    cells.emplace_back(path, cells.size());
  }
  int64_t cells() const {
    std::set<Cell> held;
    int64_t prompts = 0;
    bool reasons = false;
    for (const Reader& reader : readers) {
      if (reader.open) {
        held.insert(reader.cells.begin(), reader.cells.end());
        prompts += std::max(reader.judge_prompt, 0);
        reasons |= reader.judge_prompt < 0;
      }
    }
    return static_cast<int64_t>(held.size()) + prompts + (reasons ? kPrompt : 0);
  }

  std::vector<Reader> readers;
};

// What ended holds as much as its deepest fork shares with it, whichever was opened last.
TEST(CellAccount, TheDeepestForkDecidesWhatStays) {
  CellAccount account(kPrompt);
  account.Open(kNoPath, 0, -1);
  account.Grow(0, 10);
  account.Open(0, 8, -1);
  account.Open(0, 3, -1);
  EXPECT_EQ(account.cells(), kPrompt + 10);
  account.Close(0);
  EXPECT_EQ(account.cells(), kPrompt + 8);
  account.Close(1);
  EXPECT_EQ(account.cells(), kPrompt + 3);
  account.Close(2);
  EXPECT_EQ(account.cells(), 0);
}

TEST(CellAccount, CountsAsOneByOne) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](size_t count) { return random() % count; };
    CellAccount account(kPrompt);
    Counted counted;
    for (int step = 0; step < 60; ++step) {
      std::vector<PathId> open;
      for (size_t i = 0; i < counted.readers.size(); ++i) {
        if (counted.readers[i].open) {
          open.push_back(static_cast<PathId>(i));
        }
      }
      const size_t action = open.empty() ? 0 : below(4);
      if (action == 0) {
        const int judge_prompt = below(4) == 0 ? 5 : -1;
        account.Open(kNoPath, 0, judge_prompt);
        counted.Open(kNoPath, 0, judge_prompt);
      } else {
        const PathId path = open[below(open.size())];
        Counted::Reader& reader = counted.readers[static_cast<size_t>(path)];
        if (action == 1) {
          const size_t inherited = below(reader.cells.size() + 1);
          account.Open(path, static_cast<int>(inherited), -1);
          counted.Open(path, inherited, -1);
        } else if (action == 2) {
          account.Grow(path, 3);
          for (int i = 0; i < 3; ++i) {
            counted.Grow(path);
          }
        } else {
          account.Close(path);
          reader.open = false;
        }
      }
      ASSERT_EQ(account.cells(), counted.cells()) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace hyper

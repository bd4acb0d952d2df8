#include "src/engine/llama/schedule.h"

#include <algorithm>
#include <tuple>

namespace hyper::llama {
namespace {

// Sequence ids that `rows` rows of a lane borrow: the first row of its first wave is the lane's
// own.
int BorrowedIds(const DecodeWish& wish, int rows) { return wish.between_waves ? rows : rows - 1; }

// Rows of one forward when all wishes are spread evenly over as few forwards as possible.
int EvenRows(std::span<const DecodeWish> wishes, int most) {
  int64_t total = 0;
  for (const DecodeWish& wish : wishes) {
    total += std::min(wish.rows, most);
  }
  const int64_t parts = std::max<int64_t>(1, (total + most - 1) / most);
  return static_cast<int>((total + parts - 1) / parts);
}

}  // namespace

DecodePlan PlanDecode(std::span<const DecodeWish> wishes, const DecodeLimits& limits) {
  std::vector<DecodeWish> order(wishes.begin(), wishes.end());
  std::sort(order.begin(), order.end(), [](const DecodeWish& a, const DecodeWish& b) {
    return std::tuple(!a.between_waves, a.turns, a.lane) <
           std::tuple(!b.between_waves, b.turns, b.lane);
  });
  const int enough = limits.equal_parts ? EvenRows(order, limits.rows) : limits.rows;
  int rows = limits.rows;
  int64_t cells = limits.cells;
  int routes = limits.routes;
  DecodePlan plan;
  for (const DecodeWish& wish : order) {
    if (cells <= 0) {
      plan.stalled.push_back(wish.lane);
      continue;
    }
    if (limits.rows - rows >= enough) {
      break;
    }
    const bool fits =
        wish.rows <= rows && wish.rows <= cells && BorrowedIds(wish, wish.rows) <= routes;
    if (fits) {
      plan.shares.push_back({wish.lane, wish.rows, wish.turns + 1});
      rows -= wish.rows;
      cells -= wish.rows;
      routes -= BorrowedIds(wish, wish.rows);
    } else if (plan.shares.empty()) {
      const int own = wish.between_waves ? 0 : 1;
      const int wave = static_cast<int>(
          std::min<int64_t>({wish.rows, rows, cells, static_cast<int64_t>(routes) + own}));
      if (wave >= 1) {
        plan.shares.push_back({wish.lane, wave, wish.turns + 1});
        return plan;
      }
    }
  }
  return plan;
}

}  // namespace hyper::llama

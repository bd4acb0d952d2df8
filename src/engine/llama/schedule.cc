#include "src/engine/llama/schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

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

// The wishes in the order in which owners and their lanes have their turns.
std::vector<DecodeWish> InTurn(std::span<const DecodeWish> wishes) {
  std::vector<DecodeWish> order(wishes.begin(), wishes.end());
  const auto turn = [](const DecodeWish& wish) {
    return std::tuple(!wish.between_waves, wish.turns, wish.lane);
  };
  std::sort(order.begin(), order.end(),
            [&](const DecodeWish& a, const DecodeWish& b) { return turn(a) < turn(b); });
  std::map<uint32_t, uint64_t> rows;  // of the owner's lanes before
  for (DecodeWish& wish : order) {
    uint64_t& before = rows[wish.owner];
    wish.served += before;
    before += static_cast<uint64_t>(wish.rows);
  }
  std::stable_sort(order.begin(), order.end(), [](const DecodeWish& a, const DecodeWish& b) {
    return std::tuple(!a.between_waves, a.served) < std::tuple(!b.between_waves, b.served);
  });
  return order;
}

}  // namespace

void OwnerShares::Prepare(std::span<DecodeWish> wishes) {
  std::map<uint32_t, uint64_t> served;
  for (DecodeWish& wish : wishes) {
    const auto known = served_.find(wish.owner);
    wish.served = std::max(floor_, known != served_.end() ? known->second : 0);
    served.emplace(wish.owner, wish.served);
  }
  served_ = std::move(served);
}

void OwnerShares::Note(std::span<const DecodeWish> wishes, const DecodePlan& plan) {
  std::map<LaneId, int> given;
  for (const DecodeShare& share : plan.shares) {
    given[share.lane] = share.rows;
  }
  for (const DecodeWish& wish : wishes) {
    const auto share = given.find(wish.lane);
    served_[wish.owner] += share != given.end() ? static_cast<uint64_t>(share->second) : 0;
  }
  uint64_t most = 0;
  std::optional<uint64_t> least;
  for (const DecodeWish& wish : wishes) {
    const uint64_t served = served_[wish.owner];
    most = std::max(most, served);
    if (given.count(wish.lane) == 0) {
      least = std::min(least.value_or(served), served);
    }
  }
  floor_ = least.value_or(most);
}

DecodePlan PlanDecode(std::span<const DecodeWish> wishes, const DecodeLimits& limits) {
  const std::vector<DecodeWish> order = InTurn(wishes);
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

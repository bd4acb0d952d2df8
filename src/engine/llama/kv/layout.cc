#include "src/engine/llama/kv/layout.h"

#include <algorithm>

namespace hyper::llama {
namespace {

constexpr int64_t kStep = 256;  // llama.cpp pads a stream's cells to a multiple of it

// From so many lanes and so long paths on, streams were measured to be faster (docs/kv-cost.md).
constexpr int kManyLanes = 64;
constexpr int64_t kLongPath = 400;

int64_t RoundUp(int64_t cells) { return (cells + kStep - 1) / kStep * kStep; }

bool StreamsPay(const LayoutCase& layout) {
  const int64_t path = std::min<int64_t>(layout.train_tokens, layout.cells / layout.lanes);
  return !layout.pool_attention && layout.lanes >= kManyLanes && path >= kLongPath;
}

}  // namespace

LayoutChoice ChooseLayout(const LayoutCase& layout) {
  if (layout.wish == KvLayout::kUnified) {
    return {};
  }
  if (layout.wish == KvLayout::kStreams) {
    if (layout.cells_given) {
      const int64_t own = (layout.cells + layout.lanes - 1) / layout.lanes;
      return {true, static_cast<int>(RoundUp(own))};
    }
    const double affordable = layout.affordable_cells / layout.sequences;
    const double most = std::min<double>(layout.train_tokens, std::max(affordable, 1.0));
    return {true, static_cast<int>(std::max(kStep, static_cast<int64_t>(most) / kStep * kStep))};
  }
  const int64_t needed = RoundUp(std::min<int64_t>(layout.train_tokens, layout.cells));
  const bool fits = static_cast<double>(needed * layout.sequences) <= layout.affordable_cells;
  if (layout.possible && fits && StreamsPay(layout)) {
    return {true, static_cast<int>(needed)};
  }
  return {};
}

}  // namespace hyper::llama

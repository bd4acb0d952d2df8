#include "src/engine/llama/kv/layout.h"

#include <algorithm>

namespace hyper::llama {
namespace {

constexpr int64_t kStep = 256;  // llama.cpp pads a stream's cells to a multiple of it

// The cost model of docs/kv-cost.md. A cell of a path's own buffer costs a row as much
// as so many cells of the shared one, whose products serve all rows at once; and a row has a fixed
// cost beyond that, in cells of the shared buffer. Both fitted to measured speeds.
constexpr double kCostOfOwnCell = 42;
constexpr double kCostOfOwnRow = 2200;

int64_t RoundUp(int64_t cells) { return (cells + kStep - 1) / kStep * kStep; }

// Cells that a row scans in its own buffer, on average: paths end on average at half of what they
// may write, and a path that is being written is half done.
double MeanHistory(const LayoutCase& layout) {
  constexpr double kShare = 0.25;
  return kShare *
         static_cast<double>(std::min<int64_t>(layout.train_tokens, layout.cells / layout.lanes));
}

bool StreamsPay(const LayoutCase& layout) {
  const double own = MeanHistory(layout);
  return layout.lanes * own > kCostOfOwnCell * own + kCostOfOwnRow;
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

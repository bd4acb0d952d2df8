#include "src/decode/cell_account.h"

#include <algorithm>

namespace hyper {

void CellAccount::Open(PathId parent, int inherited, int judge_prompt) {
  const auto id = static_cast<PathId>(holdings_.size());
  if (parent != kNoPath) {
    Of(parent).forks.push_back(id);
  }
  reasoning_ += judge_prompt < 0 ? 1 : 0;
  own_cells_ += std::max(judge_prompt, 0);
  holdings_.push_back({parent, inherited, judge_prompt, true, inherited, {}});
}

void CellAccount::Grow(PathId path, int count) {
  Of(path).tokens += count;
  own_cells_ += count;
}

// A path that has ended holds what its forks share with it. Where that becomes less, so may what
// its parent holds, if that has ended too.
void CellAccount::Close(PathId path) {
  Of(path).open = false;
  reasoning_ -= Of(path).judge_prompt < 0 ? 1 : 0;
  own_cells_ -= std::max(Of(path).judge_prompt, 0);
  while (path != kNoPath && !Of(path).open) {
    Holding& holding = Of(path);
    int shared = 0;
    for (const PathId fork : holding.forks) {
      const Holding& held = Of(fork);
      shared = std::max(shared, held.open ? held.inherited : std::min(held.inherited, held.tokens));
    }
    own_cells_ -= std::max(holding.tokens, holding.inherited) - std::max(shared, holding.inherited);
    holding.tokens = shared;
    path = holding.parent;
  }
}

}  // namespace hyper

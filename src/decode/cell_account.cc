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

// Goes up the tree of forks while a path there holds nothing more.
void CellAccount::Close(PathId path) {
  Of(path).open = false;
  reasoning_ -= Of(path).judge_prompt < 0 ? 1 : 0;
  own_cells_ -= std::max(Of(path).judge_prompt, 0);
  while (!Of(path).open) {
    Holding& holding = Of(path);
    int shared = 0;
    for (const PathId fork : holding.forks) {
      shared = std::max(shared, Of(fork).inherited);
    }
    own_cells_ -= std::max(holding.tokens, holding.inherited) - std::max(shared, holding.inherited);
    holding.tokens = shared;
    if (shared > 0 || holding.parent == kNoPath) {
      return;
    }
    std::erase(Of(holding.parent).forks, path);
    path = holding.parent;
  }
}

}  // namespace hyper

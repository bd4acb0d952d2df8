#include "src/server/scheduler/prompt_cache.h"

#include <algorithm>
#include <iterator>

namespace hyper::server {
namespace {

constexpr int64_t kSpareRows = 64;  // beside a row for each lane and route

int CommonLength(std::span<const Token> a, std::span<const Token> b) {
  return static_cast<int>(
      std::distance(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first));
}

}  // namespace

PromptCache::PromptCache(Engine& engine, int most_lanes)
    : engine_(engine),
      most_lanes_(engine.capabilities().cells_total > 0 ? most_lanes : 0),
      most_cells_(engine.capabilities().cells_total / 2),
      spare_cells_(std::min(engine.capabilities().max_rows + kSpareRows,
                            engine.capabilities().cells_total / 4)) {}

PromptCache::~PromptCache() {
  while (!kept_.empty()) {
    CloseOldest();
  }
}

int PromptCache::Use(std::span<const Token> prompt) {
  auto best = kept_.end();
  int longest = 0;
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    const int common = CommonLength(kept->prompt, prompt);
    if (common > longest) {
      longest = common;
      best = kept;
    }
  }
  if (best == kept_.end()) {
    return 0;
  }
  // A kept lane, too, has computed all but its last token.
  const auto computed = static_cast<int>(std::min(best->prompt.size(), prompt.size())) - 1;
  kept_.splice(kept_.end(), kept_, best);
  return std::min(longest, computed);
}

void PromptCache::Keep(LaneId lane, std::span<const Token> prompt) {
  const auto size = static_cast<int64_t>(prompt.size());
  if (most_lanes_ < 1 || size < 2 || size > most_cells_) {
    return;
  }
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    const int common = CommonLength(kept->prompt, prompt);
    if (common == static_cast<int>(prompt.size())) {
      kept_.splice(kept_.end(), kept_, kept);  // it is there already
      return;
    }
    if (common == static_cast<int>(kept->prompt.size())) {
      engine_.Close(kept->lane);
      kept = kept_.erase(kept);
    } else {
      ++kept;
    }
  }
  while (!kept_.empty() && (lanes() >= most_lanes_ || cells() + size > most_cells_)) {
    CloseOldest();
  }
  LaneSpec spec;
  spec.top_count = 0;
  const Result<LaneId> copy = engine_.Fork(lane, static_cast<int>(prompt.size()), spec);
  if (copy) {  // else all lanes are in use, and there is nothing to keep it in
    kept_.push_back({*copy, {prompt.begin(), prompt.end()}});
  }
}

void PromptCache::MakeRoom(int lanes) {
  const Capabilities& can = engine_.capabilities();
  const EngineCost cost = engine_.cost();
  if (cost.cells_used == 0 && cost.lanes_open == this->lanes()) {
    // Kept lanes without a cell: a model whose state cannot be shared. Nothing is to be gained.
    most_lanes_ = this->lanes() > 0 ? 0 : most_lanes_;
    lanes = can.max_lanes;
  }
  while (!kept_.empty()) {
    const bool lanes_fit = this->lanes() + lanes <= can.max_lanes;
    const bool cells_fit = can.cells_total - engine_.cost().cells_used >= spare_cells_;
    if (lanes_fit && cells_fit) {
      return;
    }
    CloseOldest();
  }
}

int64_t PromptCache::cells() const {
  int64_t cells = 0;
  for (const Kept& kept : kept_) {
    cells += static_cast<int64_t>(kept.prompt.size());
  }
  return cells;
}

void PromptCache::CloseOldest() {
  engine_.Close(kept_.front().lane);
  kept_.pop_front();
}

}  // namespace hyper::server

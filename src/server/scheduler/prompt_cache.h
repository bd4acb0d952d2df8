// The prompts of the last runs, kept as lanes that decode nothing: a later run whose prompt begins
// alike takes their KV over, which engines do for all open lanes. The lanes are the first to go
// where lanes or cells are needed.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "hyper/engine.h"

namespace hyper::server {

// Thread rule: of the thread that owns the engine.
class PromptCache {
 public:
  // Keeps at most `most_lanes` prompts, and of the engine's cells a half at most; none where the
  // engine's cells are elsewhere. `engine` must outlive the cache.
  PromptCache(Engine& engine, int most_lanes);
  ~PromptCache();  // closes all lanes
  PromptCache(const PromptCache&) = delete;
  PromptCache& operator=(const PromptCache&) = delete;

  // Tokens at the front of `prompt` that need not be computed; the lane that has them goes last.
  // The last token of a prompt is always computed: the first new one comes out of it.
  int Use(std::span<const Token> prompt);
  // Keeps the prompt of an open lane that has computed it. Prompts that it begins with go.
  void Keep(LaneId lane, std::span<const Token> prompt);
  // Closes the lanes that were longest unused until `lanes` lanes besides those kept are free or
  // open for runs, and a forward's cells are free.
  void MakeRoom(int lanes);

  int lanes() const { return static_cast<int>(kept_.size()); }
  // Most cells that the kept lanes hold; fewer where their prompts begin alike.
  int64_t cells() const;

 private:
  struct Kept {
    LaneId lane = 0;
    std::vector<Token> prompt;
  };

  void CloseOldest();

  Engine& engine_;
  int most_lanes_;
  const int64_t most_cells_;
  const int64_t spare_cells_;  // that stay free for the next forward
  std::list<Kept> kept_;       // longest unused first
};

}  // namespace hyper::server

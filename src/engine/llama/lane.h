// What the engine keeps of a lane.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hyper/engine.h"
#include "src/engine/llama/grammar.h"
#include "src/engine/llama/router_hook.h"

namespace hyper::llama {

// A lane with n tokens of history holds KV for n - 1 of them at most: the last one is pending, and
// the forward that decodes it gives the logits of the next. Only between two waves of a refinement
// is its KV there already.
struct Lane {
  std::vector<Token> history;
  LaneSpec spec;
  std::optional<RouteSpec> route;
  std::optional<Refinement> refinement;  // of the next token, once its first wave has begun
  int sequence = -1;                     // llama.cpp's id; -1 while no KV is resident
  int computed = 0;  // tokens whose KV existed at some time: more of them is recomputation
  int grant = 0;
  bool ended = false;
  uint64_t turns = 0;                   // see DecodeWish
  int open_scores = 0;                  // score requests that wait for this lane
  std::optional<GrammarState> grammar;  // behind the last token; where spec has one
  int grammar_start = 0;                // the position of its first token
  int recomputed = 0;                   // tokens computed again or moved, not yet told in an event

  int length() const { return static_cast<int>(history.size()); }
  int routes() const { return route ? route->routes : 1; }
};

}  // namespace hyper::llama

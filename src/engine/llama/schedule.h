// Which lanes take a row of the next decoding forward. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hyper/engine.h"

namespace hyper::llama {

// A lane that waits for its next token.
struct DecodeWish {
  LaneId lane = 0;
  int rows = 1;                // routes still to compute, >= 1
  bool between_waves = false;  // some routes are done already
  uint64_t turns = 0;          // rows or waves that it got so far, as its last share said
};

// What a forward can hold.
struct DecodeLimits {
  int rows = 0;             // rows of one forward, >= 1
  int64_t cells = 0;        // free KV cells; each row takes one
  int routes = 0;           // sequence ids for routes other than a lane's first row
  bool equal_parts = true;  // cut a wide pool into forwards of about equal size
};

// Rows that a lane gets.
struct DecodeShare {
  LaneId lane = 0;
  int rows = 0;
  uint64_t turns = 0;  // one more than it had
};

struct DecodePlan {
  std::vector<DecodeShare> shares;
  std::vector<LaneId> stalled;  // lanes that got nothing because cells ran out
};

// Lanes of fewest turns first, then by id; a lane between waves before all others. A lane's
// routes stay together where they fit into one forward; where they cannot, the lane's waves have
// forwards to themselves.
DecodePlan PlanDecode(std::span<const DecodeWish> wishes, const DecodeLimits& limits);

}  // namespace hyper::llama

// Which lanes take a row of the next decoding forward. Pure.
#pragma once

#include <cstdint>
#include <map>
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
  uint32_t owner = 0;          // see LaneSpec
  uint64_t served = 0;         // rows that its owner got so far, as OwnerShares says
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

// Owners take turns by row, the one that was served least first; of an owner's lanes those of
// fewest turns go first, then by id. A lane between waves goes before all others. A lane's routes
// stay together where they fit into one forward; where they cannot, the lane's waves have forwards
// to themselves.
DecodePlan PlanDecode(std::span<const DecodeWish> wishes, const DecodeLimits& limits);

// Rows that each owner got, for equal shares of forwards too narrow for all: start-time fair
// queueing (Goyal et al., 1996) with a row as the unit. Who wished for less than its share, or is
// new, gets no credit for it.
class OwnerShares {
 public:
  // Fills in `served` of each wish. Owners that wish nothing are forgotten.
  void Prepare(std::span<DecodeWish> wishes);
  // Notes what a plan of those wishes gave.
  void Note(std::span<const DecodeWish> wishes, const DecodePlan& plan);

 private:
  std::map<uint32_t, uint64_t> served_;
  uint64_t floor_ = 0;  // fewest rows of an owner that still waits for some
};

}  // namespace hyper::llama

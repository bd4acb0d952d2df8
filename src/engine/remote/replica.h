// One server of several that hold the same model: how full it is and whether it is alive.
#pragma once

#include <span>
#include <string>

#include "src/engine/remote/wire/abilities.h"

namespace hyper::remote {

struct Replica {
  std::string url;  // base, without a trailing slash
  Abilities can;
  bool probed = false;    // `can` is known
  int capacity = 0;       // streams that it decodes at once; 0: as many as come
  int streams = 0;        // open now
  int failures = 0;       // connections in a row that failed
  double dead_until = 0;  // on the engine's clock; it is tried again from then on

  bool Alive(double now) const { return probed && now >= dead_until; }
  bool Full() const { return capacity > 0 && streams >= capacity; }
};

// No replica.
inline constexpr int kNoReplica = -1;

// The replica for a new stream: `preferred` where it is alive and not full, else the one with the
// most free capacity (unknown capacities count as endless; then the one with fewest streams; then
// the first). kNoReplica where all are full or dead. Pure.
int ChooseReplica(std::span<const Replica> replicas, int preferred, double now);

// Notes that a connection failed (the replica is left alone for 1 s, then 2 s, ... 30 s) or that
// it answered.
void NoteFailure(Replica& replica, double now);
void NoteSuccess(Replica& replica);

}  // namespace hyper::remote

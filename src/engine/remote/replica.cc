#include "src/engine/remote/replica.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hyper::remote {
namespace {

constexpr double kLongestWait = 30;

}  // namespace

int ChooseReplica(std::span<const Replica> replicas, int preferred, double now) {
  const auto usable = [now](const Replica& replica) {
    return replica.Alive(now) && !replica.Full();
  };
  if (preferred != kNoReplica && usable(replicas[static_cast<size_t>(preferred)])) {
    return preferred;
  }
  int best = kNoReplica;
  int best_free = -1;
  int best_streams = 0;
  for (size_t i = 0; i < replicas.size(); ++i) {
    const Replica& replica = replicas[i];
    if (!usable(replica)) {
      continue;
    }
    const int free =
        replica.capacity > 0 ? replica.capacity - replica.streams : std::numeric_limits<int>::max();
    if (free > best_free || (free == best_free && replica.streams < best_streams)) {
      best = static_cast<int>(i);
      best_free = free;
      best_streams = replica.streams;
    }
  }
  return best;
}

void NoteFailure(Replica& replica, double now) {
  if (now < replica.dead_until) {
    return;  // one of many streams that broke together
  }
  const int doublings = std::min(replica.failures++, 5);
  replica.dead_until = now + std::min(std::ldexp(1.0, doublings), kLongestWait);
}

void NoteSuccess(Replica& replica) {
  replica.failures = 0;
  replica.dead_until = 0;
}

}  // namespace hyper::remote

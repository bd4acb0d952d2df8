// Replicas of a remote engine that are away, and how they come back.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/engine/remote/remote_engine.h"

namespace hyper::remote {

void RemoteEngine::NoteUnreachable(int replica, const std::string& error, Time now) {
  Replica& away = replicas_[static_cast<size_t>(replica)];
  NoteFailure(away, now);
  Notice("dead " + away.url,
         fmt::format("{} does not answer ({}); its lanes continue elsewhere or later", away.url,
                     error));
}

// Replicas that were away when the engine was made are asked again when their time comes. Nothing
// waits for their answers: a host may take a connection and never say a word.
void RemoteEngine::ReviveReplicas(Time now) {
  for (size_t i = 0; i < replicas_.size(); ++i) {
    Replica& replica = replicas_[i];
    if (replica.probed || now < replica.dead_until) {
      continue;
    }
    std::unique_ptr<Revival>& revival = revivals_[i];
    if (revival == nullptr) {
      revival = std::make_unique<Revival>(*loop_, replica.url);
    }
    if (!revival->done()) {
      continue;
    }
    const Result<Abilities> found = revival->Found(can());
    revivals_.erase(i);
    if (found) {
      replica.can = *found;
      replica.capacity = found->slots;
      replica.probed = true;
      NoteSuccess(replica);
      continue;
    }
    NoteFailure(replica, now);
    if (found.error().code != ErrorCode::kUnavailable) {
      Notice("unlike " + replica.url, found.error().message + "; it is left out");
    }
  }
}

// While no replica is alive, queued lanes wait until the first of them may be back.
void RemoteEngine::CheckAllDead(Time now) {
  if (queue_.empty() || std::any_of(replicas_.begin(), replicas_.end(),
                                    [now](const Replica& r) { return r.Alive(now); })) {
    return;
  }
  constexpr double kLeastWait = 0.1;  // one that is being asked may be back at any time
  Time back = replicas_.front().dead_until;
  for (const Replica& replica : replicas_) {
    back = std::min(back, replica.dead_until);
  }
  for (const auto& [advance, id] : std::exchange(queue_, {})) {
    if (Find(id) != nullptr) {
      delayed_.emplace(std::max(back, now + kLeastWait), id);
    }
  }
}

}  // namespace hyper::remote

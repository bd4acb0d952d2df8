#include "src/decode/methods/momentum_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "hyper/equal.h"
#include "src/core/stopping.h"

namespace hyper {

MomentumPaths::Standing MomentumPaths::StandingOf(const Pool& pool) {
  std::vector<std::string> answers;
  std::vector<PathId> ids;  // of those that have one: finished paths first, in their order
  for (const bool running : {false, true}) {
    for (const Path& path : pool.paths()) {
      if (path.kind != PathKind::kReasoning || path.running() != running ||
          (!running && !CameToItsEnd(path.status))) {
        continue;
      }
      const std::string now =
          running ? (path.probed.empty() ? "" : path.probed.back()) : path.answer;
      if (!now.empty()) {
        answers.push_back(now);
        ids.push_back(path.id);
      }
    }
  }
  Standing standing;
  const std::vector<int> groups = GroupAnswers(answers);
  std::vector<int> votes(answers.size());
  for (size_t i = 0; i < ids.size() && !pool.path(ids[i]).running(); ++i) {
    ++standing.finished;
    ++votes[static_cast<size_t>(groups[i])];
  }
  const auto most = std::max_element(votes.begin(), votes.end());
  standing.has_winner = standing.finished > 0;
  const int winner = static_cast<int>(most - votes.begin());
  standing.agrees.resize(pool.paths().size());
  standing.differs.resize(pool.paths().size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool same = standing.has_winner && groups[i] == winner;
    standing.agrees[static_cast<size_t>(ids[i])] = same;
    standing.differs[static_cast<size_t>(ids[i])] = !same;
  }
  if (standing.has_winner) {
    const int first = std::exchange(*most, 0);
    standing.confidence = LeaderPosterior(first, *std::max_element(votes.begin(), votes.end()));
  }
  return standing;
}

int MomentumPaths::Next(Pool& /*pool*/) {
  return opened() == 0 ? std::min(rules_.first_paths, options().width) : 0;
}

Status MomentumPaths::Proceed(Pool& pool) {
  const int step = options().probe_interval;
  Status status = pool.GrantAll(step);
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    const bool agrees = static_cast<size_t>(id) < agrees_.size() && agrees_[id];
    const bool late = in_round_ && pool.path(id).length() == 0;
    const int more = late ? 1 : agrees ? rules_.burst - 1 : 0;
    if (status && more > 0) {
      status = pool.Grant(id, more * step);
    }
  }
  return status;
}

// The paths that have differed longest are pruned, as long as two others run.
void MomentumPaths::Drop(Pool& pool, const Standing& standing) {
  apart_.resize(pool.paths().size());
  heard_.resize(pool.paths().size());
  std::vector<PathId> apart;
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    const auto i = static_cast<size_t>(id);
    if (std::exchange(heard_[i], pool.path(id).probed.size()) == pool.path(id).probed.size()) {
      continue;  // opened in this round, or not asked: lanes are few
    }
    apart_[i] = standing.differs[i] ? apart_[i] + 1 : 0;
    if (apart_[i] >= rules_.patience) {
      apart.push_back(id);
    }
  }
  std::stable_sort(apart.begin(), apart.end(),
                   [this](PathId a, PathId b) { return apart_[a] > apart_[b]; });
  const size_t most = ids.size() > 2 ? ids.size() - 2 : 0;
  apart.resize(std::min(apart.size(), most));
  for (const PathId id : apart) {
    pool.Finish(id, PathStatus::kPruned, "its probes differ from the majority");
  }
}

void MomentumPaths::OnProbed(Pool& pool) {
  const Standing standing = StandingOf(pool);
  if (std::exchange(in_round_, true)) {
    const MomentumStep step =
        EndMomentumRound(standing.confidence, standing.finished, rules_, state_);
    if (step.stop) {
      pool.Emit(
          NoticeRecord{fmt::format("the confidence in the majority has been {:.3f}: the run "
                                   "ends in round {}",
                                   state_.mean, state_.round)});
      pool.CancelAll("the majority is likely");
      return;
    }
    const int free = std::min(rules_.most_paths, options().width) - opened();
    if (step.widen && free > 0) {
      if (Status status = Open(pool, std::min(free, rules_.opened)); !status) {
        pool.Emit(NoticeRecord{"no further path: " + status.error().message});
      }
    }
  }
  BeginMomentumRound(standing.confidence, rules_, state_);
  const bool warm = state_.round >= rules_.warmup && standing.has_winner;
  agrees_ = warm ? standing.agrees : std::vector<bool>();
  if (warm) {
    Drop(pool, standing);
  }
}

bool MomentumPaths::Done(const Pool& pool) const { return pool.running().empty() && opened() > 0; }

bool MomentumPaths::Votes(const Pool& pool, const Path& path) const {
  const bool any = std::any_of(pool.paths().begin(), pool.paths().end(), [&](const Path& other) {
    return CameToItsEnd(other.status) && SelfConsistency::Votes(pool, other) &&
           !other.answer.empty();
  });
  return SelfConsistency::Votes(pool, path) &&
         (any ? CameToItsEnd(path.status) : path.status != PathStatus::kPruned);
}

}  // namespace hyper

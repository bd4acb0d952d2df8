#include "src/decode/methods/deepconf.h"

#include <vector>

#include "src/decode/ballot.h"
#include "src/decode/methods/warmup.h"

namespace hyper {

Status DeepConf::Start(Pool& pool) {
  Status status = OpenPaths(pool, 0, WarmupCount(options_), /*warmup=*/true);
  return status ? pool.GrantAll(options_.interval) : status;
}

Status DeepConf::OnSettled(Pool& pool) {
  if (in_warmup_ && WarmupOver(pool)) {
    return EndWarmup(pool);
  }
  return pool.GrantAll(options_.interval);
}

Status DeepConf::EndWarmup(Pool& pool) {
  in_warmup_ = false;
  const WarmupRecord settled = SettleWarmup(pool);
  if (!settled.has_threshold) {
    return InvalidArgument(
        "--threshold is off, but deepconf stops paths by it; use top:n or percentile:q");
  }
  pool.Emit(settled);
  if (Consensus(pool)) {
    pool.Emit(NoticeRecord{"the warm-up already agrees: no further paths"});
    pool.CancelAll("consensus reached");
    return {};
  }
  pool.BeginPhase();
  Status status = OpenPaths(pool, static_cast<uint64_t>(WarmupCount(options_)), PoolWidth(options_),
                            /*warmup=*/false);
  return status ? pool.GrantAll(options_.interval) : status;
}

// beta = V(best) / sum of V over the answers so far, weighted by lowest window. All of the warm-up
// counts here, below the threshold too, as in the paper's algorithm: with DeepConf-low two paths of
// sixteen are above it, and two that agree by chance would end every run.
bool DeepConf::Consensus(const Pool& pool) const {
  if (options_.consensus <= 0) {
    return false;
  }
  std::vector<Voter> voters;
  for (const Path& path : pool.paths()) {
    if (Method::Votes(pool, path) && path.status != PathStatus::kPruned) {
      voters.push_back({&path, Path::kUnknown, true});
    }
  }
  const VoteOutcome vote = AllVotes(voters, options_).at("deepconf");
  return !vote.scores.empty() && vote.scores.front().share >= options_.consensus;
}

void DeepConf::OnToken(Pool& pool, PathId path) {
  if (!in_warmup_ && pool.path(path).status == PathStatus::kFinished && Consensus(pool)) {
    pool.CancelAll("consensus reached");
  }
}

bool DeepConf::Done(const Pool& pool) const { return !in_warmup_ && pool.running().empty(); }

// Where the threshold says who votes, nobody has before it is set.
std::optional<Outlook> DeepConf::Ahead(const Pool& /*pool*/) const {
  if (in_warmup_ && !all_vote_) {
    return std::nullopt;
  }
  return Outlook{in_warmup_ ? PoolWidth(options_) : 0, /*complete=*/true};
}

bool DeepConf::Votes(const Pool& pool, const Path& path) const {
  if (!Method::Votes(pool, path) || all_vote_) {
    return Method::Votes(pool, path);
  }
  // A path that was ever below the threshold does not vote; one shorter than the window is judged
  // by its whole mean, as the released code does.
  return path.status != PathStatus::kPruned && path.status != PathStatus::kCancelled &&
         (!pool.threshold() || path.lowest_window >= *pool.threshold());
}

}  // namespace hyper

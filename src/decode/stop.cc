#include "src/decode/stop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "hyper/equal.h"
#include "src/core/random.h"
#include "src/core/stopping.h"
#include "src/decode/ballot.h"
#include "src/decode/session_pool.h"

namespace hyper {
namespace {

// The paths that a stop would spare.
struct Spared {
  int running = 0;
  int unopened = 0;
  int64_t tokens = 0;
  int of = 0;  // paths
};

// A path is taken to end at the mean length that the paths so far make likely, those that still run
// counted in as a length distribution without memory has it: all tokens over the ends.
Spared SparedOf(const Pool& pool, int unopened) {
  Spared spared{0, unopened, 0, unopened};
  int64_t all_tokens = 0;
  int ended = 0;
  for (const Path& path : pool.paths()) {
    if (path.kind != PathKind::kReasoning) {
      continue;
    }
    ++spared.of;
    all_tokens += path.length() - path.fork_position;
    ended += CameToItsEnd(path.status) ? 1 : 0;
  }
  const double usual = ended > 0 ? static_cast<double>(all_tokens) / ended : 0.0;
  double tokens = usual * unopened;
  for (const PathId id : pool.running()) {
    const Path& path = pool.path(id);
    if (path.kind == PathKind::kReasoning) {
      ++spared.running;
      tokens += std::max(0.0, usual - path.length());
    }
  }
  spared.tokens = std::llround(tokens);
  return spared;
}

bool IsSure(const VoteResult& vote, VoteRule rule, ConfidenceSignal signal, int coming) {
  const std::optional<double> most = MostWeight(rule, signal);
  // A clipped confidence grows with the largest one that comes; a majority reads none.
  if (!most || (rule != VoteRule::kMajority && !vote.clipped.empty())) {
    return false;
  }
  const double second = vote.scores.size() > 1 ? vote.scores[1].score : 0;
  return IsSureLead(vote.scores[0].score - second, coming, *most);
}

// Whether `winner` would win too if the running paths ended with what their last probes answered.
bool ProbesAgree(const Method& method, const Pool& pool, VoteRule rule, const std::string& winner) {
  std::vector<Voter> voters = VotersOf(method, pool);
  const size_t ended = voters.size();
  for (const PathId id : pool.running()) {
    const Path& path = pool.path(id);
    if (!path.probed.empty() && !path.probed.back().empty()) {
      voters.push_back({&path, method.Weight(pool, path), /*votes=*/true, /*probed=*/true});
    }
  }
  if (voters.size() == ended) {
    return true;
  }
  const Ballots all = BallotsOf(voters);
  const VoteResult vote = CountVotes(all.ballots, all.answers, rule, pool.options().vote);
  return AnswersEqual(winner, all.answers[static_cast<size_t>(vote.winner)]).verdict ==
         Verdict::kEqual;
}

}  // namespace

std::optional<StopRecord> DecidedStop(const Method& method, const Pool& pool) {
  const StopRule& stop = pool.options().stop;
  if (stop.kind == StopRule::Kind::kNever) {
    return std::nullopt;
  }
  const std::optional<Outlook> ahead = method.Ahead(pool);
  const std::optional<VoteRule> rule = ValueOf<VoteRule>(method.VoteRule(pool));
  if (!ahead || !rule || !CanStop(*rule)) {
    return std::nullopt;
  }
  const Spared spared = SparedOf(pool, ahead->unopened);
  const int coming = spared.running + spared.unopened;
  const Ballots all = BallotsOf(VotersOf(method, pool));
  const VoteResult vote = CountVotes(all.ballots, all.answers, *rule, pool.options().vote);
  if (coming == 0 || vote.winner < 0) {
    return std::nullopt;
  }
  StopRecord record{all.answers[static_cast<size_t>(vote.winner)],
                    1,
                    "sure",
                    vote.ballots,
                    spared.of,
                    spared.running,
                    spared.unopened,
                    spared.tokens};
  if (ahead->complete && IsSure(vote, *rule, pool.options().confidence, coming)) {
    return record;
  }
  if (stop.kind == StopRule::Kind::kSure) {
    return std::nullopt;
  }
  if (*rule == VoteRule::kMajority) {
    record.basis = "beta";
    record.posterior =
        LeaderPosterior(vote.scores[0].paths, vote.scores.size() > 1 ? vote.scores[1].paths : 0);
  } else {
    UrnSpec urn;
    urn.key = PathKey({pool.config().seed.run_seed, pool.config().seed.question}, 0);
    urn.step = static_cast<uint32_t>(vote.ballots);
    urn.at_least = stop.posterior;
    record.basis = "urn";
    record.posterior =
        UrnPosterior(all.ballots, all.answers, *rule, pool.options().vote, coming, urn);
  }
  if (record.posterior < stop.posterior || !ProbesAgree(method, pool, *rule, record.answer)) {
    return std::nullopt;
  }
  return record;
}

std::string StopText(const StopRecord& stop) {
  // An urn may draw the same winner every time and still not be sure. Rounded down.
  const std::string how = stop.basis == "sure" ? "for sure"
                          : stop.posterior >= 1
                              ? "in every draw"
                              : fmt::format("at {:.3g}", std::floor(1000 * stop.posterior) / 1000);
  return fmt::format("decided {}; {} of {} paths {}", how, stop.cancelled + stop.unopened,
                     stop.paths, stop.unopened > 0 ? "cancelled or not opened" : "cancelled");
}

void SessionPool::EndDecided(StopRecord stop) {
  decided_ = true;
  ledger_.saved = stop.saved;
  Emit(std::move(stop));
  CancelAll("decided");
}

}  // namespace hyper

#include "src/decode/methods/hyper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/controller.h"
#include "src/core/stopping.h"
#include "src/decode/methods/warmup.h"
#include "src/decode/statistics.h"

namespace hyper {

// Algorithm 1 of the paper (App. B), with the line numbers of its listing. What a line means for
// every single token is the pool's: GrantAll decodes up to the next decision (lines 11, 13), and
// SessionPool::Take updates the sliding windows, prunes and ends paths (line 19). The vote (lines
// 21, 22) is Session::Result.

// The options are valid, so the table is one.
HyperMethod::HyperMethod(const MethodOptions& options)
    : options_(options),
      values_(ParseActionValues(options.action_values).value_or(ActionValues())),
      expansion_(options) {}

Status HyperMethod::Start(Pool& pool) {  // 1: warm-up, decoded as self-consistency does
  NoteMissingRoutes(pool);
  Status status = OpenPaths(pool, 0, WarmupCount(options_), /*warmup=*/true);
  return status ? pool.GrantAll(options_.interval) : status;
}

Status HyperMethod::EndWarmup(Pool& pool) {  // 1: the threshold, X_max and the initial pool
  in_warmup_ = false;
  WarmupRecord warmup = SettleWarmup(pool);
  maxima_ = warmup.maxima;
  expansion_.SetUsualLength(MedianLength(pool));
  pool.Emit(std::move(warmup));
  return OpenWave(pool);
}

// 1: the initial pool, or with --launch waves or one a part of it, whose paths are then S_max.
Status HyperMethod::OpenWave(Pool& pool) {
  pool.BeginPhase();
  tokens_to_decision_ = 0;
  const int before = WarmupCount(options_) + opened_;
  wave_ = NextWave(options_.launch, before, WarmupCount(options_) + PoolWidth(options_));
  opened_ += wave_;
  Status status = OpenPaths(pool, static_cast<uint64_t>(before), wave_, /*warmup=*/false);
  return status ? pool.GrantAll(1) : status;
}

Status HyperMethod::OnSettled(Pool& pool) {  // 2: for t = 1, 2, ..., in rounds of several tokens
  if (in_warmup_) {
    return WarmupOver(pool) ? EndWarmup(pool) : pool.GrantAll(options_.interval);
  }
  expansion_.Merge(pool);        // 17: what a MultiToken expansion has decoded merges back
  if (pool.running().empty()) {  // 3: S_t is empty
    return opened_ < PoolWidth(options_) ? OpenWave(pool) : Status();
  }
  if (DecisionDue(pool)) {                                    // 5: t mod T = 1
    DecisionRecord decision = Read(pool);                     // 6: statistics of the pool
    decision.action = Decide(pool, decision);                 // 7: argmax of the scores
    Status status = expansion_.Apply(pool, decision, wave_);  // 9 to 18: apply it to the pool
    if (!status) {
      return status;
    }
    pool.Emit(std::move(decision));
    tokens_to_decision_ = options_.interval;
  }
  return DecodeOn(pool);  // 11, 13, 19: up to the next merge or decision
}

bool HyperMethod::DecisionDue(const Pool& pool) const {  // 5
  return tokens_to_decision_ == 0 && !ActivePaths(pool).empty();
}

Status HyperMethod::DecodeOn(Pool& pool) {
  if (ActivePaths(pool).empty()) {  // what is left of the warm-up runs to its end
    return pool.GrantAll(options_.interval);
  }
  const int tokens = std::min(expansion_.TokensToMerge(), tokens_to_decision_);
  tokens_to_decision_ -= tokens;
  return pool.GrantAll(tokens);
}

bool HyperMethod::Done(const Pool& pool) const {  // 3
  return !in_warmup_ && pool.running().empty() && !expansion_.open() &&
         opened_ >= PoolWidth(options_);
}

DecisionRecord HyperMethod::Read(const Pool& pool) {  // 6
  DecisionRecord decision;
  decision.step = step_++;
  const std::vector<PathId> active = ActivePaths(pool);
  for (const PathId id : active) {
    decision.position = std::max(decision.position, pool.path(id).length());
  }
  decision.paths_before = static_cast<int>(active.size());
  decision.expansion = ExpansionFactor(wave_, decision.paths_before);
  decision.raw = StatisticsOf(pool);
  decision.readings = ReadingsOf(pool);
  decision.normalised = Normalise(decision.raw, maxima_);
  decision.scores = ScoreActions(decision.normalised);
  decision.allowed = options_.actions;
  if (!pool.capabilities().routing) {
    decision.allowed = decision.allowed.Without(Action::kSingleToken);
  }
  return decision;
}

Action HyperMethod::Decide(const Pool& pool, const DecisionRecord& decision) const {  // 7
  const int forced = options_.force_decision;
  if (forced < 0 || decision.step < forced) {
    return Choose(pool, decision);
  }
  const bool take = decision.step == forced && decision.allowed.Has(options_.force_action);
  return take ? options_.force_action : Action::kNone;
}

Action HyperMethod::Choose(const Pool& /*pool*/, const DecisionRecord& decision) const {  // 7
  if (options_.controller == ControllerRule::kValue) {
    return ChooseByValue(values_, decision.normalised, decision.allowed);
  }
  return ChooseAction(decision.scores, decision.allowed);
}

bool HyperMethod::Votes(const Pool& pool, const Path& path) const {  // 21: who votes
  return Method::Votes(pool, path) && (options_.vote_warmup || !path.warmup) &&
         (options_.vote_clones || !IsClone(pool, path));
}

// While an expansion is open, some of its paths may still lose their votes. Branches are paths that
// nobody can foretell.
std::optional<Outlook> HyperMethod::Ahead(const Pool& /*pool*/) const {
  if (expansion_.open()) {
    return std::nullopt;
  }
  const bool spawns = options_.actions.Has(Action::kBranch) ||
                      (options_.keep_finished && options_.actions.Has(Action::kMultiToken));
  return Outlook{PoolWidth(options_) - opened_, !spawns && options_.vote_clones};
}

// A fork with hardly a token of its own, beside the path that it was forked from.
bool HyperMethod::IsClone(const Pool& pool, const Path& path) const {
  return path.parent != kNoPath && path.length() - path.fork_position < options_.interval &&
         Method::Votes(pool, path) && Method::Votes(pool, pool.path(path.parent));
}

void HyperMethod::OnToken(Pool& pool, PathId id) {
  const Path& path = pool.path(id);
  if (clones_told_ || path.running() || !IsClone(pool, path)) {
    return;
  }
  clones_told_ = true;
  pool.Emit(NoticeRecord{fmt::format(
      "path {} ended {} tokens after it was forked from path {}: nearly a copy of it, {}", id,
      path.length() - path.fork_position, path.parent,
      options_.vote_clones ? "with a vote of its own" : "so that only one of them votes")});
}

// The continuations of an expansion are judged at once, so that one of each root stays.
void HyperMethod::OnShortage(Pool& pool) { expansion_.Merge(pool); }

}  // namespace hyper

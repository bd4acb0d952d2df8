#include "src/decode/methods/hyper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/core/confidence.h"
#include "src/core/controller.h"
#include "src/decode/methods/warmup.h"
#include "src/decode/names.h"
#include "src/decode/statistics.h"

namespace hyper {
namespace {

// Running paths, the most confident (by window mean) first; ties by lower id.
std::vector<PathId> ByConfidence(const Pool& pool) {
  std::vector<PathId> ids = pool.running();
  std::stable_sort(ids.begin(), ids.end(), [&pool](PathId a, PathId b) {
    return Sureness(pool.path(a)) > Sureness(pool.path(b));
  });
  return ids;
}

// Mean confidence of the tokens from number `start` on; 0 where none is known.
double MeanSince(const Path& path, int start) {
  const std::vector<double> since(path.confidences.begin() + start, path.confidences.end());
  const double mean = TraceConfidence(since);
  return std::isnan(mean) ? 0.0 : mean;
}

MaxStatistics MaximaOf(const WarmupRecord& warmup) {
  const auto convert = [](const WarmupRecord::Maximum& maximum) {
    return Maximum{maximum.value, maximum.position, static_cast<size_t>(maximum.paths)};
  };
  return {convert(warmup.confidence), convert(warmup.entropy), convert(warmup.diversity),
          convert(warmup.variance)};
}

void AddNote(DecisionRecord& decision, const std::string& note) {
  decision.note += decision.note.empty() ? note : "; " + note;
}

}  // namespace

Status HyperMethod::Start(Pool& pool) {
  const bool refines = options_.actions.Has(Action::kSingleToken);
  if (refines && pool.model().expert_count > 1 && !pool.capabilities().routing) {
    pool.Emit(NoticeRecord{"SingleToken is off: " + pool.capabilities().no_routing});
  }
  Status status = OpenPaths(pool, 0, WarmupCount(options_), /*warmup=*/true);
  return status ? pool.GrantAll(options_.interval) : status;
}

Status HyperMethod::OnSettled(Pool& pool) {
  if (in_warmup_) {
    return pool.running().empty() ? EndWarmup(pool) : pool.GrantAll(options_.interval);
  }
  MergeFamilies(pool);
  if (tokens_to_decision_ > 0) {
    return pool.GrantAll(std::exchange(tokens_to_decision_, 0));
  }
  return Decide(pool);
}

// The continuations of an expansion are judged at once, so that one of each root stays.
void HyperMethod::OnShortage(Pool& pool) { MergeFamilies(pool); }

bool HyperMethod::Done(const Pool& pool) const { return !in_warmup_ && pool.running().empty(); }

Status HyperMethod::EndWarmup(Pool& pool) {
  in_warmup_ = false;
  Result<WarmupRecord> settled = SettleWarmup(pool);
  if (!settled) {
    return settled.error();
  }
  warmup_ = *settled;
  pool.Emit(warmup_);
  pool.BeginPhase();
  Status status = OpenPaths(pool, static_cast<uint64_t>(WarmupCount(options_)), PoolWidth(options_),
                            /*warmup=*/false);
  return status ? pool.GrantAll(1) : status;
}

// One decision of Algorithm 1: statistics, scores, action, and the grant up to the next decision.
Status HyperMethod::Decide(Pool& pool) {
  DecisionRecord decision;
  decision.step = step_++;
  decision.position = pool.position();
  decision.paths_before = static_cast<int>(pool.running().size());
  decision.raw = pool.Statistics(last_decision_);
  last_decision_ = decision.position;
  const NormalisedStatistics normalised = Normalise(ToCore(decision.raw), MaximaOf(warmup_));
  decision.normalised = ToRecord(normalised, decision.raw);
  decision.scores = ScoreActions(normalised);
  for (size_t i = 0; i < kActionCount; ++i) {
    decision.allowed[i] = options_.actions.Has(static_cast<Action>(i));
  }
  if (!pool.capabilities().routing) {
    decision.allowed[static_cast<size_t>(Action::kSingleToken)] = false;
  }
  decision.action = Choose(pool, decision);
  decision.expansion = ExpansionFactor(PoolWidth(options_), decision.paths_before);
  tokens_to_decision_ = options_.interval;
  Status status = Apply(pool, decision);
  if (!status) {
    return status;
  }
  pool.Emit(decision);
  int grant = tokens_to_decision_;
  if (!families_.empty()) {
    grant = std::min(HorizonTokens(options_), tokens_to_decision_);
  }
  tokens_to_decision_ -= grant;
  return pool.GrantAll(grant);
}

Action HyperMethod::Choose(const Pool& /*pool*/, const DecisionRecord& decision) const {
  ActionSet allowed;
  for (size_t i = 0; i < kActionCount; ++i) {
    allowed = decision.allowed[i] ? allowed.With(static_cast<Action>(i)) : allowed;
  }
  return ChooseAction(decision.scores, allowed);
}

Status HyperMethod::Apply(Pool& pool, DecisionRecord& decision) {
  decision.paths_after = decision.paths_before;
  decision.lanes_after = decision.paths_before;
  if (decision.action == Action::kNone) {
    return PlainRouting(pool);
  }
  if (decision.expansion <= 1) {
    AddNote(decision, "r_t is 1: nothing to expand");
    return PlainRouting(pool);
  }
  if (!pool.may_expand()) {
    AddNote(decision, "KV cells are short: expansion has stopped");
    return PlainRouting(pool);
  }
  if (decision.action == Action::kSingleToken) {
    return ApplySingleToken(pool, decision);
  }
  Status status = PlainRouting(pool);
  if (!status) {
    return status;
  }
  if (decision.action == Action::kMultiToken) {
    ApplyMultiToken(pool, decision);
  } else {
    ApplyBranch(pool, decision);
  }
  return {};
}

Status HyperMethod::PlainRouting(Pool& pool) {
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    Status status = pool.SetRoutes(id, 1);
    if (!status) {
      return status;
    }
  }
  return {};
}

Status HyperMethod::ApplySingleToken(Pool& pool, DecisionRecord& decision) {
  // A route needs a lane, and a cell of its own while its token is computed.
  const int64_t cells = pool.FreeCells() - int64_t{decision.paths_before} * options_.interval;
  auto free = static_cast<int>(
      std::clamp<int64_t>(cells, 0, std::max(0, pool.reservation().lanes - decision.paths_before)));
  const int extra = decision.expansion - 1;
  int plain = 0;
  for (const PathId id : ByConfidence(pool)) {
    const bool fits = extra <= free;
    Status status = pool.SetRoutes(id, fits ? decision.expansion : 1);
    if (!status) {
      return status;
    }
    free -= fits ? extra : 0;
    decision.lanes_after += fits ? extra : 0;
    plain += fits ? 0 : 1;
  }
  if (plain > 0) {
    AddNote(decision, "no lanes or cells left to refine the " + std::to_string(plain) +
                          " least confident paths");
  }
  return {};
}

void HyperMethod::ApplyMultiToken(Pool& pool, DecisionRecord& decision) {
  families_ = ForkRoots(pool, decision, pool.FreeLanes(HorizonTokens(options_)),
                        "continuations: no more lanes or cells");
}

void HyperMethod::ApplyBranch(Pool& pool, DecisionRecord& decision) {
  const int free =
      std::min(pool.FreeLanes(options_.interval), options_.width - decision.paths_before);
  ForkRoots(pool, decision, free, "branches: width, lanes or cells reached");
  decision.paths_after = decision.lanes_after;
}

std::vector<HyperMethod::Family> HyperMethod::ForkRoots(Pool& pool, DecisionRecord& decision,
                                                        int free, const char* shortage) {
  const int wanted = (decision.expansion - 1) * decision.paths_before;
  int opened = 0;
  std::vector<Family> families;
  for (const PathId root : ByConfidence(pool)) {
    Family family{{root}, pool.path(root).length()};
    for (int child = 1; child < decision.expansion && free > 0; ++child, --free) {
      Result<PathId> forked = pool.Fork(root, decision.step, child);
      if (!forked) {
        AddNote(decision, forked.error().message);
        free = 0;
        break;
      }
      family.members.push_back(*forked);
      ++opened;
    }
    if (family.members.size() > 1) {
      families.push_back(std::move(family));
    }
  }
  decision.lanes_after += opened;
  if (opened < wanted) {
    AddNote(decision,
            "opened " + std::to_string(opened) + " of " + std::to_string(wanted) + " " + shortage);
  }
  return families;
}

// Keeps of each family the continuation with the highest mean confidence since the expansion. One
// that ended stays a finished path whatever its rank; the running rest is closed and never votes.
void HyperMethod::MergeFamilies(Pool& pool) {
  for (const Family& family : families_) {
    PathId best = kNoPath;
    double best_confidence = 0;
    for (const PathId id : family.members) {
      const Path& path = pool.path(id);
      const bool counts = path.running() || path.status == PathStatus::kFinished ||
                          path.status == PathStatus::kLength;
      const double confidence = MeanSince(path, family.start);
      if (counts && (best == kNoPath || confidence > best_confidence)) {
        best = id;
        best_confidence = confidence;
      }
    }
    for (const PathId id : family.members) {
      if (id != best && pool.path(id).running()) {
        pool.Finish(id, PathStatus::kMerged,
                    "path " + std::to_string(best) + " was surer over the expansion", best);
      }
    }
  }
  families_.clear();
}

}  // namespace hyper

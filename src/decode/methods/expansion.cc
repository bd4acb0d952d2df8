#include "src/decode/methods/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/core/signal.h"
#include "src/decode/statistics.h"

namespace hyper {
namespace {

// Active paths, the most confident (by window mean) first; ties by lower id.
std::vector<PathId> ByConfidence(const Pool& pool) {
  std::vector<PathId> ids = ActivePaths(pool);
  std::stable_sort(ids.begin(), ids.end(), [&pool](PathId a, PathId b) {
    return Sureness(pool.path(a)) > Sureness(pool.path(b));
  });
  return ids;
}

// Mean confidence of the tokens from number `start` on; 0 where none is known.
double MeanSince(const Pool& pool, PathId id, int start) {
  const Path& path = pool.path(id);
  const std::vector<double> since(path.confidences.begin() + start, path.confidences.end());
  const double mean = TraceConfidence(since, MeanOf(pool.options().confidence));
  return std::isnan(mean) ? 0.0 : mean;
}

void AddNote(DecisionRecord& decision, const std::string& note) {
  decision.note += decision.note.empty() ? note : "; " + note;
}

Status PlainRouting(Pool& pool) {
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    Status status = pool.SetRoutes(id, 1);
    if (!status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Status Expansion::Apply(Pool& pool, DecisionRecord& decision, int most_paths) {
  decision.paths_after = decision.paths_before;
  decision.lanes_after = decision.paths_before;
  Action action = decision.action;
  if (action != Action::kNone && decision.expansion <= 1) {
    AddNote(decision, "r_t is 1: nothing to expand");
    action = Action::kNone;
  } else if (action != Action::kNone && !pool.may_expand()) {
    AddNote(decision, "KV cells are short: expansion has stopped");
    action = Action::kNone;
  }
  Status status = action == Action::kSingleToken ? Refine(pool, decision) : PlainRouting(pool);
  if (!status) {
    return status;
  }
  if (action == Action::kMultiToken) {
    const int tokens = HorizonTokens(options_);
    families_ = Fork(pool, decision, pool.FreeLanes(tokens), tokens,
                     "continuations: no more lanes or cells");
  } else if (action == Action::kBranch) {
    const int tokens = options_.interval;
    const int free = std::min(pool.FreeLanes(tokens), most_paths - decision.paths_before);
    Fork(pool, decision, free, tokens, "branches: width, lanes or cells reached");
    decision.paths_after = decision.lanes_after;
  }
  decision.acted = decision.lanes_after > decision.paths_before;
  return {};
}

// SingleToken: K = r_t routes for every active path. Routes are rows of a forward, not paths: the
// engine takes several forwards where they do not fit one. Each needs a cell while its token is
// computed; where cells are short, the least confident paths keep theirs longest.
Status Expansion::Refine(Pool& pool, DecisionRecord& decision) const {
  int64_t free = pool.FreeCells() - int64_t{decision.paths_before} * options_.interval;
  const int extra = decision.expansion - 1;
  int plain = 0;
  std::vector<PathId> ids = ByConfidence(pool);
  std::reverse(ids.begin(), ids.end());
  for (const PathId id : ids) {
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
    AddNote(decision, fmt::format("no cells left to refine the {} most confident paths", plain));
  }
  return {};
}

// The paths to fork, the most confident first.
std::vector<PathId> Expansion::Roots(const Pool& pool, DecisionRecord& decision, int cost) const {
  std::vector<PathId> roots = ByConfidence(pool);
  if (options_.late_expansion) {
    return roots;
  }
  const double end = usual_length_ > 0 ? std::min<double>(usual_length_, options_.max_tokens)
                                       : options_.max_tokens;
  const auto late =
      std::erase_if(roots, [&](PathId id) { return end - pool.path(id).length() < cost; });
  if (late > 0) {
    AddNote(decision, fmt::format("{} paths have fewer than {} tokens left, by the usual length "
                                  "of {:.0f}, and are not expanded",
                                  late, cost, end));
  }
  return roots;
}

std::vector<Expansion::Family> Expansion::Fork(Pool& pool, DecisionRecord& decision, int free,
                                               int cost, const char* what) const {
  const std::vector<PathId> roots = Roots(pool, decision, cost);
  const int wanted = (decision.expansion - 1) * static_cast<int>(roots.size());
  int opened = 0;
  std::vector<Family> families;
  for (const PathId root : roots) {
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
    AddNote(decision, fmt::format("opened {} of {} {}", opened, wanted, what));
  }
  return families;
}

int Expansion::TokensToMerge() const {
  return families_.empty() ? std::numeric_limits<int>::max() : HorizonTokens(options_);
}

void Expansion::Merge(Pool& pool) {
  for (const Family& family : std::exchange(families_, {})) {
    MergeFamily(pool, family);
  }
}

void Expansion::MergeFamily(Pool& pool, const Family& family) const {
  PathId best = kNoPath;
  double best_confidence = 0;
  for (const PathId id : family.members) {
    const Path& path = pool.path(id);
    const bool counts = path.running() || CameToItsEnd(path.status);
    const double confidence = MeanSince(pool, id, family.start);
    if (counts && (best == kNoPath || confidence > best_confidence)) {
      best = id;
      best_confidence = confidence;
    }
  }
  for (const PathId id : family.members) {
    const Path& path = pool.path(id);
    if (id == best || best == kNoPath) {
      continue;
    }
    const std::string reason = fmt::format("path {} was surer over the expansion", best);
    if (path.running()) {
      pool.Finish(id, PathStatus::kMerged, reason, best);
    } else if (!options_.keep_finished) {
      pool.Discard(id, reason, best);
    } else if (!path.answer.empty()) {
      pool.Emit(NoticeRecord{fmt::format(
          "path {} ended within an expansion and keeps its vote, although path {} was surer", id,
          best)});
    }
  }
}

}  // namespace hyper

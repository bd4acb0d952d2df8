// What a pool holds of the KV cells, and what it does when they run short in the middle of a run:
// expansion stops first, then the least confident paths go, one by one, until what is left fits.
// Every step is a record of its own.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "src/decode/session_pool.h"

namespace hyper {
namespace {

// Intervals that every running path must have cells for before expansion goes on.
constexpr int64_t kAmpleIntervals = 2;

}  // namespace

const char* ShortageStepName(ShortageStep step) {
  switch (step) {
    case ShortageStep::kExpansionStopped:
      return "expansion_stopped";
    case ShortageStep::kPathPruned:
      return "path_pruned";
    case ShortageStep::kPathEnded:
      return "path_ended";
    case ShortageStep::kExpansionResumed:
      return "expansion_resumed";
    case ShortageStep::kParked:
      return "parked";
    case ShortageStep::kResumed:
      return "resumed";
  }
  return "path_pruned";
}

std::string ShortageText(const ShortageRecord& shortage) {
  std::string what;
  switch (shortage.step) {
    case ShortageStep::kExpansionStopped:
      what =
          fmt::format("KV cells ran short: expansion stops, {} extra routes end", shortage.routes);
      break;
    case ShortageStep::kPathPruned:
      what =
          fmt::format("KV cells ran short: path {}, the least confident, is pruned", shortage.path);
      break;
    case ShortageStep::kPathEnded:
      what = fmt::format("KV cells ran short: path {}, the last one, ends", shortage.path);
      break;
    case ShortageStep::kExpansionResumed:
      what = "KV cells are there again: expansion may go on";
      break;
    case ShortageStep::kParked:
      what = "KV cells ran short for other requests: the run is parked";
      break;
    case ShortageStep::kResumed:
      what = "KV cells are there again: the run goes on";
      break;
  }
  return fmt::format("{} (at token {}, {} paths running)", what, shortage.position,
                     shortage.running);
}

// Peaks are those of paths, as the paper counts them: the routes of a token come and go within it,
// and keep no cells.
void SessionPool::NotePeaks() {
  ledger_.lanes_peak = std::max(ledger_.lanes_peak, static_cast<int>(running_.size()));
  ledger_.cells_peak = std::max(ledger_.cells_peak, cells());
}

int SessionPool::Rows() const {
  int rows = 0;
  for (const PathId id : running_) {
    rows += path(id).routes;
  }
  return rows;
}

void SessionPool::RecordShortage(ShortageStep step, int routes, PathId path) {
  // A judge's prompt counts as held before it is computed, so that less than nothing may be left.
  const int64_t left = std::max<int64_t>(FreeCells(), 0);
  Emit(ShortageRecord{step, position(), static_cast<int>(running_.size()), routes, left, path});
}

void SessionPool::StopExpansion(bool stalled) {
  may_resume_ = may_resume_ && !stalled;
  if (!may_expand_) {
    return;
  }
  may_expand_ = false;
  int routes = 0;
  const std::vector<PathId> ids = running_;
  for (const PathId id : ids) {
    const int extra = path(id).routes - 1;
    if (extra > 0 && SetRoutes(id, 1)) {
      routes += extra;
    }
  }
  RecordShortage(ShortageStep::kExpansionStopped, routes, kNoPath);
}

void SessionPool::Park() {
  parked_ = true;
  for (const PathId id : running_) {
    // Neither fails for an open lane.
    (void)engine_.Revoke(path(id).lane);
    (void)engine_.Evict(path(id).lane);
  }
  RecordShortage(ShortageStep::kParked, 0, kNoPath);
}

Status SessionPool::Resume() {
  parked_ = false;
  RecordShortage(ShortageStep::kResumed, 0, kNoPath);
  for (const PathId id : running_) {
    if (path(id).granted > 0) {
      if (Status status = engine_.Grant(path(id).lane, path(id).granted); !status) {
        return status;
      }
    }
  }
  return {};
}

void SessionPool::PruneForCells(const std::string& reason) {
  if (running_.empty()) {
    return;
  }
  // A judge has no confidence of its own; it goes only where no path is left.
  std::vector<PathId> paths;
  std::copy_if(running_.begin(), running_.end(), std::back_inserter(paths),
               [this](PathId id) { return path(id).kind == PathKind::kReasoning; });
  EndForCells(LeastConfident(paths.empty() ? running_ : paths), running_.size() == 1, reason);
}

void SessionPool::EndForCells(PathId victim, bool last, const std::string& reason) {
  Finish(victim, last ? PathStatus::kLength : PathStatus::kPruned, reason);
  RecordShortage(last ? ShortageStep::kPathEnded : ShortageStep::kPathPruned, 0, victim);
}

int SessionPool::MakeRoom(int count) {
  while (!running_.empty()) {
    const auto running = static_cast<int64_t>(running_.size());
    const int64_t room = FreeCells();
    if (running * count <= room) {
      if (!may_expand_ && may_resume_ && kAmpleIntervals * running * count <= room) {
        may_expand_ = true;
        RecordShortage(ShortageStep::kExpansionResumed, 0, kNoPath);
      }
      return count;
    }
    StopExpansion(/*stalled=*/false);
    if (running == 1 && room >= 1) {
      return static_cast<int>(room);
    }
    PruneForCells(running == 1 ? "no KV cells left for its next token"
                               : fmt::format("KV cells ran short: {} left for {} paths; the least "
                                             "confident path goes",
                                             room, running));
  }
  return count;
}

}  // namespace hyper

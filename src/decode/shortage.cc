// Pool when KV cells run short in the middle of a run: expansion stops first, then the least
// confident paths go, one by one, until what is left fits. Every step is a record of its own.
#include <fmt/format.h>

#include <algorithm>

#include "hyper/pool.h"

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
  }
  return fmt::format("{} (at token {}, {} paths running)", what, shortage.position,
                     shortage.running);
}

int Pool::FreeLanes(int tokens) const {
  const int running = static_cast<int>(running_.size());
  const int by_lanes = config_.reservation.lanes - running;
  const int64_t ahead = std::max(tokens, 1);
  const int64_t by_cells = (FreeCells() - running * ahead) / ahead;
  return static_cast<int>(std::clamp<int64_t>(by_cells, 0, std::max(by_lanes, 0)));
}

int Pool::LanesInUse() const {
  int lanes = 0;
  for (const PathId id : running_) {
    lanes += path(id).routes;
  }
  return lanes;
}

PathId Pool::LeastConfident(std::span<const PathId> among) const {
  return *std::min_element(among.begin(), among.end(), [this](PathId a, PathId b) {
    const double x = Sureness(path(a));
    const double y = Sureness(path(b));
    return x != y ? x < y : a > b;  // among equals the youngest goes
  });
}

void Pool::RecordShortage(ShortageStep step, int routes, PathId path) {
  Emit(ShortageRecord{step, position(), static_cast<int>(running_.size()), routes, FreeCells(),
                      path});
}

void Pool::StopExpansion(bool stalled) {
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

void Pool::PruneForCells(const std::string& reason) {
  if (running_.empty()) {
    return;
  }
  EndForCells(LeastConfident(running_), running_.size() == 1, reason);
}

void Pool::EndForCells(PathId victim, bool last, const std::string& reason) {
  Finish(victim, last ? PathStatus::kLength : PathStatus::kPruned, reason);
  RecordShortage(last ? ShortageStep::kPathEnded : ShortageStep::kPathPruned, 0, victim);
}

// Prunes until every running path can have `count` tokens of the reservation; returns how many each
// gets: fewer where only one path is left.
int Pool::MakeRoom(int count) {
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

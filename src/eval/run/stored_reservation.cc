#include "src/eval/run/stored_reservation.h"

#include <cstdlib>
#include <string>

#include "src/store/store.h"

namespace hyper::eval {
namespace {

constexpr const char* kCells = "reserved-cells";
// Tokens of a prompt, and of slack, that are reserved for each lane beside its own.
constexpr int64_t kPromptCells = 256;

}  // namespace

int64_t CellsOfLane(int64_t max_tokens) { return max_tokens + kPromptCells; }

int64_t CellsOfRow(const MethodOptions& options) {
  return LaneLimit(options) * CellsOfLane(options.max_tokens);
}

void TakeOverReservation(const StudyPlan& plan, const ModelInfo& model,
                         const std::vector<StoredRun>& runs, int64_t most, StudyRow& row) {
  StoredRun own = RunOf(plan, row, model);
  const std::string identity = RunIdentity(own);
  int64_t taken = 0;
  for (const StoredRun& run : runs) {
    if (RunIdentity(run) == identity) {
      return;
    }
    const auto setting = run.settings.find(kCells);
    if (setting == run.settings.end() || taken != 0) {
      continue;
    }
    const int64_t cells = std::strtoll(setting->second.c_str(), nullptr, 10);
    own.settings[kCells] = setting->second;
    const bool fits = cells > row.reservation.cells && cells <= most;
    if (fits && RunIdentity(own) == RunIdentity(run)) {
      taken = cells;
    }
  }
  if (taken != 0) {
    row.reservation.cells = taken;
  }
}

}  // namespace hyper::eval

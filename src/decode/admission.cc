#include "src/decode/admission.h"

#include <algorithm>

namespace hyper {
namespace {

int MostLanes(const Capabilities& can) { return std::min(can.max_lanes, can.max_rows); }

bool CellsFit(int64_t cells, int64_t most, const Capabilities& can) {
  return can.cells_total == 0 || cells <= most;
}

}  // namespace

void Occupancy::Add(const Reservation& most, Admission how, int64_t held, bool parked) {
  lanes += most.lanes;
  if (how == Admission::kReserved) {
    reserved.lanes += most.lanes;
    reserved.cells += most.cells;
    reserved_held += held;
  } else if (!parked) {
    by_use += ExpectedCells(held, most.cells);
  }
}

int64_t ExpectedCells(int64_t held, int64_t most) {
  constexpr int64_t kPart = 4;
  return held + std::max<int64_t>(most - held, 0) / kPart;
}

bool FitsReserved(const Occupancy& now, const Reservation& more, const Capabilities& can) {
  return now.lanes + more.lanes <= MostLanes(can) &&
         CellsFit(now.reserved.cells + more.cells, can.cells_total, can);
}

bool FitsByUse(const Occupancy& now, const Reservation& more, int64_t held, const Reservation& kept,
               const Capabilities& can) {
  const int kept_lanes = std::max(kept.lanes - now.reserved.lanes, 0);
  const int64_t others = now.by_use + std::max(kept.cells, now.reserved_held);
  return now.lanes + more.lanes + kept_lanes <= MostLanes(can) &&
         CellsFit(others + ExpectedCells(held, more.cells), can.cells_total, can);
}

bool KeepsWithin(const Reservation& kept, const Occupancy& now, const Reservation& more,
                 const Capabilities& can) {
  return now.reserved.lanes + more.lanes <= kept.lanes &&
         CellsFit(now.reserved.cells + more.cells, kept.cells, can);
}

}  // namespace hyper

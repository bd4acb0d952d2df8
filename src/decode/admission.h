// Who may start beside the sessions that share an engine. Pure.
//
// A session is admitted in one of two ways (Admission in hyper/driver.h). One that is reserved has
// all its lanes and cells for itself until it ends. One by use has its lanes for itself, but its
// cells only while there are enough: it may be parked.
#pragma once

#include <cstdint>

#include "hyper/driver.h"

namespace hyper {

// What the sessions that have started take of an engine.
struct Occupancy {
  int lanes = 0;              // reserved, by parked sessions too
  Reservation reserved;       // of these, by sessions that are admitted by their reservation
  int64_t reserved_held = 0;  // cells that those hold now
  int64_t by_use = 0;         // cells that the others may soon hold; nothing for parked ones

  //   held    cells that the session holds now, or will hold at its start
  //   parked  its cells are free for others
  void Add(const Reservation& most, Admission how, int64_t held, bool parked);
};

// Cells that a session by use is expected to hold before others give cells back: what it holds and
// a quarter of what it may still take. Most paths end long before their limit.
int64_t ExpectedCells(int64_t held, int64_t most);

// Whether a session that is admitted by its reservation fits. Sessions by use give way to it.
bool FitsReserved(const Occupancy& now, const Reservation& more, const Capabilities& can);
// Whether a session by use fits beside the part that is `kept` for the others.
bool FitsByUse(const Occupancy& now, const Reservation& more, int64_t held, const Reservation& kept,
               const Capabilities& can);
// Whether all reserved sessions keep within that part, `more` included.
bool KeepsWithin(const Reservation& kept, const Occupancy& now, const Reservation& more,
                 const Capabilities& can);

}  // namespace hyper

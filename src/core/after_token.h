// The event behind a token.
#pragma once

#include <optional>

#include "hyper/engine.h"

namespace hyper {

// What follows the newest token of a lane: its end where there is a reason, which takes the rest of
// `granted`; else the boundary where nothing is granted; nothing where the lane goes on.
inline std::optional<Event> EventAfterToken(LaneId lane, std::optional<EndReason> end,
                                            int& granted) {
  if (!end && granted > 0) {
    return std::nullopt;
  }
  Event event;
  event.lane = lane;
  event.kind = end ? EventKind::kEnd : EventKind::kBoundary;
  event.end_reason = end.value_or(event.end_reason);
  granted = 0;
  return event;
}

}  // namespace hyper

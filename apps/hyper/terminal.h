// The terminal as a screen: the alternate one, so that what was there before comes back.
#pragma once

#include <string>
#include <vector>

#include "apps/hyper/printers/live_frame.h"

namespace hyper::app {

// Whether stderr is a terminal that takes escape codes: TERM is not "dumb".
bool IsScreen();

// Its size now, 80x24 where unknown; colours unless NO_COLOR is set.
Screen ScreenNow();

// Shows a frame on the alternate screen of stderr, over the last one. A signal that ends or stops
// the program takes the screen away first; after a stop the next frame takes it again.
void ShowFrame(const std::vector<std::string>& frame);

// Back to the lines from before; nothing where no frame is shown. May be called in a signal
// handler.
void LeaveScreen();

}  // namespace hyper::app

// Ctrl-C as a question that the main loop asks between two steps.
#pragma once

namespace hyper::app {

// While one lives, the first SIGINT or SIGTERM only sets a flag; a second one ends the process.
// At most one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;
};

}  // namespace hyper::app

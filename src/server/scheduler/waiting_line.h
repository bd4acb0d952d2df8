// The runs that wait: what they take of memory, and how long a new one would wait.
#pragma once

#include <cstddef>
#include <deque>

#include "src/server/api/served_run.h"

namespace hyper::server {

// Bytes that a run holds at most while it waits: its request, the rendered prompt and its tokens,
// and what every run has. Pure.
size_t WaitingBytes(const ServedRun& request);

// How many runs leave the line in a second, by the last that did. Times are seconds of one clock.
class DrainRate {
 public:
  void Note(int runs, double now_s);
  double PerSecond(double now_s) const;  // 0: none has left

 private:
  std::deque<double> times_;
};

// Seconds after which a request may be sent again that finds `waiting` runs in the line, 1 to 60.
// Pure.
int RetryAfterSeconds(int waiting, double drained_per_s);

}  // namespace hyper::server

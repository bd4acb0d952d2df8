// A clock that moves only while somebody waits.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "src/base/clock.h"

namespace hyper::test {

// A wait takes a few milliseconds of real time at most, and where nothing came in them, all of its
// seconds have passed. Thread rule: any thread.
class ScriptedClock : public base::Clock {
 public:
  double Now() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return now_s_;
  }

  bool Wait(int descriptor, double seconds) override {
    constexpr int kGraceMs = 10;
    const bool waits = descriptor >= 0 && seconds > 0;
    pollfd wanted{descriptor, POLLIN, 0};  // a negative descriptor is passed over
    const int ready = poll(&wanted, 1, waits ? kGraceMs : 0);
    if (ready == 0) {
      Advance(std::max(seconds, 0.0));
    }
    return ready >= 0 || errno == EINTR;
  }

  // `seconds` pass.
  void Advance(double seconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    now_s_ += seconds;
  }

 private:
  std::mutex mutex_;
  double now_s_ = 0;
};

}  // namespace hyper::test

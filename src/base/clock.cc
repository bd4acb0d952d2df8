#include "src/base/clock.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>

namespace hyper::base {
namespace {

// As poll(2) for reading alone.
int Poll(int descriptor, int milliseconds) {
  pollfd wanted{descriptor, POLLIN, 0};  // a negative descriptor is passed over
  return poll(&wanted, 1, milliseconds);
}

class RealClock : public Clock {
 public:
  double Now() override {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }

  bool Wait(int descriptor, double seconds) override {
    constexpr double kLongest_ms = 1e9;
    // Rounded up: the time must have passed when the wait is over.
    const double milliseconds = std::clamp(std::ceil(seconds * 1e3), 0.0, kLongest_ms);
    return Poll(descriptor, static_cast<int>(milliseconds)) >= 0 || errno == EINTR;
  }
};

}  // namespace

Clock& SteadyClock() {
  static RealClock clock;
  return clock;
}

}  // namespace hyper::base

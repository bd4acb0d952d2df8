// How much longer than usual tests wait for what should happen.
#pragma once

#include <cstdlib>

namespace hyper::test {

// The factor of HYPER_TEST_PATIENCE, 1 where it is not set: valgrind slows a program down 20 to 50
// times, and a limit that another thread should keep would pass unseen by it.
inline double Patience() {
  const char* const factor = std::getenv("HYPER_TEST_PATIENCE");
  const double value = factor != nullptr ? std::atof(factor) : 1;
  return value >= 1 ? value : 1;
}

}  // namespace hyper::test

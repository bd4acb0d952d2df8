// What a fuzzer asserts.
#pragma once

#include <cstdlib>

namespace hyper::fuzz {

// Ends the program, which libFuzzer reports with the input, where a promise was not held.
inline void Require(bool held) {
  if (!held) {
    std::abort();
  }
}

}  // namespace hyper::fuzz

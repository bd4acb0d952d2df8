// The pace of a run whose phases go at different paces.
#pragma once

#include <cstddef>
#include <span>

namespace hyper {

// Tokens per second over a run whose phase i decodes `paths[i]` paths of one length side by side,
// at `paces[i]` tokens per second. Pure.
inline double PaceOfRun(std::span<const int> paths, std::span<const double> paces) {
  double tokens = 0;
  double seconds = 0;
  for (size_t i = 0; i < paths.size(); ++i) {
    tokens += paths[i];
    seconds += paths[i] / paces[i];
  }
  return tokens / seconds;
}

}  // namespace hyper

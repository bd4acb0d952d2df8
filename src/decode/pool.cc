#include "hyper/pool.h"

#include <algorithm>
#include <cmath>

namespace hyper {

double Sureness(const Path& path) { return std::isnan(path.window_mean) ? 0.0 : path.window_mean; }

int Pool::position() const {
  int longest = 0;
  for (const PathId id : running()) {
    longest = std::max(longest, path(id).length());
  }
  return longest;
}

int Pool::FreeLanes(int tokens) const {
  const auto lanes = static_cast<int>(running().size());
  const int by_lanes = reservation().lanes - lanes;
  const int64_t ahead = std::max(tokens, 1);
  const int64_t by_cells = (FreeCells() - lanes * ahead) / ahead;
  return static_cast<int>(std::clamp<int64_t>(by_cells, 0, std::max(by_lanes, 0)));
}

PathId Pool::LeastConfident(std::span<const PathId> among) const {
  return *std::min_element(among.begin(), among.end(), [this](PathId a, PathId b) {
    const double x = Sureness(path(a));
    const double y = Sureness(path(b));
    return x != y ? x < y : a > b;  // among equals the youngest goes
  });
}

void Pool::CancelAll(const std::string& reason) {
  const std::vector<PathId> ids = running();
  for (const PathId id : ids) {
    Finish(id, PathStatus::kCancelled, reason);
  }
}

}  // namespace hyper

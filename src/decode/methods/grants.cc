#include "src/decode/methods/grants.h"

#include <algorithm>
#include <utility>

namespace hyper {

Status GrantEach(Pool& pool, std::vector<PathId> writers, int interval,
                 const std::function<int(PathId)>& limit, const std::function<bool()>& make_room) {
  const auto room = [&pool] { return pool.reservation().cells - pool.cells(); };
  while (!writers.empty() && room() < static_cast<int64_t>(writers.size())) {
    if (make_room()) {
      continue;
    }
    const PathId unsure =
        *std::min_element(writers.begin(), writers.end(), [&pool](PathId a, PathId b) {
          return std::pair(Sureness(pool.path(a)), -a) < std::pair(Sureness(pool.path(b)), -b);
        });
    const bool last = writers.size() == 1;
    pool.Finish(unsure, last ? PathStatus::kLength : PathStatus::kPruned,
                last ? "no KV cells left for its next token"
                     : "KV cells ran short; the least confident path goes");
    pool.Emit(ShortageRecord{last ? ShortageStep::kPathEnded : ShortageStep::kPathPruned,
                             pool.position(), static_cast<int>(pool.running().size()), 0, room(),
                             unsure});
    std::erase(writers, unsure);
  }
  if (writers.empty()) {
    return {};
  }
  const auto share =
      static_cast<int>(std::min<int64_t>(interval, room() / static_cast<int64_t>(writers.size())));
  for (const PathId path : writers) {
    Status status = pool.Grant(path, std::min(share, limit(path)));
    if (!status) {
      return status;
    }
  }
  return {};
}

}  // namespace hyper

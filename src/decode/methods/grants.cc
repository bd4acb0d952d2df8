#include "src/decode/methods/grants.h"

#include <algorithm>
#include <utility>

namespace hyper {

Status GrantEach(Pool& pool, std::vector<PathId> writers, int interval,
                 const std::function<int(PathId)>& limit, const std::function<bool()>& make_room) {
  while (!writers.empty() && pool.FreeCells() < static_cast<int64_t>(writers.size())) {
    if (make_room()) {
      continue;
    }
    const PathId unsure = pool.LeastConfident(writers);
    const bool last = writers.size() == 1;
    pool.EndForCells(unsure, last,
                     last ? "no KV cells left for its next token"
                          : "KV cells ran short; the least confident path goes");
    std::erase(writers, unsure);
  }
  if (writers.empty()) {
    return {};
  }
  const auto share = static_cast<int>(
      std::min<int64_t>(interval, pool.FreeCells() / static_cast<int64_t>(writers.size())));
  for (const PathId path : writers) {
    Status status = pool.Grant(path, std::min(share, limit(path)));
    if (!status) {
      return status;
    }
  }
  return {};
}

}  // namespace hyper

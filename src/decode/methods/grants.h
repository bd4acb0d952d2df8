// Tokens for some of a pool's paths, where others wait.
#pragma once

#include <functional>
#include <vector>

#include "hyper/pool.h"

namespace hyper {

// Grants each running path of `writers` up to `limit(path)` tokens, at most `interval` at a time
// and no more than the reservation has cells for. Where it has not even one each, `make_room` is
// called; if that is false, the least sure of them is pruned, the last one ended for its length.
Status GrantEach(Pool& pool, std::vector<PathId> writers, int interval,
                 const std::function<int(PathId)>& limit, const std::function<bool()>& make_room);

}  // namespace hyper

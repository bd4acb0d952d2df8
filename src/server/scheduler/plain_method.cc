#include "src/server/scheduler/plain_method.h"

#include <utility>

namespace hyper::server {

PlainMethod::PlainMethod(int choices, int routes, TokenObserver observer)
    : choices_(choices), routes_(routes), observer_(std::move(observer)) {}

Status PlainMethod::Start(Pool& pool) { return OpenMore(pool); }

Status PlainMethod::OpenMore(Pool& pool) {
  while (opened_ < choices_ && static_cast<int>(pool.running().size()) < pool.reservation().lanes) {
    Result<PathId> path = pool.Open(static_cast<uint64_t>(opened_), /*warmup=*/false);
    if (!path) {
      // With another path running a lane comes free sooner or later.
      return pool.running().empty() ? path.error() : Status();
    }
    ++opened_;
    Status status = pool.SetRoutes(*path, routes_);
    if (status) {
      status = pool.Grant(*path, pool.options().max_tokens);
    }
    if (!status) {
      return status;
    }
  }
  return {};
}

void PlainMethod::OnToken(Pool& pool, PathId path) {
  if (pool.path(path).running() && observer_(pool.path(path))) {
    pool.Finish(path, PathStatus::kFinished, "stop string");
  }
}

Status PlainMethod::OnPolled(Pool& pool) { return OpenMore(pool); }

Status PlainMethod::OnSettled(Pool& pool) { return OpenMore(pool); }

bool PlainMethod::Done(const Pool& pool) const {
  return opened_ == choices_ && pool.running().empty();
}

}  // namespace hyper::server

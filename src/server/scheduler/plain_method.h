// Plain decoding as a method: a number of paths that go on until they end, nothing pruned.
#pragma once

#include <functional>

#include "hyper/method.h"

namespace hyper::server {

class PlainMethod : public Method {
 public:
  // Told of each new token of a running path; true ends the path (a stop string).
  using TokenObserver = std::function<bool(const Path&)>;

  // `routes`: K of every token. Paths that find no lane wait for one: none is left out.
  PlainMethod(int choices, int routes, TokenObserver observer);

  Status Start(Pool& pool) override;
  void OnToken(Pool& pool, PathId path) override;
  Status OnPolled(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;

 private:
  Status OpenMore(Pool& pool);

  int choices_;
  int routes_;
  TokenObserver observer_;
  int opened_ = 0;
};

}  // namespace hyper::server

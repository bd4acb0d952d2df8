// The pool as a Python method sees it. A view is alive inside the calls of its method only, so that
// nothing Python keeps can reach a pool that is gone.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "hyper/pool.h"

namespace hyper::python {

class PoolView;

// A path by its number.
struct PathView {
  std::shared_ptr<PoolView> pool;
  PathId id = kNoPath;

  const Path& path() const;
};

class PoolView : public std::enable_shared_from_this<PoolView> {
 public:
  enum class Access { kNone, kRead, kAct };

  // Opens the view of `pool` until it is destroyed.
  class Call {
   public:
    Call(PoolView& view, Pool& pool, Access access);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    PoolView& view_;
    Pool* outer_pool_;
    Access outer_access_;
  };

  // Errors, as exceptions: no call of the method is in progress, or one that may only look.
  const Pool& Look() const;
  Pool& Act();

  PathView At(PathId id) { return {shared_from_this(), id}; }
  std::vector<PathView> All(const std::vector<PathId>& ids);
  // Opens paths on the prompt and returns those that could be opened: at least one.
  std::vector<PathView> Open(int count, bool warmup);

 private:
  Pool* pool_ = nullptr;
  Access access_ = Access::kNone;
  uint64_t opened_ = 0;  // numbers of paths given so far
};

void BindPool(nanobind::module_& module);

}  // namespace hyper::python

#include "hyper/method.h"

#include "src/decode/methods/hyper.h"
#include "src/decode/methods/sc.h"

namespace hyper {

void Method::OnFinish(Pool& /*pool*/, PathId /*path*/) {}

void Method::OnToken(Pool& /*pool*/, PathId /*path*/) {}

void Method::OnScored(Pool& /*pool*/, PathId /*path*/, uint64_t /*request*/,
                      const std::vector<std::vector<float>>& /*scores*/) {}

std::string Method::VoteRule(const Pool& pool) const { return pool.options().vote; }

bool Method::Votes(const Pool& pool, const Path& path) const {
  return path.kind == PathKind::kReasoning && path.status != PathStatus::kMerged &&
         !path.running() && !path.answer.empty() &&
         (!path.tentative || pool.options().vote_tentative);
}

Result<std::unique_ptr<Method>> MakeMethod(const std::string& name, const MethodOptions& options) {
  std::unique_ptr<Method> method;
  if (name == "hyper") {
    method = std::make_unique<HyperMethod>(options);
  } else if (name == "sc") {
    method = std::make_unique<SelfConsistency>(options);
  } else {
    return Error{ErrorCode::kNotFound, "method '" + name + "' is not known; take hyper or sc"};
  }
  return method;
}

Status OpenPaths(Pool& pool, uint64_t first, int count, bool warmup) {
  for (int i = 0; i < count; ++i) {
    Result<PathId> opened = pool.Open(first + static_cast<uint64_t>(i), warmup);
    if (opened) {
      continue;
    }
    if (i == 0) {
      return opened.error();
    }
    pool.Emit(NoticeRecord{"opened " + std::to_string(i) + " of " + std::to_string(count) +
                           " paths: " + opened.error().message});
    break;
  }
  return {};
}

}  // namespace hyper

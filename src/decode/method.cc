#include "hyper/method.h"

#include "src/core/vote.h"

namespace hyper {

void Method::OnToken(Pool& /*pool*/, PathId /*path*/) {}

void Method::OnScoreTops(Pool& /*pool*/, PathId /*path*/, uint64_t /*request*/,
                         const ScoreTops& /*tops*/) {}

void Method::OnScored(Pool& /*pool*/, PathId /*path*/, uint64_t /*request*/,
                      const std::vector<std::vector<float>>& /*scores*/) {}

void Method::OnShortage(Pool& /*pool*/) {}

Status Method::OnPolled(Pool& /*pool*/) { return {}; }

std::string Method::VoteRule(const Pool& pool) const { return NameOf(pool.options().vote.rule); }

bool Method::Votes(const Pool& pool, const Path& path) const {
  // Merged paths have no answer.
  return path.kind == PathKind::kReasoning && path.status != PathStatus::kFailed &&
         !path.running() && !path.answer.empty() &&
         (!path.tentative || pool.options().vote.tentative);
}

double Method::Weight(const Pool& /*pool*/, const Path& /*path*/) const { return Path::kUnknown; }

std::optional<Outlook> Method::Ahead(const Pool& /*pool*/) const { return Outlook{}; }

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

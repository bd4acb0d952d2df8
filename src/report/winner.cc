#include "src/report/winner.h"

#include <tuple>

namespace hyper {

const Path* WinningPath(std::span<const Path> paths, const std::optional<std::string>& answer) {
  const auto rank = [&answer](const Path& path) {
    return std::tuple(answer && path.answer == *answer, !path.tentative,
                      path.status == PathStatus::kFinished, path.mean_confidence);
  };
  const Path* best = nullptr;
  for (const Path& path : paths) {
    const bool counts = path.kind == PathKind::kReasoning && path.status != PathStatus::kMerged &&
                        !path.tokens.empty();
    if (counts && (best == nullptr || rank(path) > rank(*best))) {
      best = &path;
    }
  }
  return best;
}

}  // namespace hyper

// Paths that repeat themselves end; docs/auto.md says what a loop is.
#include <optional>

#include "src/core/repetition.h"
#include "src/decode/session_pool.h"

namespace hyper {

// A path that repeats itself will not come to an end: its cells are for others.
void SessionPool::EndLoop(Path& path) {
  if (!config_.options.loop_guard || path.kind != PathKind::kReasoning ||
      path.length() % kRepetitionInterval != 0) {
    return;
  }
  if (const std::optional<Repetition> loop = FindRepetition(path.text)) {
    EndLane(path, PathStatus::kDegenerate, RepetitionText(*loop));
  }
}

}  // namespace hyper

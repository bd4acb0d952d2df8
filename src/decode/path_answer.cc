// What a path answers: read from its text at its end, taken from it, or asked of it while it runs.
#include <string>
#include <utility>

#include "src/decode/fork_steps.h"
#include "src/decode/session_pool.h"

namespace hyper {

void SessionPool::ReadAnswer(Path& path) {
  if (path.kind == PathKind::kProbe && CameToItsEnd(path.status)) {
    std::string text;  // what was asked and replied
    for (auto at = static_cast<size_t>(path.fork_position); at < path.tokens.size(); ++at) {
      text += engine_.IsEndOfGeneration(path.tokens[at]) ? "" : engine_.TokenText(path.tokens[at]);
    }
    path.answer = config_.extractor(text, /*finished=*/true, /*reasoning_opened=*/false).answer;
    Mutable(path.parent).probed.push_back(path.answer);
  }
  if (path.kind != PathKind::kReasoning || path.status == PathStatus::kMerged) {
    return;
  }
  if (path.status == PathStatus::kCancelled && !path.probed.empty()) {
    path.answer = path.probed.back();
    path.tentative = true;
    return;
  }
  ExtractedAnswer extracted = config_.extractor(path.text, path.status == PathStatus::kFinished,
                                                config_.prompt.reasoning_opened);
  path.answer = std::move(extracted.answer);
  path.answer_raw = std::move(extracted.raw);
  path.tentative = extracted.tentative;
}

void SessionPool::Discard(PathId id, const std::string& reason, PathId kept) {
  Path& path = Mutable(id);
  if (path.running() || path.status == PathStatus::kMerged) {
    return;
  }
  path.status = PathStatus::kMerged;
  path.reason += "; " + reason;
  path.kept = kept;
  path.answer.clear();
  path.answer_raw.clear();
  path.tentative = false;
  RecordEnd(path);
}

Result<PathId> SessionPool::Probe(PathId id, std::span<const Token> question, int tokens) {
  Result<PathId> probe = ForkAs(PathKind::kProbe, id, kProbeStep, path(id).length());
  if (!probe) {
    return probe;
  }
  Status status = Extend(*probe, question);
  if (status) {
    status = Grant(*probe, tokens);
  }
  if (!status) {
    Finish(*probe, PathStatus::kCancelled, status.error().message);
    return status.error();
  }
  return probe;
}

}  // namespace hyper

// Forks: at the end of a path that runs, and at any token of one that runs or has ended.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/core/random.h"
#include "src/decode/session_pool.h"

namespace hyper {

Result<PathId> SessionPool::Fork(PathId parent, int step, int child) {
  return ForkAs(PathKind::kReasoning, parent, step, child);
}

Result<PathId> SessionPool::ForkAs(PathKind kind, PathId parent, int step, int child) {
  const Path& from = path(parent);
  const uint64_t key =
      ChildPathKey(from.key, static_cast<uint32_t>(step), static_cast<uint32_t>(child));
  Result<LaneId> lane =
      engine_.Fork(from.lane, from.prompt_tokens + from.length(), SpecFor(key, kind));
  if (!lane) {
    return lane.error();
  }
  Path path = from;
  path.parent = parent;
  path.fork_position = from.length();
  path.key = key;
  path.lane = *lane;
  path.routes = 1;
  path.granted = 0;
  path.scores_due = 0;
  path.kind = kind;
  path.probed.clear();
  return Insert(std::move(path), WindowOf(parent));
}

Path SessionPool::Beginning(const Path& from, int position) const {
  const auto length = static_cast<size_t>(position);
  Path path;
  path.parent = from.id;
  path.fork_position = position;
  path.warmup = from.warmup && !warmup_over_;
  path.prompt_tokens = from.prompt_tokens;
  const auto copy = [length](const auto& all, auto& beginning) {
    beginning.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
  };
  copy(from.tokens, path.tokens);
  copy(from.logprobs, path.logprobs);
  copy(from.confidences, path.confidences);
  copy(from.confidences_top20, path.confidences_top20);
  copy(from.mean_logprobs, path.mean_logprobs);
  copy(from.entropies, path.entropies);
  copy(from.route_counts, path.route_counts);
  if (from.top_history.size() >= length) {
    copy(from.top_history, path.top_history);
  }
  for (const Token token : path.tokens) {
    path.text += engine_.TokenText(token);
  }
  return path;
}

// That of a path that has ended is gone: the engine finds what other lanes still hold of it, and
// computes the rest again.
Result<LaneId> SessionPool::LaneAt(const Path& from, int position, const LaneSpec& spec) {
  if (from.running()) {
    return engine_.Fork(from.lane, from.prompt_tokens + position, spec);
  }
  if (spec.grammar != nullptr) {
    return Error{ErrorCode::kUnsupported,
                 "path " + std::to_string(from.id) +
                     " has ended, and how far it had come in its form is not kept; continue one "
                     "that runs"};
  }
  std::vector<Token> history = config_.prompt.tokens;
  history.insert(history.end(), from.tokens.begin(), from.tokens.begin() + position);
  return engine_.Open(history, spec);
}

Result<PathId> SessionPool::ForkAt(PathId parent, const ForkPoint& at, int step, int child) {
  const Path& from = path(parent);
  const bool ended = !from.tokens.empty() && engine_.IsEndOfGeneration(from.tokens.back());
  const int most = from.length() - (ended ? 1 : 0);
  if (from.kind != PathKind::kReasoning || at.position < 0 || at.position > most) {
    return InvalidArgument("token " + std::to_string(at.position) + " of path " +
                           std::to_string(parent) + " is none to continue at; it has " +
                           std::to_string(most) + " tokens, of an answer to the question");
  }
  const uint64_t key =
      at.seed ? PathKey({*at.seed, config_.seed.question}, static_cast<uint64_t>(child))
              : ChildPathKey(from.key, static_cast<uint32_t>(step), static_cast<uint32_t>(child));
  LaneSpec spec = SpecFor(key, PathKind::kReasoning);
  spec.sampler.temperature = at.temperature.value_or(spec.sampler.temperature);
  const Result<LaneId> lane = LaneAt(from, at.position, spec);
  if (!lane) {
    return lane.error();
  }
  Path path = Beginning(from, at.position);
  path.key = key;
  path.lane = *lane;
  ConfidenceWindow window = EmptyWindow();
  for (const float confidence : path.confidences) {
    window.Push(confidence);
  }
  path.window_mean = window.WindowMean();
  path.lowest_window = window.LowestWindowMean();
  path.mean_confidence = window.TraceMean();
  const PathId id = Insert(std::move(path), std::move(window));
  const Status status = at.text.empty() ? Status() : Extend(id, at.text);
  if (!status) {
    Finish(id, PathStatus::kCancelled, status.error().message);
    return status.error();
  }
  return id;
}

}  // namespace hyper

#include "src/decode/session_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/core/confidence.h"
#include "src/core/pool_stats.h"
#include "src/core/random.h"
#include "src/core/signal.h"
#include "src/core/threshold.h"
#include "src/decode/names.h"

namespace hyper {
namespace {

// The entry of an open lane; the end where there is none. `lanes` is sorted by lane.
template <class Lanes>
auto FindLane(Lanes& lanes, LaneId lane) {
  const auto at =
      std::lower_bound(lanes.begin(), lanes.end(), lane,
                       [](const auto& entry, LaneId wanted) { return entry.first < wanted; });
  return at != lanes.end() && at->first == lane ? at : lanes.end();
}

}  // namespace

SessionPool::SessionPool(Engine& engine, Config config)
    : engine_(engine),
      config_(std::move(config)),
      cells_(static_cast<int64_t>(config_.prompt.tokens.size())) {
  ledger_.bytes_per_cell = engine_.cost().bytes_per_cell;
}

SessionPool::~SessionPool() {
  for (const auto& [lane, path] : lanes_) {
    engine_.Close(lane);
  }
}

void SessionPool::Widen(int lanes) {
  config_.reservation.lanes += lanes;
  config_.reservation.cells += int64_t{lanes} * config_.options.max_tokens;
}

LaneSpec SessionPool::SpecFor(uint64_t key, PathKind kind) const {
  LaneSpec spec;
  spec.path_key = key;
  spec.sampler = config_.options.sampler;
  spec.logit_bias = config_.logit_bias;
  spec.owner = owner_;
  spec.score_tops = config_.score_tops;
  if (kind == PathKind::kReasoning && config_.prompt.form != nullptr) {
    spec.grammar = config_.prompt.form->grammar;
  }
  // One more than any set needs: the chosen token may have to be left out.
  const int wanted = std::max(
      {config_.options.confidence_count + 1, config_.options.entropy_count, kDeepConfCandidates});
  spec.top_count = std::min(wanted, engine_.capabilities().max_top_count);
  return spec;
}

ConfidenceWindow SessionPool::EmptyWindow() const {
  return ConfidenceWindow(config_.options.window, MeanOf(config_.options.confidence));
}

PathId SessionPool::Insert(Path path, ConfidenceWindow window) {
  const PathId id = static_cast<PathId>(paths_.size());
  path.id = id;
  lanes_.emplace_back(path.lane, id);
  running_.push_back(id);
  ledger_.lanes_opened += path.kind == PathKind::kReasoning ? 1 : 0;
  Emit(PathRecord{id, path.parent, path.fork_position, path.warmup, path.kind});
  paths_.push_back(std::move(path));
  windows_.push_back(std::move(window));
  const Path& opened = paths_.back();
  const bool shares =
      opened.parent != kNoPath && paths_[static_cast<size_t>(opened.parent)].running();
  cells_.Open(shares ? opened.parent : kNoPath, shares ? opened.length() : 0,
              opened.kind == PathKind::kJudge ? opened.prompt_tokens : -1);
  if (!shares) {
    cells_.Grow(id, opened.length());  // of a path that has ended: not shared any more
  }
  NotePeaks();
  return id;
}

Result<PathId> SessionPool::Open(uint64_t index, bool warmup) {
  Path path;
  path.key = PathKey({config_.seed.run_seed, config_.seed.question}, index);
  Result<LaneId> lane = engine_.Open(config_.prompt.tokens, SpecFor(path.key, path.kind));
  if (!lane) {
    return lane.error();
  }
  path.prompt_tokens = static_cast<int>(config_.prompt.tokens.size());
  ledger_.prefilled += paths_.empty() ? path.prompt_tokens : 0;
  path.lane = *lane;
  path.warmup = warmup;
  return Insert(std::move(path), EmptyWindow());
}

Result<PathId> SessionPool::OpenJudge(std::span<const Token> prompt, uint64_t number) {
  // Judges draw from a stream of their own: that of a question no path of the run can have.
  constexpr uint64_t kJudgeStream = uint64_t{1} << 63;
  Path path;
  path.key = PathKey({config_.seed.run_seed, config_.seed.question ^ kJudgeStream}, number);
  Result<LaneId> lane = engine_.Open(prompt, SpecFor(path.key, PathKind::kJudge));
  if (!lane) {
    return lane.error();
  }
  path.kind = PathKind::kJudge;
  path.prompt_tokens = static_cast<int>(prompt.size());
  ledger_.judge += path.prompt_tokens;
  path.lane = *lane;
  return Insert(std::move(path), EmptyWindow());
}

Status SessionPool::Extend(PathId id, std::span<const Token> tokens) {
  Path& path = Mutable(id);
  if (!path.running() || path.granted > 0) {
    return InvalidArgument("path " + std::to_string(id) +
                           " has ended or is decoding; pause it before Extend");
  }
  Status status = engine_.Extend(path.lane, tokens);
  if (!status) {
    return status;
  }
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  for (const Token token : tokens) {
    path.tokens.push_back(token);
    path.text += engine_.TokenText(token);
    path.logprobs.push_back(kUnknown);
    path.confidences.push_back(kUnknown);
    path.confidences_top20.push_back(kUnknown);
    path.mean_logprobs.push_back(kUnknown);
    path.entropies.push_back(kUnknown);
    path.route_counts.push_back(0);
  }
  cells_.Grow(id, static_cast<int>(tokens.size()));
  (path.kind == PathKind::kProbe ? ledger_.probe : ledger_.prefilled) +=
      static_cast<int64_t>(tokens.size());
  NotePeaks();
  return {};
}

Result<uint64_t> SessionPool::Score(PathId id, std::span<const std::vector<Token>> continuations) {
  Path& path = Mutable(id);
  Result<uint64_t> request = engine_.Score(path.lane, continuations);
  if (request) {
    for (const std::vector<Token>& continuation : continuations) {
      ledger_.probe += static_cast<int64_t>(continuation.size());
    }
    ++path.scores_due;
    ++pending_;  // the round is not over before the answer
  }
  return request;
}

void SessionPool::Await(int64_t value_tokens) {
  ledger_.value += value_tokens;
  ++pending_;
}

Status SessionPool::Pause(PathId id) {
  Path& path = Mutable(id);
  if (!path.running() || path.granted == 0) {
    return {};
  }
  path.granted = 0;
  --pending_;
  return engine_.Revoke(path.lane);
}

Status SessionPool::Grant(PathId id, int count) {
  Path& path = Mutable(id);
  const int given = std::min(count, config_.options.max_tokens - path.length() - path.granted);
  if (!path.running() || given <= 0) {
    return {};
  }
  if (!parked_) {
    if (Status status = engine_.Grant(path.lane, given); !status) {
      return status;
    }
  }
  pending_ += path.granted == 0 ? 1 : 0;
  path.granted += given;
  return {};
}

Status SessionPool::GrantAll(int count) {
  const int tokens = MakeRoom(count);
  const std::vector<PathId> ids = running_;
  for (const PathId id : ids) {
    Status status = Grant(id, tokens);
    if (!status) {
      return status;
    }
  }
  return {};
}

Status SessionPool::SetRoutes(PathId id, int routes) {
  Path& path = Mutable(id);
  if (!path.running() || path.routes == routes) {
    return {};
  }
  std::optional<RouteSpec> spec;
  if (routes > 1) {
    spec = RouteSpecOf(config_.options, routes);
  }
  Status status = engine_.Route(path.lane, spec);
  if (!status) {
    return status;
  }
  path.routes = routes;
  Emit(RefineRecord{id, path.length(), routes});
  return {};
}

void SessionPool::Finish(PathId id, PathStatus status, const std::string& reason, PathId kept) {
  Path& path = Mutable(id);
  if (!path.running()) {
    return;
  }
  path.kept = kept;
  EndLane(path, status, reason);
}

void SessionPool::EndLane(Path& path, PathStatus status, const std::string& reason) {
  NotePeaks();
  engine_.Close(path.lane);
  lanes_.erase(FindLane(lanes_, path.lane));
  running_.erase(std::find(running_.begin(), running_.end(), path.id));
  pending_ -= (path.granted > 0 ? 1 : 0) + path.scores_due;
  path.scores_due = 0;
  path.granted = 0;
  path.lane = 0;
  path.status = status;
  path.reason = reason;
  path.top_history.shrink_to_fit();
  WindowOf(path.id) = ConfidenceWindow();  // its means are the path's own now
  cells_.Close(path.id);
  if (!decided_ && config_.extractor != nullptr) {
    ReadAnswer(path);
  }
  RecordEnd(path);
}

void SessionPool::RecordEnd(const Path& path) {
  Emit(FinishRecord{path.id, path.status, path.length(), path.reason, path.answer, path.tentative,
                    path.mean_confidence, path.lowest_window, path.kept});
}

void SessionPool::Append(Path& path, const Event& event) {
  const MethodOptions& options = config_.options;
  path.tokens.push_back(event.token);
  cells_.Grow(path.id, 1);
  path.logprobs.push_back(event.logprob);
  path.mean_logprobs.push_back(
      event.mean_logprob.value_or(std::numeric_limits<float>::quiet_NaN()));
  path.route_counts.push_back(static_cast<uint8_t>(std::min(event.routes, 255)));
  path.entropies.push_back(
      event.entropy.value_or(static_cast<float>(TopKEntropy(event.top, options.entropy_count))));
  // Out of the stored floats, so that the series give it again.
  const auto confidence =
      static_cast<float>(SignalOf(options.confidence,
                                  {event.top, event.token, path.logprobs.back(),
                                   path.entropies.back(), path.mean_logprobs.back()},
                                  options.confidence_count));
  path.confidences.push_back(confidence);
  ConfidenceWindow& window = WindowOf(path.id);
  window.Push(confidence);
  path.window_mean = window.WindowMean();
  path.lowest_window = window.LowestWindowMean();
  path.mean_confidence = window.TraceMean();
  path.confidences_top20.push_back(static_cast<float>(
      TokenConfidence(event.top, event.token, ConfidenceSet::kTopK, kDeepConfCandidates)));
  const int read = std::max(options.confidence_count + 1, options.entropy_count);
  const size_t kept = std::min(event.top.size(), static_cast<size_t>(read));
  path.top.assign(event.top.begin(), event.top.begin() + static_cast<std::ptrdiff_t>(kept));
  if (path.warmup && !warmup_over_) {
    path.top_history.push_back(path.top);
  }
}

void SessionPool::Charge(const Path& path, const Event& event) {
  ledger_.recomputed += event.recomputed_tokens;
  if (path.kind == PathKind::kJudge) {
    ++ledger_.judge;
    return;
  }
  if (path.kind == PathKind::kProbe) {
    ++ledger_.probe;
    return;
  }
  const auto index = static_cast<size_t>(path.length() - 1);
  if (tokens_at_.size() <= index) {
    tokens_at_.resize(index + 1, 0);
  }
  ledger_.positions += tokens_at_[index]++ == 0 ? 1 : 0;
  ++ledger_.generated;
  ledger_.refined += event.routes > 1 ? 1 : 0;
  ledger_.extra_routes += event.routes - 1;
  ledger_.penalty_sums += event.penalty_sums;
  ledger_.penalty_rewards += event.penalty_rewards;
}

PathId SessionPool::Apply(const Event& event) {
  const auto at = FindLane(lanes_, event.lane);
  if (at == lanes_.end()) {
    return kNoPath;
  }
  const PathId id = at->second;
  Path& path = Mutable(id);
  switch (event.kind) {
    case EventKind::kToken:
      Take(path, event);
      break;
    case EventKind::kEnd:
      EndLane(path,
              event.end_reason == EndReason::kStop ? PathStatus::kFinished : PathStatus::kLength,
              event.end_reason == EndReason::kStop ? "end of generation" : "context is full");
      break;
    case EventKind::kStalled:
      stalled_ = true;
      break;
    case EventKind::kFailed:
      EndLane(path, PathStatus::kFailed, event.error.message);
      break;
    case EventKind::kScored:
      --path.scores_due;
      --pending_;
      break;
    case EventKind::kBoundary:
      break;
  }
  return id;
}

void SessionPool::Take(Path& path, const Event& event) {
  if (event.degenerate) {
    EndLane(path, PathStatus::kDegenerate, "the model returned no finite logits");
    return;
  }
  Append(path, event);
  Charge(path, event);
  if (path.granted > 0 && --path.granted == 0) {
    --pending_;
  }
  const bool end = engine_.IsEndOfGeneration(event.token);
  std::string text = engine_.TokenText(event.token);
  if (!end) {
    path.text += text;
  }
  if (config_.token_records) {
    Emit(TokenRecord{path.id, path.length() - 1, event.token, std::move(text), event.logprob,
                     path.confidences.back(), path.entropies.back(), event.routes,
                     path.confidences_top20.back(), path.mean_logprobs.back(), path.window_mean});
  }
  const ConfidenceWindow& window = WindowOf(path.id);
  if (end) {
    EndLane(path, PathStatus::kFinished, "end of generation");
  } else if (threshold_ && path.kind == PathKind::kReasoning && ShouldPrune(window, *threshold_)) {
    EndLane(path, PathStatus::kPruned, PruneReason(path.window_mean, *threshold_));
  } else if (path.length() >= config_.options.max_tokens) {
    EndLane(path, PathStatus::kLength, "max-tokens " + std::to_string(config_.options.max_tokens));
  } else {
    EndLoop(path);
  }
}

void SessionPool::BeginPhase() {
  warmup_over_ = true;
  tokens_at_.clear();
  for (Path& path : paths_) {
    path.top_history = {};  // the maxima of the warm-up have been taken
  }
}

}  // namespace hyper

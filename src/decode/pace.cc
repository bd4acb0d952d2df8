#include "src/decode/pace.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "hyper/auto_choice.h"

namespace hyper {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTokens = 5;  // of each path; the first comes with the prompt
constexpr std::chrono::seconds kEnough{1};

// Polls until every lane has its first token, then counts further ones until the time is up or the
// lanes have no grant left.
Result<double> Count(Engine& engine, size_t lanes) {
  size_t first = 0;
  size_t tokens = 0;
  Clock::time_point start;
  while (first + tokens < lanes * kTokens && (tokens < lanes || Clock::now() - start < kEnough)) {
    const Result<std::span<const Event>> events = engine.Poll(1.0);
    if (!events) {
      return events.error();
    }
    for (const Event& event : *events) {
      if (event.kind == EventKind::kFailed || event.kind == EventKind::kStalled) {
        return Error{ErrorCode::kResourceExhausted, "the pace cannot be measured"};
      }
      if (event.kind == EventKind::kToken) {
        (first < lanes ? first : tokens) += 1;
      }
    }
    start = first < lanes || tokens == 0 ? Clock::now() : start;
  }
  const std::chrono::duration<double> passed = Clock::now() - start;
  return static_cast<double>(tokens) / std::max(passed.count(), 1e-9);
}

// Tokens per second of `paths` paths side by side.
Result<double> PaceOf(Engine& engine, std::span<const Token> prompt, int paths) {
  const int wanted = std::clamp(paths, 1, std::max(1, engine.capabilities().max_lanes));
  std::vector<LaneId> lanes;
  Status status;
  LaneSpec spec;
  spec.stop_at_end = false;
  spec.top_count = std::min(spec.top_count, engine.capabilities().max_top_count);
  while (status && static_cast<int>(lanes.size()) < wanted) {
    const Result<LaneId> lane = engine.Open(prompt, spec);
    status = lane ? engine.Grant(*lane, kTokens) : Status(lane.error());
    if (lane) {
      lanes.push_back(*lane);
    }
  }
  Result<double> pace = status ? Count(engine, lanes.size()) : Result<double>(status.error());
  for (const LaneId lane : lanes) {
    engine.Close(lane);
  }
  return pace;
}

}  // namespace

Result<double> MeasurePace(Engine& engine, std::span<const Token> prompt,
                           std::span<const int> phases) {
  std::vector<double> paces;
  for (const int paths : phases) {
    Result<double> pace = PaceOf(engine, prompt, paths);
    if (!pace) {
      return pace;
    }
    paces.push_back(*pace);
  }
  return PaceOfRun(phases, paces);
}

}  // namespace hyper

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
constexpr int64_t kMostHalfway = 256;  // what a slow machine reads in a few seconds

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
      if (event.kind == EventKind::kFailed || event.kind == EventKind::kStalled ||
          event.kind == EventKind::kEnd) {  // the context is full
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

// Lanes on one prompt. They stay open from one phase to the next: an engine that shares the KV of
// equal beginnings computes the prompt once.
class PromptLanes {
 public:
  PromptLanes(Engine& engine, std::span<const Token> prompt) : engine_(engine), prompt_(prompt) {}
  ~PromptLanes() { (void)Resize(0); }
  PromptLanes(const PromptLanes&) = delete;
  PromptLanes& operator=(const PromptLanes&) = delete;

  // Tokens per second of `paths` paths side by side.
  Result<double> PaceOf(int paths) {
    const int wanted = std::clamp(paths, 1, std::max(1, engine_.capabilities().max_lanes));
    if (Status status = Resize(static_cast<size_t>(wanted)); !status) {
      return status.error();
    }
    for (const LaneId lane : lanes_) {
      Status status = engine_.Revoke(lane);  // what the phase before left over
      if (status) {
        status = engine_.Grant(lane, kTokens);
      }
      if (!status) {
        return status.error();
      }
    }
    return Count(engine_, lanes_.size());
  }

 private:
  Status Resize(size_t count) {
    LaneSpec spec;
    spec.stop_at_end = false;
    spec.top_count = std::min(spec.top_count, engine_.capabilities().max_top_count);
    for (; lanes_.size() > count; lanes_.pop_back()) {
      engine_.Close(lanes_.back());
    }
    while (lanes_.size() < count) {
      const Result<LaneId> lane = engine_.Open(prompt_, spec);
      if (!lane) {
        return lane.error();
      }
      lanes_.push_back(*lane);
    }
    return {};
  }

  Engine& engine_;
  std::span<const Token> prompt_;
  std::vector<LaneId> lanes_;
};

// The prompt, repeated to stand for half a path after it, where context and cells have room.
std::vector<Token> HalfwayPrompt(std::span<const Token> prompt, int path_tokens,
                                 const Capabilities& able) {
  std::vector<Token> halfway(prompt.begin(), prompt.end());
  const auto length = static_cast<int64_t>(prompt.size());
  const int64_t cells = able.cells_total > 0 ? (able.cells_total - length) / 2 : kMostHalfway;
  const int64_t room = std::min(cells, able.context_tokens - length - kTokens - 1);
  const int64_t more = length == 0 ? 0 : std::min({path_tokens / int64_t{2}, kMostHalfway, room});
  halfway.reserve(prompt.size() + static_cast<size_t>(std::max<int64_t>(more, 0)));
  for (int64_t i = 0; i < more; ++i) {
    halfway.push_back(halfway[static_cast<size_t>(i)]);
  }
  return halfway;
}

}  // namespace

Result<double> MeasurePace(Engine& engine, std::span<const Token> prompt,
                           std::span<const int> phases, int path_tokens) {
  const std::vector<Token> halfway = HalfwayPrompt(prompt, path_tokens, engine.capabilities());
  PromptLanes lanes(engine, halfway);
  std::vector<double> paces;
  for (const int paths : phases) {
    Result<double> pace = lanes.PaceOf(paths);
    if (!pace) {
      return pace;
    }
    paces.push_back(*pace);
  }
  return PaceOfRun(phases, paces);
}

}  // namespace hyper

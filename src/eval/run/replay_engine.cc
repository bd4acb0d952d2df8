#include "src/eval/run/replay_engine.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "src/core/after_token.h"

namespace hyper::eval {
namespace {

constexpr int kUnlimited = std::numeric_limits<int>::max() / 4;
constexpr int kTopCount = 64;

Error Unsupported(const char* what) {
  return {ErrorCode::kUnsupported, std::string("stored traces cannot be ") + what};
}

}  // namespace

ReplayEngine::ReplayEngine(std::vector<ReplayTrace> traces, ModelInfo model)
    : traces_(std::move(traces)), model_(std::move(model)) {
  size_t tokens = 0;
  for (const ReplayTrace& trace : traces_) {
    first_token_.push_back(tokens);
    tokens += trace.pieces.size();
  }
  capabilities_.full_logits = true;
  capabilities_.strict = true;
  capabilities_.max_top_count = kTopCount;
  capabilities_.max_lanes = kUnlimited;
  capabilities_.max_rows = kUnlimited;
  capabilities_.context_tokens = kUnlimited;
}

Result<std::vector<Token>> ReplayEngine::Tokenize(std::string_view /*text*/,
                                                  bool /*parse_special*/) {
  return Unsupported("tokenized anew");
}

ReplayEngine::Place ReplayEngine::PlaceOf(Token token) const {
  const auto number = static_cast<size_t>(token);
  const auto after = std::upper_bound(first_token_.begin(), first_token_.end(), number);
  const auto trace = static_cast<size_t>(after - first_token_.begin()) - 1;
  return {&traces_[trace], number - first_token_[trace]};
}

std::string ReplayEngine::TokenText(Token token) const {
  const Place place = PlaceOf(token);
  return place.trace->pieces[place.position];
}

bool ReplayEngine::IsEndOfGeneration(Token token) const {
  const Place place = PlaceOf(token);
  return place.trace->finished && place.trace->end_token &&
         place.position + 1 == place.trace->pieces.size();
}

Result<Prompt> ReplayEngine::RenderChat(
    std::span<const ChatMessage> /*messages*/,
    std::span<const std::pair<std::string, std::string>> /*template_arguments*/) {
  return Unsupported("asked anew");
}

Result<LaneId> ReplayEngine::Open(std::span<const Token> prompt, const LaneSpec& spec) {
  const size_t trace = next_lane_ - 1;
  if (trace >= traces_.size()) {
    return Error{ErrorCode::kResourceExhausted, "all " + std::to_string(traces_.size()) +
                                                    " stored traces of the question are in use"};
  }
  lanes_[next_lane_] = {trace, 0, static_cast<int>(prompt.size()), 0, spec.top_count};
  return next_lane_++;
}

Result<LaneId> ReplayEngine::Fork(LaneId /*lane*/, int /*position*/, const LaneSpec& /*spec*/) {
  return Unsupported("forked");
}

Status ReplayEngine::Extend(LaneId /*lane*/, std::span<const Token> /*tokens*/) {
  return Unsupported("extended");
}

Result<uint64_t> ReplayEngine::Score(LaneId /*lane*/,
                                     std::span<const std::vector<Token>> /*continuations*/) {
  return Unsupported("scored");
}

Status ReplayEngine::Grant(LaneId lane, int count) {
  lanes_.at(lane).granted += count;
  return {};
}

Status ReplayEngine::Revoke(LaneId lane) {
  lanes_.at(lane).granted = 0;
  return {};
}

Status ReplayEngine::Route(LaneId /*lane*/, const std::optional<RouteSpec>& spec) {
  return spec && spec->routes > 1 ? Status(Unsupported("refined")) : Status();
}

Status ReplayEngine::Evict(LaneId /*lane*/) { return {}; }

// A confidence comes back exactly out of a top list whose entries all have it as log-probability,
// none of them the chosen token: any mean over such a list is that value.
void ReplayEngine::Decode(LaneId id, Lane& lane) {
  const ReplayTrace& trace = traces_[lane.trace];
  Event event;
  event.lane = id;
  if (lane.next >= trace.pieces.size()) {
    event.kind = EventKind::kEnd;
    event.end_reason = EndReason::kContextFull;
    lane.granted = 0;
    events_.push_back(std::move(event));
    return;
  }
  event.position = lane.prompt_tokens + static_cast<int>(lane.next);
  event.token = static_cast<Token>(first_token_[lane.trace] + lane.next);
  event.logprob =
      trace.logprobs.empty() ? std::numeric_limits<float>::quiet_NaN() : trace.logprobs[lane.next];
  if (!trace.mean_logprobs.empty()) {
    event.mean_logprob = trace.mean_logprobs[lane.next];
  }
  if (!trace.entropies.empty()) {
    event.entropy = trace.entropies[lane.next];
  }
  const float confidence = trace.confidences[lane.next];
  std::vector<TokenLogprob>& top = tops_.emplace_back();
  for (int i = 0; i < lane.top_count; ++i) {
    top.push_back({-2 - i, -confidence});
  }
  event.top = top;
  ++lane.next;
  --lane.granted;
  events_.push_back(std::move(event));
  std::optional<EndReason> end;
  if (lane.next == trace.pieces.size()) {
    end = trace.finished ? EndReason::kStop : EndReason::kContextFull;
  }
  if (std::optional<Event> after = EventAfterToken(id, end, lane.granted)) {
    events_.push_back(std::move(*after));
  }
}

Result<std::span<const Event>> ReplayEngine::Poll(double /*timeout_s*/) {
  events_.clear();
  tops_.clear();
  tops_.reserve(lanes_.size());  // spans into it must stay valid
  int longest = 0;
  for (auto& [id, lane] : lanes_) {
    if (lane.granted > 0) {
      const std::vector<int>& spans = traces_[lane.trace].spans;
      longest = std::max(longest, lane.next < spans.size() ? spans[lane.next] : 0);
      Decode(id, lane);
    }
  }
  positions_ += longest;
  return std::span<const Event>(events_);
}

bool ReplayEngine::has_spans() const { return !traces_.empty() && !traces_[0].spans.empty(); }

int ReplayEngine::TokensOf(size_t trace, int pieces) const {
  const std::vector<int>& spans = traces_[trace].spans;
  return std::accumulate(spans.begin(), spans.begin() + pieces, 0);
}

}  // namespace hyper::eval

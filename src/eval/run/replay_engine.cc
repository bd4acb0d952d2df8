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
  for (const ReplayTrace& trace : traces_) {
    first_token_.push_back(tokens_);
    first_reply_.push_back(replies_.size());
    tokens_ += trace.pieces.size();
    replies_.insert(replies_.end(), trace.replies.begin(), trace.replies.end());
  }
  capabilities_.full_logits = true;
  capabilities_.strict = true;
  capabilities_.max_top_count = kTopCount;
  capabilities_.max_lanes = kUnlimited;
  capabilities_.max_rows = kUnlimited;
  capabilities_.context_tokens = kUnlimited;
}

Result<std::vector<Token>> ReplayEngine::Tokenize(std::string_view text, bool /*parse_special*/) {
  if (replies_.empty()) {
    return Unsupported("tokenized anew");
  }
  question_ = text;
  return std::vector<Token>{QuestionToken()};
}

Token ReplayEngine::QuestionToken() const { return static_cast<Token>(tokens_); }

Token ReplayEngine::ReplyOf(const Lane& lane) const {
  const ReplayTrace& trace = traces_[lane.trace];
  const auto next = static_cast<int>(lane.next);
  const int tokens = trace.spans.empty() ? next : TokensOf(lane.trace, next);
  const int newest = std::max(tokens / trace.replies_every - 1, 0);
  const size_t reply = std::min(static_cast<size_t>(newest), trace.replies.size() - 1);
  return QuestionToken() + 1 + static_cast<Token>(first_reply_[lane.trace] + reply);
}

ReplayEngine::Place ReplayEngine::PlaceOf(Token token) const {
  const auto number = static_cast<size_t>(token);
  const auto after = std::upper_bound(first_token_.begin(), first_token_.end(), number);
  const auto trace = static_cast<size_t>(after - first_token_.begin()) - 1;
  return {&traces_[trace], number - first_token_[trace]};
}

std::string ReplayEngine::TokenText(Token token) const {
  if (token >= QuestionToken()) {
    return token == QuestionToken() ? question_
                                    : replies_[static_cast<size_t>(token - QuestionToken() - 1)];
  }
  const Place place = PlaceOf(token);
  return place.trace->pieces[place.position];
}

bool ReplayEngine::IsEndOfGeneration(Token token) const {
  if (token >= QuestionToken()) {
    return false;
  }
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
  if (opened_ >= traces_.size()) {
    return Error{ErrorCode::kResourceExhausted, "all " + std::to_string(traces_.size()) +
                                                    " stored traces of the question are in use"};
  }
  Lane lane;
  lane.trace = opened_++;
  lane.prompt_tokens = static_cast<int>(prompt.size());
  lane.top_count = spec.top_count;
  lanes_[next_lane_] = lane;
  return next_lane_++;
}

Result<LaneId> ReplayEngine::Fork(LaneId lane, int /*position*/, const LaneSpec& spec) {
  Lane fork = lanes_.at(lane);
  if (traces_[fork.trace].replies.empty()) {
    return Unsupported("forked");
  }
  fork.probe = true;
  fork.granted = 0;
  fork.top_count = spec.top_count;
  ++asked_;
  lanes_[next_lane_] = fork;
  return next_lane_++;
}

Status ReplayEngine::Extend(LaneId lane, std::span<const Token> /*tokens*/) {
  return lanes_.at(lane).probe ? Status() : Status(Unsupported("extended"));
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
std::span<const TokenLogprob> ReplayEngine::TopOf(const Lane& lane, float confidence) {
  std::vector<TokenLogprob>& top = tops_.emplace_back();
  for (int i = 0; i < lane.top_count; ++i) {
    top.push_back({-2 - i, -confidence});
  }
  return top;
}

void ReplayEngine::Reply(LaneId id, Lane& lane) {
  Event event;
  event.lane = id;
  event.position = lane.prompt_tokens + static_cast<int>(lane.next);
  event.logprob = std::numeric_limits<float>::quiet_NaN();
  if (std::exchange(lane.replied, true)) {
    event.kind = EventKind::kEnd;
    event.end_reason = EndReason::kStop;
    lane.granted = 0;
  } else {
    event.token = ReplyOf(lane);
    event.top = TopOf(lane, event.logprob);
    --lane.granted;
  }
  events_.push_back(std::move(event));
}

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
  event.top = TopOf(lane, trace.confidences[lane.next]);
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
    if (lane.granted > 0 && lane.probe) {
      Reply(id, lane);
    } else if (lane.granted > 0) {
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

// Streams of a remote engine's lanes: queueing, starting, ending, trying again.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/http/url.h"
#include "src/base/utf8.h"
#include "src/core/random.h"
#include "src/engine/remote/remote_engine.h"

namespace hyper::remote {
namespace {

constexpr double kDrainSeconds = 5;  // for the last bytes of an ended stream
constexpr double kCheckSeconds = 0.2;

// Whether nothing has been written behind the lane's prompt. Such a lane's end is the server's
// doing, not an answer of the model.
bool Untouched(const RemoteLane& lane) { return lane.length_with_waiting() <= lane.prompt_tokens; }

// Whether a block of reasoning is open at the end of an assistant's message.
bool InsideReasoning(std::string_view text) {
  const size_t opened = text.rfind("<think>");
  const size_t closed = text.rfind("</think>");
  return opened != std::string_view::npos && (closed == std::string_view::npos || closed < opened);
}

Error RefusedPrompt(const StreamEnd& end) {
  if (end.context_full) {
    return InvalidArgument("the prompt does not fit the server's context: " + end.error);
  }
  return {ErrorCode::kUnavailable,
          "the server ended a completion at its length before its first token"};
}

}  // namespace

// Whether the lane needs a stream for what it is granted.
bool RemoteEngine::Wants(const RemoteLane& lane) const {
  const int arrived = static_cast<int>(lane.waiting.size());
  return lane.granted > arrived && !lane.stream && !lane.ended && !lane.failed && !lane.queued;
}

void RemoteEngine::Enqueue(RemoteLane& lane, Time not_before) {
  lane.queued = true;
  if (not_before > 0) {
    delayed_.emplace(not_before, lane.id);
  } else {
    queue_.emplace(lane.length_with_waiting() - lane.prompt_tokens, lane.id);
  }
}

// Starts streams for queued lanes, the least advanced first, as long as there is room.
void RemoteEngine::StartQueued(Time now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const LaneId id = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    if (RemoteLane* lane = Find(id)) {
      queue_.emplace(lane->length_with_waiting() - lane->prompt_tokens, id);
    }
  }
  if (queue_.empty()) {
    return;
  }
  ReviveReplicas(now);
  while (!queue_.empty()) {
    RemoteLane* lane = Find(queue_.begin()->second);
    if (lane == nullptr || !lane->queued) {  // closed meanwhile
      queue_.erase(queue_.begin());
      continue;
    }
    const bool cap_reached = static_cast<int>(streaming_.size()) >= options_.max_streams;
    const int replica = cap_reached ? kNoReplica : ChooseReplica(replicas_, lane->preferred, now);
    if (replica == kNoReplica) {
      const bool any_alive = std::any_of(replicas_.begin(), replicas_.end(),
                                         [now](const Replica& r) { return r.Alive(now); });
      if (!any_alive || !MakeRoom()) {
        return;
      }
      continue;
    }
    queue_.erase(queue_.begin());
    lane->queued = false;
    if (!StartStream(*lane, replica, now)) {
      return;
    }
  }
}

// Ends a stream that nobody waits for, so that a queued lane can have its place: one whose lane has
// used up its grant, or has all its tokens waiting. What has arrived stays with the lane.
bool RemoteEngine::MakeRoom() {
  for (const LaneId id : streaming_) {
    RemoteLane& lane = *Find(id);
    if (lane.granted <= static_cast<int>(lane.waiting.size())) {
      EndStream(lane);
      return true;
    }
  }
  return false;
}

// Tokens that the next request of a lane asks for. Refined ones cost K times as much, so that none
// is made ahead.
int RemoteEngine::TokensToAsk(const RemoteLane& lane) const {
  const int length = lane.length_with_waiting();
  const int room = std::max(1, context_tokens_ - length);
  if (options_.grant_tokens > 0 || lane.route) {
    const int most = options_.grant_tokens > 0 ? std::min(options_.grant_tokens, room) : room;
    const int missing = lane.granted - static_cast<int>(lane.waiting.size());
    return std::min(std::clamp(missing, 1, most), lane.most_asked);
  }
  return std::min(std::clamp(options_.stream_tokens - (length - lane.prompt_tokens), 1, room),
                  lane.most_asked);
}

// The request that goes on after the lane's history and what waits behind it.
CompletionRequest RemoteEngine::RequestOf(RemoteLane& lane, const Abilities& server) {
  CompletionRequest request;
  request.sampler = lane.spec.sampler;
  if (!server.raw_logprobs && request.sampler.temperature != 1.0) {
    request.sampler.temperature = 1.0;
  }
  request.top_count = std::min(lane.spec.top_count, server.top_logprobs);
  request.max_tokens = TokensToAsk(lane);
  request.seed = RequestSeed(lane.spec.path_key, lane.length_with_waiting(), lane.restarts);
  request.stop_at_end = lane.spec.stop_at_end;
  request.route = lane.route;
  request.route_key = lane.spec.path_key;
  for (const auto& [token, bias] : lane.spec.logit_bias) {
    request.logit_bias.emplace_back(table_.WireId(token), bias);
  }
  std::vector<int32_t> ids = lane.wire;
  std::vector<Token> tokens = lane.history;
  for (const ArrivedToken& arrived : lane.waiting) {
    ids.push_back(arrived.wire_id);
    tokens.push_back(arrived.token);
  }
  lane.replay.clear();
  request.chat = lane.chat;
  auto known = static_cast<size_t>(std::find(ids.begin(), ids.end(), kNoWireId) - ids.begin());
  if (lane.chat != nullptr) {
    known = static_cast<size_t>(lane.chat->tokens);  // the server makes them of the messages
  } else if (server.prompt_ids && (known == ids.size() || server.mixed_prompts)) {
    // Text begins behind the last number that is known, and with a whole character. The prompt
    // stays in numbers, so that a user's text makes no control tokens.
    while (known < ids.size() &&
           base::IncompleteTail(table_.Join(std::span(tokens).first(known))) > 0) {
      --known;
    }
    request.ids.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(known));
  } else {
    known = 0;
  }
  request.text = table_.Join(std::span(tokens).subspan(known));
  // Of a text, a split character cannot be sent: the new stream has to begin with it.
  const size_t tail = base::IncompleteTail(request.text);
  lane.replay = request.text.substr(request.text.size() - tail);
  request.text.resize(request.text.size() - tail);
  return request;
}

bool RemoteEngine::StartStream(RemoteLane& lane, int index, Time now) {
  Replica& replica = replicas_[static_cast<size_t>(index)];
  cost_.unused_tokens += lane.held ? 1 : 0;  // the text goes on without it
  lane.held.reset();
  const CompletionRequest request = RequestOf(lane, replica.can);
  auto stream = std::make_unique<Stream>(parser_, lane.id, changed_, options_.api_key);
  const Result<base::TransferId> id = loop_->Start({.url = replica.url + CompletionPath(request),
                                                    .post = true,
                                                    .body = CompletionBody(request, replica.can)},
                                                   stream.get());
  if (!id) {
    StreamEnd end;
    end.error = id.error().message;
    end.retry = true;
    TryAgain(lane, end, now);
    return false;
  }
  stream->in_reasoning =
      lane.chat != nullptr && InsideReasoning(lane.chat->continuation.opener + request.text);
  stream->transfer = *id;
  stream->replica = index;
  stream->asked_tokens = request.max_tokens;
  stream->last_progress = now;
  ++cost_.forwards;  // requests
  ++lane.streams_begun;
  ++replica.streams;
  lane.preferred = index;
  lane.stream = std::move(stream);
  streaming_.insert(lane.id);
  return true;
}

// Charges what a server computed of the lane's history, once its stream has brought something: a
// request that was refused computed nothing.
void RemoteEngine::ChargePrompt(RemoteLane& lane) {
  if (std::exchange(lane.stream->charged, true)) {
    return;
  }
  // The prompt is computed once on a replica that keeps prefixes; all else is computed again.
  const int index = lane.stream->replica;
  const bool first = lane.replica == kNoReplica && !lane.forked;
  const bool moved = !first && lane.replica != index;
  const bool keeps = replicas_[static_cast<size_t>(index)].can.prefix_cache;
  const int length = lane.length_with_waiting();
  if (first) {
    cost_.prefill_tokens += lane.prompt_tokens;
  } else if (moved || !keeps) {
    lane.recomputed += length;
    cost_.recomputed_tokens += length;
  }
  lane.replica = index;
}

// Closes the lane's stream and takes it out of the queues.
void RemoteEngine::EndStream(RemoteLane& lane) {
  if (lane.stream) {
    cost_.unused_tokens += static_cast<int64_t>(lane.stream->tokens.size());
    loop_->Cancel(lane.stream->transfer);
    --replicas_[static_cast<size_t>(lane.stream->replica)].streams;
    lane.stream.reset();
    streaming_.erase(lane.id);
  }
  lane.queued = false;
}

// Streams that have ended still take their last bytes, so that the connection can be used again.
void RemoteEngine::Drain(Time now) {
  std::erase_if(draining_, [&](auto& entry) {
    auto& [deadline, stream] = entry;
    if (stream->transfer != 0 && now < deadline) {
      return false;
    }
    loop_->Cancel(stream->transfer);
    return true;
  });
}

void RemoteEngine::LookAtStreams(Time now) {
  std::vector<LaneId> ids = std::exchange(changed_, {});
  std::sort(ids.begin(), ids.end());
  for (const LaneId id : ids) {
    RemoteLane* lane = Find(id);  // closed meanwhile, or its stream ended: null
    if (lane != nullptr && lane->stream && std::exchange(lane->stream->changed, false)) {
      LookAt(*lane, now);
    }
  }
}

void RemoteEngine::LookAt(RemoteLane& lane, Time now) {
  Stream& stream = *lane.stream;
  if (!stream.tokens.empty()) {
    stream.last_progress = now;
  }
  for (ChunkToken& token : std::exchange(stream.tokens, {})) {
    NoteSuccess(replicas_[static_cast<size_t>(stream.replica)]);
    ChargePrompt(lane);
    Arrive(lane, token);
    if (!lane.stream) {
      return;  // a replay that did not match: another stream is coming
    }
  }
  if (!lane.waiting.empty()) {
    ready_.insert(lane.id);
  }
  if (stream.end.kind != StreamEnd::Kind::kOpen) {
    HandleEnd(lane, stream.end, now);
    return;
  }
  const int beyond = static_cast<int>(lane.waiting.size()) - lane.granted;
  if (!stream.paused && beyond >= options_.waiting_tokens) {
    stream.paused = true;
    loop_->SetPaused(stream.transfer, true);
  }
}

void RemoteEngine::HandleEnd(RemoteLane& lane, const StreamEnd& given, Time now) {
  const StreamEnd end = given;
  const int seen = lane.stream->tokens_seen;
  const int asked = lane.stream->asked_tokens;
  const int replica = lane.stream->replica;
  --replicas_[static_cast<size_t>(replica)].streams;
  streaming_.erase(lane.id);
  if (end.kind == StreamEnd::Kind::kFailed) {
    loop_->Cancel(lane.stream->transfer);
    lane.stream.reset();
  } else {
    ChargePrompt(lane);
    draining_.emplace_back(now + kDrainSeconds, std::move(lane.stream));
  }
  ready_.insert(lane.id);
  const bool full = lane.length_with_waiting() >= context_tokens_;
  if (end.kind == StreamEnd::Kind::kStop && Untouched(lane) && !lane.held) {
    StreamEnd empty;
    empty.error = "the server ended a completion before its first token";
    TryAgain(lane, empty, now);
  } else if (end.kind == StreamEnd::Kind::kStop) {
    if (lane.held) {
      TakeEnd(lane);
    }
    lane.ended = EndReason::kStop;
  } else if (end.context_full && seen == 0 && AskForLess(lane, end, asked)) {
    if (Wants(lane)) {
      Enqueue(lane, 0);
    }
  } else if (end.kind == StreamEnd::Kind::kLength || end.context_full) {
    if (lane.held) {
      lane.waiting.push_back(*std::exchange(lane.held, std::nullopt));
    }
    if (Untouched(lane)) {
      lane.failed = RefusedPrompt(end);
    } else if (full || seen == 0 || end.context_full) {
      lane.ended = EndReason::kContextFull;
    } else if (Wants(lane)) {
      Enqueue(lane, 0);
    }
  } else if (end.retry) {
    if (end.unreachable) {
      NoteUnreachable(replica, end.error, now);
    }
    TryAgain(lane, end, now);
  } else {
    lane.failed = Error{ErrorCode::kUnavailable, base::WithoutKey(end.error, options_.api_key)};
  }
}

// A server may refuse a request for the tokens that it asks for, not for its prompt: its words may
// tell the context; else half as many are asked for. False: not even one token fits.
bool RemoteEngine::AskForLess(RemoteLane& lane, const StreamEnd& end, int asked) {
  Notice("context", "a request is too long for the server's context: " + end.error);
  if (end.prompt_too_long || asked <= 1) {
    return false;
  }
  if (end.context_tokens > lane.length_with_waiting()) {
    context_tokens_ = std::min(context_tokens_, end.context_tokens);
  }
  if (TokensToAsk(lane) >= asked) {
    lane.most_asked = asked / 2;
  }
  return true;
}

// Lets the lane go on later, or elsewhere at once; gives it up after too many tries.
void RemoteEngine::TryAgain(RemoteLane& lane, const StreamEnd& end, Time now) {
  ++lane.restarts;
  ++lane.attempts;
  if (lane.attempts > options_.retries) {
    lane.failed = Error{
        ErrorCode::kUnavailable,
        base::WithoutKey(fmt::format("given up after {} attempts: {}", lane.attempts, end.error),
                         options_.api_key)};
    ready_.insert(lane.id);
    return;
  }
  if (lane.ended || lane.granted <= static_cast<int>(lane.waiting.size())) {
    return;  // it asks again when it is granted more
  }
  const bool elsewhere = end.unreachable && ChooseReplica(replicas_, kNoReplica, now) != kNoReplica;
  if (elsewhere) {
    Enqueue(lane, 0);
    return;
  }
  Delay(lane, lane.attempts, end.retry_after_s, now);
}

// Queues the lane for try number `attempt`, not before the server's `asked_s` seconds are over.
void RemoteEngine::Delay(RemoteLane& lane, int attempt, double asked_s, Time now) {
  const double random = Uniform(lane.spec.path_key, static_cast<uint32_t>(attempt), Purpose::kTie,
                                static_cast<uint32_t>(lane.streams_begun));
  Enqueue(lane, now + base::BackoffSeconds(attempt, asked_s, random));
}

void RemoteEngine::CheckTimeouts(Time now) {
  if (now < next_check_) {
    return;
  }
  next_check_ = now + kCheckSeconds;
  CheckAllDead(now);
  if (options_.timeout_s <= 0) {
    return;
  }
  const std::vector<LaneId> ids(streaming_.begin(), streaming_.end());
  for (const LaneId id : ids) {
    RemoteLane& lane = *Find(id);
    if (lane.stream->paused || now - lane.stream->last_progress < options_.timeout_s) {
      continue;
    }
    StreamEnd end;
    end.retry = true;
    end.error = fmt::format("no token for {} s (--timeout)", options_.timeout_s);
    EndStream(lane);
    TryAgain(lane, end, now);
  }
}

}  // namespace hyper::remote

// Streams of a remote engine's lanes: queueing, starting, ending, trying again.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/random.h"
#include "src/engine/remote/endpoint.h"
#include "src/engine/remote/probe.h"
#include "src/engine/remote/remote_engine.h"

namespace hyper::remote {
namespace {

constexpr double kDrainSeconds = 5;  // for the last bytes of an ended stream
constexpr double kCheckSeconds = 0.2;

}  // namespace

// Whether the lane needs a stream for what it is granted.
bool RemoteEngine::Wants(const RemoteLane& lane) const {
  const int arrived = static_cast<int>(lane.waiting.size());
  return lane.granted > arrived && !lane.stream && !lane.ended && !lane.failed && !lane.queued;
}

void RemoteEngine::Enqueue(RemoteLane& lane, Clock not_before) {
  lane.queued = true;
  if (not_before > 0) {
    delayed_.emplace(not_before, lane.id);
  } else {
    queue_.emplace(lane.length_with_waiting() - lane.prompt_tokens, lane.id);
  }
}

// Starts streams for queued lanes, the least advanced first, as long as there is room.
void RemoteEngine::StartQueued(Clock now) {
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

// Tokens that the next request of a lane asks for.
int RemoteEngine::TokensToAsk(const RemoteLane& lane) const {
  const int length = lane.length_with_waiting();
  const int room = std::max(1, capabilities_.context_tokens - length);
  if (options_.grant_tokens > 0) {
    const int missing = lane.granted - static_cast<int>(lane.waiting.size());
    return std::clamp(missing, 1, std::min(options_.grant_tokens, room));
  }
  return std::clamp(options_.stream_tokens - (length - lane.prompt_tokens), 1, room);
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
  request.seed =
      RequestSeed(lane.spec.path_key, lane.length_with_waiting(), lane.attempts + lane.replays);
  request.stop_at_end = lane.spec.stop_at_end;
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
  const bool all_known =
      lane.chat == nullptr && std::find(ids.begin(), ids.end(), kNoWireId) == ids.end();
  if (server.prompt_ids && all_known) {
    request.ids = std::move(ids);
    return request;
  }
  const auto chat_tokens = static_cast<size_t>(lane.chat == nullptr ? 0 : lane.chat->tokens);
  request.text = table_.Join(std::span(tokens).subspan(chat_tokens));
  // A split character cannot be sent: the new stream has to begin with it.
  const size_t tail = IncompleteTail(request.text);
  lane.replay = request.text.substr(request.text.size() - tail);
  request.text.resize(request.text.size() - tail);
  return request;
}

bool RemoteEngine::StartStream(RemoteLane& lane, int index, Clock now) {
  Replica& replica = replicas_[static_cast<size_t>(index)];
  cost_.unused_tokens += lane.held ? 1 : 0;  // the text goes on without it
  lane.held.reset();
  const CompletionRequest request = RequestOf(lane, replica.can);
  auto stream = std::make_unique<Stream>(parser_, lane.id, changed_);
  const Result<TransferId> id = loop_->Start(
      {replica.url + CompletionPath(request), true, CompletionBody(request, replica.can), 0},
      stream.get());
  if (!id) {
    StreamEnd end;
    end.error = id.error().message;
    end.retry = true;
    Retry(lane, end, now);
    return false;
  }
  stream->transfer = *id;
  stream->replica = index;
  stream->asked_tokens = request.max_tokens;
  stream->last_progress = now;
  // The prompt is computed once on a replica that keeps prefixes; all else is computed again.
  const bool first = lane.streams_begun == 0;
  const bool moved = lane.replica != kNoReplica && lane.replica != index;
  const bool fork_elsewhere = first && lane.forked && lane.preferred != index;
  const int length = lane.length_with_waiting();
  if (moved || fork_elsewhere || ((!first || lane.forked) && !replica.can.prefix_cache)) {
    lane.recomputed += length;
    cost_.recomputed_tokens += length;
  } else if (first && !lane.forked) {
    cost_.prefill_tokens += lane.prompt_tokens;
  }
  ++cost_.forwards;  // requests
  ++lane.streams_begun;
  ++replica.streams;
  lane.replica = index;
  lane.preferred = index;
  lane.stream = std::move(stream);
  streaming_.insert(lane.id);
  return true;
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
void RemoteEngine::Drain(Clock now) {
  std::erase_if(draining_, [&](auto& entry) {
    auto& [deadline, stream] = entry;
    if (stream->transfer != 0 && now < deadline) {
      return false;
    }
    loop_->Cancel(stream->transfer);
    return true;
  });
}

void RemoteEngine::LookAtStreams(Clock now) {
  std::vector<LaneId> ids = std::exchange(changed_, {});
  std::sort(ids.begin(), ids.end());
  for (const LaneId id : ids) {
    RemoteLane* lane = Find(id);  // closed meanwhile, or its stream ended: null
    if (lane != nullptr && lane->stream && std::exchange(lane->stream->changed, false)) {
      LookAt(*lane, now);
    }
  }
}

void RemoteEngine::LookAt(RemoteLane& lane, Clock now) {
  Stream& stream = *lane.stream;
  for (ChunkToken& token : std::exchange(stream.tokens, {})) {
    NoteSuccess(replicas_[static_cast<size_t>(stream.replica)]);
    lane.attempts = 0;
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

void RemoteEngine::HandleEnd(RemoteLane& lane, const StreamEnd& given, Clock now) {
  const StreamEnd end = given;
  const int seen = lane.stream->tokens_seen;
  --replicas_[static_cast<size_t>(lane.stream->replica)].streams;
  streaming_.erase(lane.id);
  if (end.kind == StreamEnd::Kind::kFailed) {
    loop_->Cancel(lane.stream->transfer);
    lane.stream.reset();
  } else {
    draining_.emplace_back(now + kDrainSeconds, std::move(lane.stream));
  }
  ready_.insert(lane.id);
  const bool full = lane.length_with_waiting() >= capabilities_.context_tokens;
  if (end.kind == StreamEnd::Kind::kStop) {
    if (lane.held) {
      TakeEnd(lane);
    }
    lane.ended = EndReason::kStop;
  } else if (end.kind == StreamEnd::Kind::kLength || end.context_full) {
    if (lane.held) {
      lane.waiting.push_back(*std::exchange(lane.held, std::nullopt));
    }
    if (full || seen == 0 || end.context_full) {
      lane.ended = EndReason::kContextFull;
    } else if (Wants(lane)) {
      Enqueue(lane, 0);
    }
  } else if (end.retry) {
    Retry(lane, end, now);
  } else {
    lane.failed = Error{ErrorCode::kUnavailable, WithoutKey(end.error, options_.api_key)};
  }
}

// Lets the lane go on later, or elsewhere at once; gives it up after too many tries.
void RemoteEngine::Retry(RemoteLane& lane, const StreamEnd& end, Clock now) {
  Replica* replica =
      lane.replica == kNoReplica ? nullptr : &replicas_[static_cast<size_t>(lane.replica)];
  if (end.unreachable && replica != nullptr) {
    NoteFailure(*replica, now);
    Notice("dead " + replica->url,
           fmt::format("{} does not answer ({}); its lanes go on elsewhere or later", replica->url,
                       end.error));
  }
  ++lane.attempts;
  if (lane.attempts > options_.retries) {
    lane.failed =
        Error{ErrorCode::kUnavailable,
              WithoutKey(fmt::format("given up after {} attempts: {}", lane.attempts, end.error),
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
  const double random = Uniform(lane.spec.path_key, static_cast<uint32_t>(lane.attempts),
                                Purpose::kTie, static_cast<uint32_t>(lane.streams_begun));
  Enqueue(lane, now + BackoffSeconds(lane.attempts, end.retry_after_s, random));
}

void RemoteEngine::CheckTimeouts(Clock now) {
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
    Retry(lane, end, now);
  }
}

// Replicas that were away when the engine was made are probed when their time comes.
void RemoteEngine::ReviveReplicas(Clock now) {
  for (Replica& replica : replicas_) {
    if (replica.probed || now < replica.dead_until) {
      continue;
    }
    const Result<Abilities> found = ProbeFurther(*loop_, replica.url, can(), options_.api_key);
    if (found) {
      replica.can = *found;
      replica.capacity = found->slots;
      replica.probed = true;
      NoteSuccess(replica);
    } else {
      NoteFailure(replica, now);
    }
  }
}

// While no replica is alive, queued lanes wait until the first of them may be back.
void RemoteEngine::CheckAllDead(Clock now) {
  if (queue_.empty() || std::any_of(replicas_.begin(), replicas_.end(),
                                    [now](const Replica& r) { return r.Alive(now); })) {
    return;
  }
  Clock back = replicas_.front().dead_until;
  for (const Replica& replica : replicas_) {
    back = std::min(back, replica.dead_until);
  }
  for (const auto& [advance, id] : std::exchange(queue_, {})) {
    if (Find(id) != nullptr) {
      delayed_.emplace(std::max(back, now), id);
    }
  }
}

}  // namespace hyper::remote

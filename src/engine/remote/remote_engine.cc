#include "src/engine/remote/remote_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/http/url.h"
#include "src/engine/remote/probe/probe.h"
#include "src/engine/remote/wire/endpoint.h"

namespace hyper::remote {
namespace {

Error UnknownLane(LaneId lane) { return InvalidArgument(fmt::format("lane {} is not open", lane)); }

}  // namespace

RemoteEngine::RemoteEngine(RemoteOptions options, std::unique_ptr<base::HttpLoop> loop,
                           std::vector<Replica> replicas)
    : options_(std::move(options)), loop_(std::move(loop)), replicas_(std::move(replicas)) {
  const auto probed = std::find_if(replicas_.begin(), replicas_.end(),
                                   [](const Replica& replica) { return replica.probed; });
  probed_ = static_cast<size_t>(probed - replicas_.begin());
  constexpr int kUnknownContext = 1 << 20;
  capabilities_.raw_logprobs = true;
  capabilities_.max_top_count = can().logprobs_sound ? can().top_logprobs : 0;
  capabilities_.score = can().echo && can().prompt_ids && capabilities_.max_top_count > 0;
  capabilities_.max_lanes = options_.max_lanes;
  capabilities_.max_rows = options_.max_lanes;
  capabilities_.context_tokens = can().context_tokens > 0 ? can().context_tokens : kUnknownContext;
  context_tokens_ = capabilities_.context_tokens;
  model_.name = can().model;
  model_.architecture = ServerKindName(can().kind);
  model_.context_train_tokens = can().context_tokens;
  model_.has_chat_template =
      can().chat != Abilities::Template::kNone || !options_.chat_template.empty();
  SetRouting();
  for (const std::string& workaround : can().workarounds) {
    Notice(workaround, replicas_[probed_].url + ": " + workaround);
  }
}

// Tokens can be refined where all servers that answer do it.
void RemoteEngine::SetRouting() {
  const ServerRouting& routing = can().routing;
  model_.expert_count = routing.experts;
  model_.expert_used_count = routing.experts_used;
  model_.moe_layer_count = routing.moe_layers;
  for (const Replica& replica : replicas_) {
    if (replica.probed && replica.can.routing.most_routes < std::max(routing.most_routes, 2)) {
      capabilities_.no_routing =
          "the server at " + replica.url +
          " does not refine tokens; vLLM does with an add-on (docs/remote.md)";
      return;
    }
  }
  capabilities_.routing = true;
}

EngineCost RemoteEngine::cost() const {
  EngineCost cost = cost_;
  cost.lanes_open = static_cast<int>(lanes_.size());
  return cost;
}

std::vector<std::string> RemoteEngine::TakeNotices() { return std::exchange(notices_, {}); }

// Each kind of notice once.
void RemoteEngine::Notice(const std::string& key, const std::string& text) {
  if (noticed_.insert(key).second) {
    notices_.push_back(base::WithoutKey(text, options_.api_key));
  }
}

RemoteLane* RemoteEngine::Find(LaneId lane) {
  const auto found = lanes_.find(lane);
  return found == lanes_.end() ? nullptr : found->second.get();
}

Result<LaneId> RemoteEngine::Insert(RemoteLane lane) {
  if (static_cast<int>(lanes_.size()) >= options_.max_lanes) {
    return Error{ErrorCode::kResourceExhausted,
                 fmt::format("all {} lanes are in use", options_.max_lanes)};
  }
  lane.id = next_lane_++;
  const LaneId id = lane.id;
  lanes_.emplace(id, std::make_unique<RemoteLane>(std::move(lane)));
  cost_.lanes_peak = std::max(cost_.lanes_peak, static_cast<int>(lanes_.size()));
  return id;
}

Result<LaneId> RemoteEngine::Open(std::span<const Token> prompt, const LaneSpec& spec) {
  const int fits = capabilities_.context_tokens - 1;
  if (prompt.empty() || prompt.size() > static_cast<size_t>(fits)) {
    return InvalidArgument(
        fmt::format("the prompt has {} tokens; 1 to {} fit", prompt.size(), fits));
  }
  RemoteLane lane;
  lane.chat = ChatOf(prompt);
  if (lane.chat == nullptr && !can().completions) {
    return Error{ErrorCode::kUnsupported,
                 "the server takes chats only, and this prompt is not a chat"};
  }
  lane.spec = spec;
  lane.history.assign(prompt.begin(), prompt.end());
  lane.prompt_tokens = static_cast<int>(prompt.size());
  for (const Token token : prompt) {
    lane.wire.push_back(table_.WireId(token));
  }
  return Insert(std::move(lane));
}

Result<LaneId> RemoteEngine::Fork(LaneId id, int position, const LaneSpec& spec) {
  const RemoteLane* from = Find(id);
  if (from == nullptr) {
    return UnknownLane(id);
  }
  if (position < 1 || position > from->length()) {
    return InvalidArgument(
        fmt::format("position {} is outside the lane's {} "
                    "tokens",
                    position, from->length()));
  }
  if (from->chat != nullptr && position < from->chat->tokens) {
    return Error{ErrorCode::kUnsupported, "a chat that the server renders has no forks inside"};
  }
  RemoteLane child;
  child.chat = from->chat;
  child.spec = spec;
  child.history.assign(from->history.begin(), from->history.begin() + position);
  child.wire.assign(from->wire.begin(), from->wire.begin() + position);
  child.prompt_tokens = std::min(from->prompt_tokens, position);
  child.forked = true;
  child.most_asked = from->most_asked;
  child.replica = from->replica;
  child.preferred = from->replica != kNoReplica ? from->replica : from->preferred;
  return Insert(std::move(child));
}

Status RemoteEngine::Extend(LaneId id, std::span<const Token> tokens) {
  RemoteLane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  Drop(*lane);
  for (const Token token : tokens) {
    lane->history.push_back(token);
    lane->wire.push_back(table_.WireId(token));
  }
  lane->ended.reset();
  cost_.prefill_tokens += static_cast<int64_t>(tokens.size());
  return {};
}

Status RemoteEngine::Grant(LaneId id, int count) {
  RemoteLane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  lane->granted += count;
  ready_.insert(id);
  if (Wants(*lane)) {
    Enqueue(*lane, 0);
  }
  return {};
}

Status RemoteEngine::Revoke(LaneId id) {
  RemoteLane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  lane->granted = 0;
  return {};
}

Status RemoteEngine::Route(LaneId id, const std::optional<RouteSpec>& spec) {
  RemoteLane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  const bool refined = spec && spec->routes > 1;
  if (refined && !capabilities_.routing) {
    return Error{ErrorCode::kUnsupported, capabilities_.no_routing};
  }
  if (refined && spec->weights == RouteWeights::kClean) {
    return Error{ErrorCode::kUnsupported,
                 "a server's router takes experts and weights from one row; use --weights noisy"};
  }
  const int most = can().routing.most_routes;
  if (refined && spec->routes > most) {
    return InvalidArgument(
        fmt::format("{} routes are asked for; the server has room for {}", spec->routes, most));
  }
  if (!refined && !lane->route) {
    return {};
  }
  if (lane->length_with_waiting() > lane->length()) {
    lane->ended.reset();  // what waits was made the other way and is forgotten, its end too
    lane->failed.reset();
  }
  Drop(*lane);
  lane->route = refined ? spec : std::nullopt;
  if (Wants(*lane)) {
    Enqueue(*lane, 0);
  }
  return {};
}

Status RemoteEngine::Evict(LaneId id) {
  RemoteLane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  EndStream(*lane);
  return {};
}

// Ends the stream and forgets what waits: the history goes another way.
void RemoteEngine::Drop(RemoteLane& lane) {
  EndStream(lane);
  cost_.unused_tokens += lane.length_with_waiting() - lane.length();
  lane.waiting.clear();
  lane.held.reset();
  lane.replay.clear();
}

void RemoteEngine::Close(LaneId id) {
  RemoteLane* lane = Find(id);
  if (lane == nullptr) {
    return;
  }
  Drop(*lane);
  DropScores(id);
  ready_.erase(id);
  lanes_.erase(id);
}

Result<std::span<const Event>> RemoteEngine::Poll(double timeout_s) {
  events_.clear();
  tops_.clear();
  StartQueued(Now());
  Release();
  double wait_s = 0;
  if (events_.empty()) {
    constexpr double kLongestWait = 0.25;  // queues, time limits and replicas are looked at
    wait_s = std::clamp(timeout_s, 0.0, kLongestWait);
    if (!delayed_.empty()) {
      wait_s = std::clamp(delayed_.begin()->first - Now(), 0.0, wait_s);
    }
  }
  if (Status status = loop_->Wait(wait_s); !status) {
    return status.error();
  }
  const Time now = Now();
  LookAtStreams(now);
  Drain(now);
  CheckTimeouts(now);
  CollectScores();
  if (events_.empty()) {
    StartQueued(now);
    Release();
  }
  return std::span<const Event>(events_);
}

}  // namespace hyper::remote

namespace hyper {

using base::HttpLoop;
using remote::Abilities;
using remote::Replica;

namespace {

Status CheckOptions(const RemoteOptions& options) {
  RemoteOptions copy = options;
  if (Status status = CheckRanges(OptionsOf(copy)); !status) {
    return status;
  }
  for (const std::string& url : options.urls) {
    if (Status status = remote::CheckUrl(url); !status) {
      return status;
    }
  }
  const auto invalid = [](const std::string& words) { return InvalidArgument(words); };
  for (const std::string& header : options.headers) {
    const size_t colon = header.find(':');
    if (colon == 0 || colon == std::string::npos ||
        header.find_first_of("\r\n") != std::string::npos) {
      return invalid("a header takes the form 'Name: value' on one line");
    }
  }
  if (options.api_key.find_first_of(" \r\n\t") != std::string::npos) {
    return invalid("the API key has spaces or line breaks inside");
  }
  if (options.urls.empty()) {
    return invalid("a remote engine needs the URL of a server");
  }
  if (options.max_lanes < 1 || options.waiting_tokens < 1 || options.stream_tokens < 1) {
    return invalid("the lanes and token limits of a remote engine are 1 or more");
  }
  return {};
}

std::unique_ptr<HttpLoop> MakeLoop(const RemoteOptions& options, base::Clock& clock) {
  return std::make_unique<HttpLoop>(base::HttpSettings{options.api_key, options.headers,
                                                       options.ca_file, options.connect_timeout_s},
                                    clock);
}

}  // namespace

Result<ServerReport> ProbeServer(const std::string& url, const RemoteOptions& options) {
  RemoteOptions checked = options;
  checked.urls = {url};
  if (Status status = CheckOptions(checked); !status) {
    return status.error();
  }
  const std::unique_ptr<HttpLoop> loop = MakeLoop(checked, base::SteadyClock());
  Result<Abilities> can = remote::Probe(*loop, url, options.model);
  return can ? Result<ServerReport>(remote::Describe(url, *can))
             : Result<ServerReport>(can.error());
}

Result<std::unique_ptr<Engine>> MakeRemoteEngine(const RemoteOptions& options) {
  return remote::MakeEngine(options, base::SteadyClock());
}

Result<std::unique_ptr<Engine>> remote::MakeEngine(const RemoteOptions& options,
                                                   base::Clock& clock) {
  if (Status status = CheckOptions(options); !status) {
    return status.error();
  }
  std::unique_ptr<HttpLoop> loop = MakeLoop(options, clock);
  std::vector<Replica> replicas;
  std::optional<Error> first_error;
  std::optional<Abilities> first;
  for (const std::string& url : options.urls) {
    Replica replica;
    replica.url = remote::BaseUrl(url);
    Result<Abilities> can =
        first ? remote::ProbeFurther(*loop, url, *first) : remote::Probe(*loop, url, options.model);
    if (can) {
      replica.can = *can;
      replica.capacity = can->slots;
      replica.probed = true;
      first = first ? first : *can;
    } else if (can.error().code != ErrorCode::kUnavailable) {
      return can.error();
    } else if (!first_error) {
      first_error = can.error();
    }
    if (!replica.probed) {
      remote::NoteFailure(replica, clock.Now());
    }
    replicas.push_back(std::move(replica));
  }
  if (!first) {
    return *first_error;
  }
  return std::unique_ptr<Engine>(
      std::make_unique<remote::RemoteEngine>(options, std::move(loop), std::move(replicas)));
}

}  // namespace hyper

// Tokens of a remote engine: from what a server sent to events.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "src/engine/remote/remote_engine.h"

namespace hyper::remote {
namespace {

constexpr int kMostReplays = 16;
constexpr int kQuickReplays = 4;    // of these, without a delay
constexpr int32_t kEndWireId = -2;  // of an end token whose number is not told

// Hash of a list of alternatives up to `entry`, given that of those before it.
uint64_t HashOf(uint64_t before, const ChunkAlternative& entry) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15U;
  const uint64_t name = std::hash<std::string_view>()(entry.bytes);
  return ((before ^ name) * kOdd ^ std::bit_cast<uint32_t>(entry.logprob)) * kOdd;
}

bool HasMultiByte(std::string_view bytes) {
  return std::any_of(bytes.begin(), bytes.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace

// Cuts the bytes that the stream had to repeat off its tokens. False: the token was used up by it,
// or the stream went another way and has been ended.
bool RemoteEngine::TakeReplay(RemoteLane& lane, ChunkToken& token) {
  if (lane.replay.empty()) {
    return true;
  }
  const size_t common = std::min(lane.replay.size(), token.bytes.size());
  if (token.bytes.compare(0, common, lane.replay, 0, common) != 0) {
    EndStream(lane);
    ++lane.restarts;
    if (++lane.replays > kMostReplays) {
      lane.failed = Error{ErrorCode::kUnsupported,
                          "the lane continues inside a character, and the server, which takes only "
                          "texts, did not repeat its first half"};
      ready_.insert(lane.id);
    } else if (lane.replays <= kQuickReplays) {
      Enqueue(lane, 0);
    } else {
      constexpr int kLongestDelay = 3;  // 2 s
      Delay(lane, std::min(lane.replays - kQuickReplays, kLongestDelay), -1, Now());
    }
    return false;
  }
  lane.replay.erase(0, common);
  if (common == token.bytes.size()) {
    return false;
  }
  token.bytes.erase(0, common);
  token.id = kNoWireId;
  return true;
}

void RemoteEngine::Arrive(RemoteLane& lane, ChunkToken& token) {
  if (!TakeReplay(lane, token)) {
    return;
  }
  const size_t waited = lane.waiting.size();
  if (lane.held) {
    lane.waiting.push_back(*std::exchange(lane.held, std::nullopt));
  }
  ArrivedToken arrived = Convert(lane, token);
  // A token without text is special, or the first part of a character, or the end of the text:
  // what follows will tell.
  if (token.bytes.empty()) {
    lane.held = std::move(arrived);
  } else {
    lane.waiting.push_back(std::move(arrived));
  }
  if (lane.waiting.size() > waited) {  // the lane has got on
    lane.attempts = 0;
    lane.replays = 0;
  }
}

// Whether the token's log-probabilities can be what they are called; else says so once.
bool RemoteEngine::Judge(RemoteLane& lane, const ChunkToken& token) {
  constexpr double kMostMass = 1.01;
  constexpr int kMostRepeats = 8;
  const auto bad = [this](const char* key, const std::string& words) {
    Notice(key, "degenerate log-probabilities: " + words +
                    "; such tokens have no confidence, and no path is pruned by them");
    return false;
  };
  if (!token.has_logprob || token.top.empty()) {
    return lane.spec.top_count == 0 || capabilities_.max_top_count == 0 ||
           bad("missing", "the server left some out");
  }
  double mass = 0;
  uint64_t list = 0;
  for (const ChunkAlternative& entry : token.top) {
    mass += std::exp(std::min(static_cast<double>(entry.logprob), 1.0));
    list = HashOf(list, entry);
  }
  if (std::isnan(token.logprob) || std::isnan(mass)) {
    return bad("nan", "some are not numbers (NaN)");
  }
  if (token.logprob > 1e-3F) {
    return bad("positive", "they are positive");
  }
  if (mass <= 0) {
    return bad("none", "a whole list is null or -inf");
  }
  if (mass > kMostMass) {
    return bad("mass", "they sum to more than 1 (all 0.0, as with speculative decoding)");
  }
  lane.repeats = list == lane.last_list ? lane.repeats + 1 : 0;
  lane.last_list = list;
  if (lane.repeats >= kMostRepeats) {
    return bad("repeated", "the same list comes again and again");
  }
  return true;
}

ArrivedToken RemoteEngine::Convert(RemoteLane& lane, ChunkToken& token) {
  ArrivedToken arrived;
  // With numbers for all, they tell tokens apart; else names do, for chosen and alternatives alike.
  const bool numbered =
      token.id != kNoWireId && !token.top.empty() &&
      std::all_of(token.top.begin(), token.top.end(),
                  [](const ChunkAlternative& entry) { return entry.id != kNoWireId; });
  bool whole = !HasMultiByte(token.bytes) || !can().token_pieces;
  for (const ChunkAlternative& entry : token.top) {
    whole = whole || (numbered && entry.id == token.id && entry.bytes == token.bytes);
  }
  // llama-server sends the bytes of several tokens with the last one's number where a character is
  // split over them: the others' numbers are lost.
  arrived.wire_id = whole ? token.id : kNoWireId;
  // Without them a name stands for the token, unless its text is another, or none.
  const bool named = !numbered && !token.bytes.empty() && token.bytes == token.name;
  arrived.token = table_.Intern(whole && !named ? token.id : kNoWireId, token.bytes);
  if (named && arrived.wire_id != kNoWireId) {
    table_.NoteWireId(arrived.token, arrived.wire_id);  // for lanes that are opened with it
  }
  arrived.logprob = std::min(token.logprob, 0.0F);
  if (!Judge(lane, token)) {
    return arrived;
  }
  arrived.top.reserve(token.top.size());
  for (const ChunkAlternative& entry : token.top) {
    const bool chosen = numbered ? entry.id == token.id : entry.bytes == token.name;
    const Token other =
        chosen ? arrived.token : table_.Intern(numbered ? entry.id : kNoWireId, entry.bytes);
    arrived.top.push_back({other, std::min(entry.logprob, 0.0F)});
  }
  const auto more_probable = [](const TokenLogprob& a, const TokenLogprob& b) {
    return a.logprob > b.logprob;
  };
  if (!std::is_sorted(arrived.top.begin(), arrived.top.end(), more_probable)) {
    std::stable_sort(arrived.top.begin(), arrived.top.end(), more_probable);
  }
  const auto wanted = static_cast<size_t>(std::max(lane.spec.top_count, 0));
  if (arrived.top.size() > wanted) {
    arrived.top.resize(wanted);
  }
  return arrived;
}

// The text ended after a token without text: it is the end's, and not one of the special tokens
// that a server leaves out of the text and calls the same.
void RemoteEngine::TakeEnd(RemoteLane& lane) {
  ArrivedToken arrived = *std::exchange(lane.held, std::nullopt);
  if (table_.WireId(arrived.token) == kNoWireId) {
    const Token end = table_.Intern(kEndWireId, "");
    for (TokenLogprob& entry : arrived.top) {
      entry.token = entry.token == arrived.token ? end : entry.token;
    }
    arrived.token = end;
  }
  table_.MarkEnd(arrived.token);
  lane.waiting.push_back(std::move(arrived));
}

// At most one token of each granted lane, so that a lane closed or revoked takes no further one.
void RemoteEngine::Release() {
  const std::vector<LaneId> ids(ready_.begin(), ready_.end());
  for (const LaneId id : ids) {
    RemoteLane& lane = *Find(id);
    ReleaseFrom(lane);
    const bool more = lane.granted > 0 && (!lane.waiting.empty() || lane.ended || lane.failed);
    if (!more) {
      ready_.erase(id);
    }
  }
}

void RemoteEngine::ReleaseFrom(RemoteLane& lane) {
  if (lane.granted == 0) {
    return;
  }
  if (!lane.waiting.empty()) {
    ReleaseToken(lane);
  }
  Event event;
  event.lane = lane.id;
  if (lane.waiting.empty() && lane.ended) {
    event.kind = EventKind::kEnd;
    event.end_reason = *lane.ended;
    lane.granted = 0;
  } else if (lane.granted == 0) {
    event.kind = EventKind::kBoundary;
  } else if (lane.waiting.empty() && lane.failed) {
    event.kind = EventKind::kFailed;
    event.error = *lane.failed;
    lane.granted = 0;
  } else {
    if (Wants(lane)) {
      Enqueue(lane, 0);
    }
    return;
  }
  events_.push_back(std::move(event));
}

void RemoteEngine::ReleaseToken(RemoteLane& lane) {
  ArrivedToken next = std::move(lane.waiting.front());
  lane.waiting.pop_front();
  Event event;
  event.lane = lane.id;
  event.position = lane.length();
  event.token = next.token;
  event.logprob = next.logprob;
  event.recomputed_tokens = std::exchange(lane.recomputed, 0);
  tops_.push_back(std::move(next.top));
  event.top = tops_.back();
  lane.history.push_back(next.token);
  lane.wire.push_back(next.wire_id);
  --lane.granted;
  event.routes = lane.route ? lane.route->routes : 1;
  cost_.decode_rows += event.routes;
  cost_.route_rows += event.routes - 1;
  events_.push_back(std::move(event));
  const int beyond = static_cast<int>(lane.waiting.size()) - lane.granted;
  if (lane.stream && lane.stream->paused && beyond < options_.waiting_tokens / 2) {
    lane.stream->paused = false;
    lane.stream->last_progress = Now();
    loop_->SetPaused(lane.stream->transfer, false);
  }
}

}  // namespace hyper::remote

#include "hyper/fake_engine.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "src/core/after_token.h"
#include "src/core/logits.h"
#include "src/core/random.h"
#include "src/core/sampling.h"

namespace hyper {
namespace {

Error UnknownLane(LaneId lane) {
  return InvalidArgument("lane " + std::to_string(lane) + " is not open");
}

}  // namespace

FakeEngine::FakeEngine(FakeOptions options) : options_(std::move(options)) {
  model_.name = "fake";
  model_.architecture = "scripted";
  model_.vocab_size = kVocabulary;
  const Capabilities& can = options_.capabilities;
  model_.expert_count = can.routing || !can.no_routing.empty() ? 8 : 0;
  model_.has_chat_template = true;
  cost_.bytes_per_cell = 64;
}

EngineCost FakeEngine::cost() const {
  EngineCost cost = cost_;
  cost.cells_used = CellsUsed();
  cost.lanes_open = open_lanes();
  return cost;
}

int FakeEngine::open_lanes() const {
  return static_cast<int>(std::count_if(lanes_.begin(), lanes_.end(),
                                        [](const auto& entry) { return entry.second.open; }));
}

// As in Pool::cells: a closed lane holds what its open children share with it. Lanes opened on one
// prompt share its cells.
int64_t FakeEngine::CellsUsed() const {
  std::map<LaneId, int> needed;
  std::set<std::vector<Token>> prompts;
  int64_t total = 0;
  for (auto at = lanes_.rbegin(); at != lanes_.rend(); ++at) {
    const auto& [id, lane] = *at;
    int& need = needed[id];
    if (lane.open && !lane.evicted) {
      need = std::max(need, static_cast<int>(lane.history.size()));
    }
    if (lane.parent != 0) {
      total += std::max(need - lane.fork_position, 0);
      needed[lane.parent] = std::max(needed[lane.parent], std::min(need, lane.fork_position));
    } else if (need > 0) {
      total += need - lane.prompt_tokens;
      prompts.insert({lane.history.begin(), lane.history.begin() + lane.prompt_tokens});
    }
  }
  for (const std::vector<Token>& prompt : prompts) {
    total += static_cast<int64_t>(prompt.size());
  }
  return total;
}

Result<std::vector<Token>> FakeEngine::Tokenize(std::string_view text, bool /*parse_special*/) {
  std::vector<Token> tokens;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    tokens.push_back(byte < kVocabulary && byte != kEnd ? static_cast<Token>(byte) : '?');
  }
  return tokens;
}

std::string FakeEngine::TokenText(Token token) const {
  return token == kEnd ? "<end>" : std::string(1, static_cast<char>(token));
}

Result<Prompt> FakeEngine::RenderChat(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> /*template_arguments*/) {
  Prompt prompt;
  for (const ChatMessage& message : messages) {
    prompt.text += message.role + ": " + message.content + "\n";
    prompt.question = message.role == "user" ? message.content : prompt.question;
  }
  Result<std::vector<Token>> tokens = Tokenize(prompt.text, false);
  if (!tokens) {
    return tokens.error();
  }
  prompt.tokens = *tokens;
  return prompt;
}

Result<Prompt> FakeEngine::RenderForm(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> template_arguments,
    const ReplyWish& wish) {
  if (wish.empty() || !options_.form) {
    return Engine::RenderForm(messages, template_arguments, wish);
  }
  Result<ReplyForm> form = options_.form(wish);
  if (!form) {
    return form.error();
  }
  Result<Prompt> prompt = RenderChat(messages, template_arguments);
  if (prompt) {
    prompt->form = std::make_shared<const ReplyForm>(std::move(*form));
  }
  return prompt;
}

FakeEngine::Lane* FakeEngine::Find(LaneId lane) {
  const auto at = lanes_.find(lane);
  return at != lanes_.end() && at->second.open ? &at->second : nullptr;
}

Result<LaneId> FakeEngine::Insert(Lane lane) {
  const int64_t number = opens_++;
  if (open_lanes() >= options_.capabilities.max_lanes ||
      (options_.refuse_open && options_.refuse_open(number))) {
    return Error{ErrorCode::kResourceExhausted,
                 "all " + std::to_string(open_lanes()) + " lanes are in use"};
  }
  const LaneId id = next_lane_++;
  lanes_.emplace(id, std::move(lane));
  cost_.lanes_peak = std::max(cost_.lanes_peak, open_lanes());
  return id;
}

Result<LaneId> FakeEngine::Open(std::span<const Token> prompt, const LaneSpec& spec) {
  if (prompt.empty() || static_cast<int>(prompt.size()) >= options_.capabilities.context_tokens) {
    return InvalidArgument("the prompt has " + std::to_string(prompt.size()) + " tokens; 1 to " +
                           std::to_string(options_.capabilities.context_tokens - 1) + " fit");
  }
  Lane lane;
  lane.spec = spec;
  lane.history.assign(prompt.begin(), prompt.end());
  lane.prompt_tokens = static_cast<int>(prompt.size());
  return Insert(std::move(lane));
}

Result<LaneId> FakeEngine::Fork(LaneId lane, int position, const LaneSpec& spec) {
  const Lane* from = Find(lane);
  if (from == nullptr) {
    return UnknownLane(lane);
  }
  if (position < 1 || position > static_cast<int>(from->history.size())) {
    return InvalidArgument("position " + std::to_string(position) + " is outside the lane's " +
                           std::to_string(from->history.size()) + " tokens");
  }
  Lane child;
  child.spec = spec;
  child.history.assign(from->history.begin(), from->history.begin() + position);
  child.prompt_tokens = std::min(from->prompt_tokens, position);
  child.parent = lane;
  child.fork_position = position;
  return Insert(std::move(child));
}

Status FakeEngine::Extend(LaneId id, std::span<const Token> tokens) {
  Lane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  lane->history.insert(lane->history.end(), tokens.begin(), tokens.end());
  cost_.prefill_tokens += static_cast<int64_t>(tokens.size());
  return {};
}

Result<uint64_t> FakeEngine::Score(LaneId id, std::span<const std::vector<Token>> continuations) {
  if (Find(id) == nullptr) {
    return UnknownLane(id);
  }
  score_requests_.push_back({next_request_, id, {continuations.begin(), continuations.end()}});
  return next_request_++;
}

Status FakeEngine::Grant(LaneId id, int count) {
  Lane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  lane->granted += count;
  return {};
}

Status FakeEngine::Revoke(LaneId id) {
  Lane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  lane->granted = 0;
  return {};
}

Status FakeEngine::Route(LaneId id, const std::optional<RouteSpec>& spec) {
  Lane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  if (spec && spec->routes > 1 && !options_.capabilities.routing) {
    return Error{ErrorCode::kUnsupported, "this model has no experts to route"};
  }
  lane->routes = spec ? spec->routes : 1;
  return {};
}

Status FakeEngine::Evict(LaneId id) {
  Lane* lane = Find(id);
  if (lane == nullptr) {
    return UnknownLane(id);
  }
  lane->evicted = true;
  return {};
}

void FakeEngine::Close(LaneId id) {
  if (Lane* lane = Find(id)) {
    lane->open = false;
    lane->granted = 0;
  }
}

std::vector<float> FakeEngine::LogitsAfter(const Lane& lane, std::span<const Token> history) const {
  std::vector<float> logits(kVocabulary, 0.0F);
  options_.logits({lane.spec.path_key, history, lane.prompt_tokens, lane.routes}, logits);
  return logits;
}

void FakeEngine::Constrain(const Lane& lane, std::vector<float>& logits) const {
  if (lane.spec.grammar == nullptr || !options_.allows) {
    return;
  }
  std::string text;
  for (size_t i = static_cast<size_t>(lane.prompt_tokens); i < lane.history.size(); ++i) {
    text += static_cast<char>(lane.history[i]);
  }
  for (size_t token = 0; token < logits.size(); ++token) {
    if (!options_.allows(lane.spec.grammar->rules, text + static_cast<char>(token))) {
      logits[token] = -std::numeric_limits<float>::infinity();
    }
  }
}

void FakeEngine::AnswerScores() {
  for (ScoreRequest& request : std::exchange(score_requests_, {})) {
    const Lane* lane = Find(request.lane);
    if (lane == nullptr) {
      continue;
    }
    Event event;
    event.kind = EventKind::kScored;
    event.lane = request.lane;
    event.request = request.number;
    for (const std::vector<Token>& continuation : request.continuations) {
      std::vector<Token> history = lane->history;
      std::vector<float>& row = event.scores.emplace_back();
      std::vector<std::vector<TokenLogprob>> tops;
      for (const Token token : continuation) {
        const std::vector<float> logits = LogitsAfter(*lane, history);
        RowSummary summary;
        SummarizeRow(logits, lane->spec.score_tops ? lane->spec.top_count : 0, summary);
        if (lane->spec.score_tops) {
          tops.emplace_back(summary.top.begin(), summary.top.end());
        }
        row.push_back(static_cast<float>(logits[static_cast<size_t>(token)] - summary.log_sum_exp));
        history.push_back(token);
      }
      if (lane->spec.score_tops) {
        event.score_tops.push_back(std::move(tops));
      }
    }
    events_.push_back(std::move(event));
  }
}

void FakeEngine::Decode(LaneId id, Lane& lane) {
  Event event;
  event.lane = id;
  const FakeStep step{lane.spec.path_key, lane.history, lane.prompt_tokens, lane.routes};
  if (options_.lane_fault) {
    if (std::optional<Error> fault = options_.lane_fault(step)) {
      event.kind = EventKind::kFailed;
      event.error = *fault;
      lane.granted = 0;
      events_.push_back(std::move(event));
      return;
    }
  }
  if (lane.evicted) {
    event.recomputed_tokens = static_cast<int>(lane.history.size());
    cost_.recomputed_tokens += event.recomputed_tokens;
    lane.evicted = false;
  }
  const std::vector<float> logits = LogitsAfter(lane, lane.history);
  std::vector<float> drawn_from = logits;
  Constrain(lane, drawn_from);
  RowSummary summary;
  SummarizeRow(logits, lane.spec.top_count, summary);
  event.position = static_cast<int>(lane.history.size());
  event.routes = lane.routes;
  event.degenerate = summary.degenerate;
  if (!summary.degenerate) {
    SamplerScratch scratch;
    const double u =
        Uniform(lane.spec.path_key, static_cast<uint32_t>(event.position), Purpose::kSample);
    event.token = SampleToken(drawn_from, lane.spec.sampler, u, scratch);
    event.logprob =
        static_cast<float>(logits[static_cast<size_t>(event.token)] - summary.log_sum_exp);
    event.mean_logprob = static_cast<float>(summary.mean_logprob);
    tops_.push_back(std::make_unique<std::vector<TokenLogprob>>(std::move(summary.top)));
    event.top = *tops_.back();
  }
  lane.history.push_back(event.token);
  --lane.granted;
  ++cost_.decode_rows;
  cost_.route_rows += lane.routes - 1;
  std::optional<EndReason> end;
  if (lane.spec.stop_at_end && event.token == kEnd) {
    end = EndReason::kStop;
  } else if (static_cast<int>(lane.history.size()) >= options_.capabilities.context_tokens) {
    end = EndReason::kContextFull;
  }
  events_.push_back(std::move(event));
  if (std::optional<Event> after = EventAfterToken(id, end, lane.granted)) {
    events_.push_back(std::move(*after));
  }
}

Result<std::span<const Event>> FakeEngine::Poll(double /*timeout_s*/) {
  events_.clear();
  tops_.clear();
  const int64_t poll = polls_++;
  if (options_.poll_fault) {
    if (std::optional<Error> fault = options_.poll_fault(poll)) {
      return *fault;
    }
  }
  AnswerScores();
  int64_t room = options_.capabilities.cells_total > 0
                     ? options_.capabilities.cells_total - CellsUsed()
                     : INT64_MAX;
  bool decoded = false;
  for (auto& [id, lane] : lanes_) {
    if (!lane.open || lane.granted == 0) {
      continue;
    }
    int64_t left = room;
    if (lane.evicted && options_.capabilities.cells_total > 0) {  // it needs its cells again
      lane.evicted = false;
      left = options_.capabilities.cells_total - CellsUsed();
      lane.evicted = true;
    }
    if (left < lane.routes) {  // a refined token needs a cell for each of its routes
      Event stalled;
      stalled.kind = EventKind::kStalled;
      stalled.lane = id;
      events_.push_back(std::move(stalled));
      continue;
    }
    room = left - 1;
    decoded = true;
    Decode(id, lane);
  }
  cost_.forwards += decoded ? 1 : 0;
  cost_.cells_peak = std::max(cost_.cells_peak, CellsUsed());
  return std::span<const Event>(events_);
}

}  // namespace hyper

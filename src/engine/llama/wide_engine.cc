#include "src/engine/llama/wide_engine.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace hyper::llama {
namespace {

// Free cells beyond a lane's own that a shard must have for the lane to move there.
constexpr int64_t kMoveMargin = 16;

}  // namespace

Result<std::unique_ptr<WideEngine>> WideEngine::Make(std::unique_ptr<LoadedModel> loaded,
                                                     const LlamaOptions& options) {
  std::unique_ptr<WideEngine> engine(new WideEngine(std::move(loaded)));
  const LoadedModel& model = *engine->loaded_;
  for (int i = 0; i < model.plan.contexts; ++i) {
    Result<std::unique_ptr<LlamaEngine>> shard =
        LlamaEngine::MakeOn(model, options, &engine->numbers_);
    if (!shard) {
      return shard.error();
    }
    engine->shards_.push_back(std::move(*shard));
  }
  const auto contexts = static_cast<int>(engine->shards_.size());
  engine->capabilities_ = engine->shards_.front()->capabilities();
  engine->capabilities_.max_lanes *= contexts;
  engine->capabilities_.max_rows *= contexts;
  engine->capabilities_.cells_total *= contexts;
  return engine;
}

EngineCost WideEngine::cost() const {
  EngineCost sum;
  for (const std::unique_ptr<LlamaEngine>& shard : shards_) {
    const EngineCost part = shard->cost();
    sum.cells_used += part.cells_used;
    sum.cells_peak += part.cells_peak;  // peaks need not coincide: an upper bound
    sum.bytes_per_cell = part.bytes_per_cell;
    sum.lanes_open += part.lanes_open;
    sum.forwards += part.forwards;
    sum.decode_rows += part.decode_rows;
    sum.route_rows += part.route_rows;
    sum.padding_rows += part.padding_rows;
    sum.prefill_tokens += part.prefill_tokens;
    sum.recomputed_tokens += part.recomputed_tokens;
    sum.moved_tokens += part.moved_tokens;
    sum.forward_s += part.forward_s;
    sum.sampler_s += part.sampler_s;
    sum.penalty_rewards += part.penalty_rewards;
    sum.penalty_sums += part.penalty_sums;
  }
  sum.lanes_peak = lanes_peak_;
  return sum;
}

Result<std::vector<Token>> WideEngine::Tokenize(std::string_view text, bool parse_special) {
  return shards_.front()->Tokenize(text, parse_special);
}

std::string WideEngine::TokenText(Token token) const { return shards_.front()->TokenText(token); }

bool WideEngine::IsEndOfGeneration(Token token) const {
  return shards_.front()->IsEndOfGeneration(token);
}

Result<Prompt> WideEngine::RenderChat(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> template_arguments) {
  return shards_.front()->RenderChat(messages, template_arguments);
}

Result<Prompt> WideEngine::RenderForm(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> template_arguments,
    const ReplyWish& wish) {
  return shards_.front()->RenderForm(messages, template_arguments, wish);
}

LlamaEngine& WideEngine::ShardOf(LaneId lane) {
  const auto home = homes_.find(lane);
  return *shards_[home == homes_.end() ? 0 : static_cast<size_t>(home->second)];
}

int WideEngine::Roomiest() const {
  int best = -1;
  for (size_t i = 0; i < shards_.size(); ++i) {
    const LlamaEngine& shard = *shards_[i];
    if (shard.free_lanes() == 0) {
      continue;
    }
    const auto room = [](const LlamaEngine& engine) {
      return std::pair(engine.free_lanes(), engine.free_cells());
    };
    if (best < 0 || room(shard) > room(*shards_[static_cast<size_t>(best)])) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

Error WideEngine::Full() const {
  return {ErrorCode::kResourceExhausted,
          "all " + std::to_string(capabilities_.max_lanes) + " lanes of the engine's " +
              std::to_string(shards_.size()) + " contexts are open; close some or give it more"};
}

Result<LaneId> WideEngine::Place(Result<LaneId> lane, int shard) {
  if (lane) {
    homes_.emplace(*lane, shard);
    lanes_peak_ = std::max(lanes_peak_, static_cast<int>(homes_.size()));
  }
  return lane;
}

Result<LaneId> WideEngine::Open(std::span<const Token> prompt, const LaneSpec& spec) {
  const int shard = Roomiest();
  return shard < 0 ? Full() : Place(shards_[static_cast<size_t>(shard)]->Open(prompt, spec), shard);
}

Result<LaneId> WideEngine::Fork(LaneId lane, int position, const LaneSpec& spec) {
  LlamaEngine& home = ShardOf(lane);
  const auto found = homes_.find(lane);
  if (found == homes_.end() || home.free_lanes() > 0) {
    return Place(home.Fork(lane, position, spec), found == homes_.end() ? 0 : found->second);
  }
  const int shard = Roomiest();
  if (shard < 0) {
    return Full();
  }
  return Place(shards_[static_cast<size_t>(shard)]->ForkFrom(home, lane, position, spec), shard);
}

Status WideEngine::Extend(LaneId lane, std::span<const Token> tokens) {
  return ShardOf(lane).Extend(lane, tokens);
}

Result<uint64_t> WideEngine::Score(LaneId lane, std::span<const std::vector<Token>> continuations) {
  return ShardOf(lane).Score(lane, continuations);
}

Status WideEngine::Grant(LaneId lane, int count) { return ShardOf(lane).Grant(lane, count); }

Status WideEngine::Revoke(LaneId lane) { return ShardOf(lane).Revoke(lane); }

Status WideEngine::Route(LaneId lane, const std::optional<RouteSpec>& spec) {
  return ShardOf(lane).Route(lane, spec);
}

Status WideEngine::Evict(LaneId lane) { return ShardOf(lane).Evict(lane); }

void WideEngine::Close(LaneId lane) {
  ShardOf(lane).Close(lane);
  homes_.erase(lane);
}

Result<std::span<const Event>> WideEngine::Poll(double /*timeout_s*/) {
  Result<bool> moved = PollShards();
  while (moved && !*moved && MoveStalledLane()) {
    moved = PollShards();
  }
  if (!moved) {
    return moved.error();
  }
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.lane < b.lane; });
  return std::span<const Event>(events_);
}

Result<bool> WideEngine::PollShards() {
  events_.clear();
  bool moved = false;
  for (size_t tried = 0; tried < shards_.size() && !moved; ++tried) {
    LlamaEngine& shard = *shards_[next_];
    next_ = (next_ + 1) % shards_.size();
    const int64_t forwards = shard.forwards();
    const Result<std::span<const Event>> polled = shard.Poll(0);
    if (!polled) {
      return polled.error();
    }
    events_.insert(events_.end(), polled->begin(), polled->end());
    moved = shard.forwards() != forwards ||
            std::any_of(polled->begin(), polled->end(),
                        [](const Event& event) { return event.kind != EventKind::kStalled; });
  }
  return moved;
}

bool WideEngine::MoveStalledLane() {
  for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
    const auto home = homes_.find(event->lane);
    if (event->kind != EventKind::kStalled || home == homes_.end()) {
      continue;
    }
    for (size_t i = 0; i < shards_.size(); ++i) {
      LlamaEngine& from = *shards_[static_cast<size_t>(home->second)];
      const int64_t needed = from.HistoryLength(event->lane) + kMoveMargin;
      if (shards_[i].get() != &from && shards_[i]->free_lanes() > 0 &&
          shards_[i]->free_cells() >= needed && shards_[i]->Adopt(from, event->lane)) {
        home->second = static_cast<int>(i);
        return true;
      }
    }
  }
  return false;
}

}  // namespace hyper::llama

namespace hyper {

namespace {

template <class Special>
Result<std::unique_ptr<Engine>> Upcast(Result<std::unique_ptr<Special>> engine) {
  if (!engine) {
    return engine.error();
  }
  return std::unique_ptr<Engine>(std::move(*engine));
}

}  // namespace

Result<std::unique_ptr<Engine>> MakeLlamaEngine(const LlamaOptions& options) {
  try {
    Result<llama::LoadedModel> loaded = llama::LoadModel(options);
    if (!loaded) {
      return loaded.error();
    }
    auto model = std::make_unique<llama::LoadedModel>(std::move(*loaded));
    if (model->plan.contexts == 1) {
      return Upcast(llama::LlamaEngine::MakeWith(std::move(model), options));
    }
    return Upcast(llama::WideEngine::Make(std::move(model), options));
  } catch (const std::exception& failure) {
    return Error{ErrorCode::kInternal, "model file " + llama::Quoted(options.model_path) +
                                           " cannot be loaded: " + failure.what()};
  }
}

}  // namespace hyper

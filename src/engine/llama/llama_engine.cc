#include "src/engine/llama/llama_engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>

namespace hyper::llama {
namespace {

constexpr int kMaxRoutes = 1024;  // each keeps a row of logits while its token is refined

bool NonNegative(double value) { return std::isfinite(value) && value >= 0; }

Status CheckRoute(const RouteSpec& spec) {
  if (spec.routes < 1 || spec.routes > kMaxRoutes) {
    return InvalidArgument("the number of routes is " + std::to_string(spec.routes) +
                           "; it takes 1 to " + std::to_string(kMaxRoutes));
  }
  if (!NonNegative(spec.tau) || !NonNegative(spec.lambda)) {
    return InvalidArgument("tau is " + std::to_string(spec.tau) + " and lambda " +
                           std::to_string(spec.lambda) + "; both take finite numbers >= 0");
  }
  if (!NonNegative(spec.aggregate_temperature) || spec.aggregate_temperature == 0) {
    return InvalidArgument("the aggregation temperature is " +
                           std::to_string(spec.aggregate_temperature) +
                           "; it takes a finite number > 0");
  }
  if (spec.confidence_count < 1 || spec.skip_first_layers < 0 || spec.skip_last_layers < 0) {
    return InvalidArgument(
        "a count of candidates below 1 or of skipped layers below 0 is not possible");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<LlamaEngine>> LlamaEngine::Make(const LlamaOptions& options) {
  try {
    Result<LoadedModel> loaded = LoadModel(options);
    if (!loaded) {
      return loaded.error();
    }
    return MakeWith(std::make_unique<LoadedModel>(std::move(*loaded)), options);
  } catch (const std::exception& failure) {
    return Error{ErrorCode::kInternal, "model file " + Quoted(options.model_path) +
                                           " cannot be loaded: " + failure.what()};
  }
}

Result<std::unique_ptr<LlamaEngine>> LlamaEngine::MakeWith(std::unique_ptr<LoadedModel> loaded,
                                                           const LlamaOptions& options) {
  Result<std::unique_ptr<LlamaEngine>> engine = MakeOn(*loaded, options, nullptr);
  if (engine) {
    (*engine)->owned_ = std::move(loaded);
  }
  return engine;
}

Result<std::unique_ptr<LlamaEngine>> LlamaEngine::MakeOn(const LoadedModel& loaded,
                                                         const LlamaOptions& options,
                                                         LaneNumbers* numbers) {
  std::unique_ptr<LlamaEngine> engine(new LlamaEngine(loaded, options, numbers));
  if (Status status = engine->Start(options); !status) {
    return status.error();
  }
  return engine;
}

LlamaEngine::LlamaEngine(const LoadedModel& loaded, const LlamaOptions& options,
                         LaneNumbers* numbers)
    : loaded_(loaded),
      numbers_(numbers == nullptr ? &own_numbers_ : numbers),
      strict_(options.strict),
      interleave_(options.interleave),
      vocab_(llama_model_get_vocab(loaded_.model.get())),
      chat_(std::make_unique<ChatRenderer>(loaded_.model.get(), options.chat_template)),
      batch_(std::max(loaded_.plan.max_rows, loaded_.plan.prefill_rows) + 1) {}

Status LlamaEngine::Start(const LlamaOptions& options) {
  const ModelInfo& info = loaded_.info;
  hook_ = std::make_unique<RouterHook>(info.expert_count, info.expert_used_count,
                                       info.moe_layer_count, loaded_.router.biased);
  Result<ContextHandle> context = MakeContext(options, &RouterHook::OnNode, hook_.get(), loaded_);
  if (!context) {
    return context.error();
  }
  context_ = std::move(*context);
  const bool ordered = strict_ && loaded_.ordered_cells;
  pool_ = std::make_unique<KvPool>(context_.get(), loaded_.plan, ordered, loaded_.recurrent);
  capabilities_.no_routing = loaded_.router.refusal;
  if (loaded_.plan.streams && capabilities_.no_routing.empty()) {
    capabilities_.no_routing = "a KV buffer for each lane has no room for routes; use --kv unified";
  }
  capabilities_.routing = capabilities_.no_routing.empty();
  capabilities_.full_logits = true;
  capabilities_.score = true;
  capabilities_.strict = ordered && loaded_.rpc_servers == nullptr;
  capabilities_.max_top_count = info.vocab_size;
  capabilities_.max_lanes = loaded_.plan.lanes;
  capabilities_.max_rows = loaded_.plan.lanes + loaded_.plan.routes;
  capabilities_.context_tokens = loaded_.context_tokens;
  capabilities_.cells_total = loaded_.plan.cells;
  cost_.bytes_per_cell = loaded_.bytes_per_cell;
  summaries_.resize(static_cast<size_t>(loaded_.plan.max_rows));
  return {};
}

EngineCost LlamaEngine::cost() const {
  EngineCost cost = cost_;
  cost.cells_used = pool_->used();
  cost.cells_peak = pool_->peak();
  cost.lanes_open = static_cast<int>(lanes_.size());
  return cost;
}

Result<std::vector<Token>> LlamaEngine::Tokenize(std::string_view text, bool parse_special) {
  try {
    return TokenizeText(vocab_, text, false, parse_special);
  } catch (const std::exception& failure) {
    return InvalidArgument(std::string("the text cannot be tokenised: ") + failure.what());
  }
}

std::string LlamaEngine::TokenText(Token token) const {
  if (token < 0 || token >= loaded_.info.vocab_size) {
    return "";
  }
  std::string text(32, '\0');
  int32_t size =
      llama_token_to_piece(vocab_, token, text.data(), static_cast<int32_t>(text.size()), 0, true);
  if (size < 0) {
    text.resize(static_cast<size_t>(-size));
    size = llama_token_to_piece(vocab_, token, text.data(), static_cast<int32_t>(text.size()), 0,
                                true);
  }
  text.resize(static_cast<size_t>(std::max(size, 0)));
  return text;
}

bool LlamaEngine::IsEndOfGeneration(Token token) const {
  if (token < 0 || token >= loaded_.info.vocab_size || !llama_vocab_is_eog(vocab_, token)) {
    return false;
  }
  // Where the file names no end, llama.cpp takes GPT-2's token 11, which is a comma there.
  return loaded_.names_end || (llama_vocab_get_attr(vocab_, token) & LLAMA_TOKEN_ATTR_NORMAL) == 0;
}

Result<Prompt> LlamaEngine::RenderChat(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> template_arguments) {
  return RenderForm(messages, template_arguments, {});
}

Result<Prompt> LlamaEngine::RenderForm(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> template_arguments,
    const ReplyWish& wish) {
  try {
    return chat_->Render(messages, template_arguments, wish);
  } catch (const std::exception& failure) {
    return InvalidArgument(std::string("the messages cannot be rendered: ") + failure.what());
  }
}

Result<LaneId> LlamaEngine::Open(std::span<const Token> prompt, const LaneSpec& spec) {
  if (prompt.empty()) {
    return InvalidArgument("the prompt is empty; give at least one token");
  }
  if (static_cast<int64_t>(prompt.size()) > loaded_.context_tokens) {
    return ContextTooLong(static_cast<int>(prompt.size()));
  }
  if (Status status = CheckTokens(prompt); !status) {
    return status.error();
  }
  Lane lane;
  lane.history.assign(prompt.begin(), prompt.end());
  lane.spec = spec;
  if (Status status = BeginGrammar(&lane, nullptr); !status) {
    return status.error();
  }
  return AddLane(std::move(lane));
}

Status LlamaEngine::Extend(LaneId lane, std::span<const Token> tokens) {
  const Result<Lane*> found = Find(lane);
  if (!found) {
    return found.error();
  }
  Lane& entry = **found;
  const int64_t length = entry.length() + static_cast<int64_t>(tokens.size());
  if (length > loaded_.context_tokens) {
    return ContextTooLong(static_cast<int>(length));
  }
  if (Status status = CheckTokens(tokens); !status) {
    return status;
  }
  if (!tokens.empty()) {
    DropRefinement(&entry);
    if (entry.grammar && !entry.grammar->AcceptAll(tokens)) {
      entry.grammar.reset();  // who gives other text has another form in mind
    }
    entry.history.insert(entry.history.end(), tokens.begin(), tokens.end());
    entry.ended = false;
  }
  return {};
}

Result<uint64_t> LlamaEngine::Score(LaneId lane,
                                    std::span<const std::vector<Token>> continuations) {
  const Result<Lane*> found = Find(lane);
  if (!found) {
    return found.error();
  }
  Lane& entry = **found;
  ScoreRequest request;
  for (const std::vector<Token>& tokens : continuations) {
    const int64_t length = entry.length() + static_cast<int64_t>(tokens.size());
    if (length > loaded_.context_tokens) {
      return ContextTooLong(static_cast<int>(length));
    }
    if (Status status = CheckTokens(tokens); !status) {
      return status.error();
    }
    Continuation continuation;
    continuation.tokens.push_back(entry.history.back());
    continuation.tokens.insert(continuation.tokens.end(), tokens.begin(), tokens.end());
    request.continuations.push_back(std::move(continuation));
  }
  DropRefinement(&entry);  // continuations start from the lane's end
  request.number = numbers_->next_request++;
  request.lane = lane;
  request.prefix = entry.length() - 1;
  request.top_count = entry.spec.score_tops ? entry.spec.top_count : 0;
  ++entry.open_scores;
  scores_.push_back(std::move(request));
  return scores_.back().number;
}

Status LlamaEngine::Grant(LaneId lane, int count) {
  const Result<Lane*> found = Find(lane);
  if (!found) {
    return found.error();
  }
  if (count < 0) {
    return InvalidArgument("a grant of " + std::to_string(count) + " tokens is not possible");
  }
  if ((*found)->ended) {
    return InvalidArgument("lane " + std::to_string(lane) + " has ended; it takes no more tokens");
  }
  (*found)->grant += count;
  return {};
}

Status LlamaEngine::Revoke(LaneId lane) {
  const Result<Lane*> found = Find(lane);
  if (!found) {
    return found.error();
  }
  (*found)->grant = 0;
  DropRefinement(*found);
  return {};
}

Status LlamaEngine::Route(LaneId lane, const std::optional<RouteSpec>& spec) {
  const Result<Lane*> found = Find(lane);
  if (!found) {
    return found.error();
  }
  if (spec) {
    if (Status status = CheckRoute(*spec); !status) {
      return status;
    }
    if (spec->routes > 1 && !capabilities_.routing) {
      return Error{ErrorCode::kUnsupported, "the model " + Quoted(loaded_.info.name) +
                                                " cannot be refined: " + capabilities_.no_routing};
    }
  }
  DropRefinement(*found);
  (*found)->route = spec;
  return {};
}

Status LlamaEngine::Evict(LaneId lane) {
  const Result<Lane*> found = Find(lane);
  if (!found) {
    return found.error();
  }
  Lane& entry = **found;
  EndRefinement(&entry);
  if (entry.sequence >= 0) {
    pool_->Release(entry.sequence);
    entry.sequence = -1;
  }
  return {};
}

void LlamaEngine::Close(LaneId lane) {
  if (lanes_.count(lane) == 0) {
    return;
  }
  for (ScoreRequest& request : scores_) {
    for (Continuation& continuation : request.continuations) {
      if (request.lane == lane && continuation.sequence >= 0) {
        pool_->Release(continuation.sequence);
      }
    }
  }
  std::erase_if(scores_, [&](const ScoreRequest& request) { return request.lane == lane; });
  (void)Evict(lane);
  lanes_.erase(lane);
}

Result<Lane*> LlamaEngine::Find(LaneId lane) {
  const auto found = lanes_.find(lane);
  if (found == lanes_.end()) {
    return Error{ErrorCode::kNotFound, "lane " + std::to_string(lane) + " is not open"};
  }
  return &found->second;
}

Status LlamaEngine::CheckSpec(const LaneSpec& spec) const {
  if (spec.top_count < 0 || spec.top_count > capabilities_.max_top_count) {
    return InvalidArgument("the length of the top list is " + std::to_string(spec.top_count) +
                           "; it takes 0 to " + std::to_string(capabilities_.max_top_count));
  }
  const SamplerSpec& sampler = spec.sampler;
  if (!NonNegative(sampler.temperature)) {
    return InvalidArgument("the temperature is " + std::to_string(sampler.temperature) +
                           "; it takes a finite number >= 0");
  }
  if (sampler.top_k < 0 || !(sampler.top_p > 0 && sampler.top_p <= 1) ||
      !(sampler.min_p >= 0 && sampler.min_p < 1)) {
    return InvalidArgument("top-k " + std::to_string(sampler.top_k) + ", top-p " +
                           std::to_string(sampler.top_p) + ", min-p " +
                           std::to_string(sampler.min_p) + ": they take >= 0, (0, 1] and [0, 1)");
  }
  for (const auto& [token, bias] : spec.logit_bias) {
    if (token < 0 || token >= loaded_.info.vocab_size || std::isnan(bias)) {
      return InvalidArgument("the bias of token " + std::to_string(token) + " is not possible");
    }
  }
  return {};
}

Status LlamaEngine::CheckTokens(std::span<const Token> tokens) const {
  for (const Token token : tokens) {
    if (token < 0 || token >= loaded_.info.vocab_size) {
      return InvalidArgument("token " + std::to_string(token) + " is not in the vocabulary of " +
                             std::to_string(loaded_.info.vocab_size));
    }
  }
  return {};
}

Status LlamaEngine::CheckFreeLane() const {
  if (free_lanes() > 0) {
    return {};
  }
  return Error{ErrorCode::kResourceExhausted,
               "all " + std::to_string(loaded_.plan.lanes) +
                   " lanes of the engine are open; close some or give it more lanes"};
}

Result<LaneId> LlamaEngine::AddLane(Lane lane) {
  if (Status status = CheckSpec(lane.spec); !status) {
    return status.error();
  }
  if (Status status = CheckFreeLane(); !status) {
    return status.error();
  }
  const LaneId id = numbers_->next_lane++;
  lanes_.emplace(id, std::move(lane));
  cost_.lanes_peak = std::max(cost_.lanes_peak, static_cast<int>(lanes_.size()));
  return id;
}

int LlamaEngine::ResidentLength(const Lane& lane) const {
  return lane.sequence < 0 ? 0 : pool_->Length(lane.sequence);
}

std::vector<std::pair<LaneId, Lane*>> LlamaEngine::PrefillOrder() {
  std::vector<std::pair<LaneId, Lane*>> order;
  for (auto& [id, lane] : lanes_) {
    if (WantsPrefill(lane)) {
      order.emplace_back(id, &lane);
    }
  }
  std::stable_partition(order.begin(), order.end(), [this](const auto& entry) {
    return ResidentLength(*entry.second) >= entry.second->computed;
  });
  return order;
}

void LlamaEngine::EnsureSequence(Lane* lane) {
  if (lane->sequence < 0) {
    lane->sequence = pool_->Acquire();
  }
}

void LlamaEngine::EndRefinement(Lane* lane) {
  if (lane->refinement && lane->refinement->origin >= 0) {
    pool_->DropSnapshot(lane->refinement->origin);
  }
  lane->refinement.reset();
}

void LlamaEngine::DropRefinement(Lane* lane) {
  if (lane->refinement && lane->refinement->origin >= 0 && lane->refinement->next_route > 0) {
    pool_->Restore(lane->sequence, lane->refinement->origin, lane->length() - 1);
  }
  EndRefinement(lane);
}

Error LlamaEngine::ContextTooLong(int tokens) const {
  return InvalidArgument(
      "a history of " + std::to_string(tokens) + " tokens is longer than the context of " +
      std::to_string(loaded_.context_tokens) + " tokens; shorten it or give a larger --ctx");
}

}  // namespace hyper::llama

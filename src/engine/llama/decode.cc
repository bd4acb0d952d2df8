// LlamaEngine: one decoding forward, its routes and what is drawn from it.
#include <algorithm>
#include <chrono>
#include <utility>

#include "src/core/aggregate.h"
#include "src/core/random.h"
#include "src/engine/llama/llama_engine.h"

namespace hyper::llama {

Status LlamaEngine::DecodeStep() {
  DecodePlan plan = PlanForward();
  for (const LaneId id : plan.stalled) {
    AddEvent(EventKind::kStalled, id);
  }
  if (plan.shares.empty()) {
    return {};
  }
  if (loaded_.plan.streams) {
    // llama.cpp cuts the batch where the streams are no neighbours in ascending order.
    std::sort(plan.shares.begin(), plan.shares.end(),
              [this](const DecodeShare& a, const DecodeShare& b) {
                return lanes_.at(a.lane).sequence < lanes_.at(b.lane).sequence;
              });
  }
  int rows = 1;
  for (const DecodeShare& share : plan.shares) {
    rows += share.rows;
    lanes_.at(share.lane).turns = share.turns;
  }
  if (Status status = pool_->MakeRoom(rows); !status) {
    return status;
  }
  const std::vector<LaneRows> lanes = BuildDecodeRows(plan);
  const int decoding_rows = batch_.rows();
  BeginRouting(lanes);
  const Result<Outcome> outcome = Forward();
  const std::optional<std::string> trouble = hook_->End();
  if (!outcome || *outcome == Outcome::kNoCells) {
    pool_->ReturnBorrowed();
    for (const LaneRows& entry : lanes) {
      AddEvent(EventKind::kStalled, entry.lane);
    }
    return outcome ? Status() : outcome.error();
  }
  int temporary = decoding_rows;
  for (const LaneRows& entry : lanes) {
    Lane& lane = lanes_.at(entry.lane);
    if (!lane.refinement || lane.refinement->next_route == 0) {
      pool_->Appended(lane.sequence, 1);
      lane.computed = std::max(lane.computed, lane.length());
      --temporary;
    }
  }
  pool_->NotePeak(temporary);
  pool_->ReturnBorrowed();
  cost_.decode_rows += decoding_rows;
  cost_.route_rows += temporary;
  for (const LaneRows& entry : lanes) {
    Lane& lane = lanes_.at(entry.lane);
    if (lane.refinement && trouble) {
      EndRefinement(&lane);
      lane.ended = true;
      lane.grant = 0;
      AddEvent(EventKind::kFailed, entry.lane).error = {ErrorCode::kInternal, *trouble};
    } else {
      FinishLane(entry);
    }
  }
  return {};
}

DecodePlan LlamaEngine::PlanForward() {
  std::vector<DecodeWish> wishes;
  int without_sequence = 0;
  for (auto& [id, lane] : lanes_) {
    without_sequence += lane.sequence < 0 ? 1 : 0;
    const int resident = ResidentLength(lane);
    if (lane.grant == 0 || resident < lane.length() - 1) {
      continue;
    }
    const bool between_waves = lane.refinement.has_value() && lane.refinement->next_route > 0;
    if (!between_waves && resident >= lane.length()) {
      pool_->Truncate(lane.sequence, lane.length() - 1);
    }
    const int done = between_waves ? lane.refinement->next_route : 0;
    // A lane that is new or was idle must not make up for the turns it did not take.
    lane.turns = std::max(lane.turns, round_);
    wishes.push_back({id, lane.routes() - done, between_waves, lane.turns, lane.spec.owner, 0});
  }
  for (size_t i = 0; i < wishes.size(); ++i) {
    round_ = i == 0 ? wishes[i].turns : std::min(round_, wishes[i].turns);
  }
  DecodeLimits limits;
  limits.rows = loaded_.plan.max_rows;
  limits.cells = pool_->free_cells();
  limits.routes = pool_->free_sequences() - without_sequence;
  if (loaded_.recurrent) {
    // One is kept for the origin of a token's later waves; without it no token may part into waves.
    if (limits.routes < 1) {
      std::erase_if(wishes, [this](const DecodeWish& wish) {
        const bool waits = wish.rows > 1 && !wish.between_waves;
        if (waits) {
          AddEvent(EventKind::kStalled, wish.lane);
        }
        return waits;
      });
    }
    limits.routes = std::max(0, limits.routes - 1);
  }
  limits.equal_parts = strict_;
  shares_.Prepare(wishes);
  DecodePlan plan = PlanDecode(wishes, limits);
  shares_.Note(wishes, plan);
  return plan;
}

std::vector<LlamaEngine::LaneRows> LlamaEngine::BuildDecodeRows(const DecodePlan& plan) {
  std::vector<LaneRows> lanes;
  batch_.Clear();
  // Rows whose cells stay come first: the pool relies on it.
  for (const DecodeShare& share : plan.shares) {
    Lane& lane = lanes_.at(share.lane);
    EnsureSequence(&lane);
    LaneRows entry;
    entry.lane = share.lane;
    if (lane.routes() > 1 && !lane.refinement) {
      Refinement& refinement = lane.refinement.emplace();
      refinement.spec = *lane.route;
      refinement.path_key = lane.spec.path_key;
      refinement.position = lane.length();
    }
    if (!lane.refinement || lane.refinement->next_route == 0) {
      entry.rows.push_back(batch_.Add(lane.history.back(), lane.length() - 1, lane.sequence, true));
    }
    // Later waves start from the state before the token, which the lane's own row is about to
    // leave.
    if (loaded_.recurrent && lane.refinement && lane.refinement->origin < 0 &&
        lane.refinement->next_route == 0 && share.rows < lane.routes()) {
      lane.refinement->origin = pool_->Snapshot(lane.sequence);
    }
    lanes.push_back(std::move(entry));
  }
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = lanes_.at(lanes[i].lane);
    while (static_cast<int>(lanes[i].rows.size()) < plan.shares[i].rows) {
      const bool later = lane.refinement && lane.refinement->origin >= 0;
      const int from = later ? lane.refinement->origin : lane.sequence;
      const int sequence = pool_->Borrow(from, lane.length() - 1);
      lanes[i].rows.push_back(batch_.Add(lane.history.back(), lane.length() - 1, sequence, true));
    }
  }
  return lanes;
}

void LlamaEngine::BeginRouting(const std::vector<LaneRows>& lanes) {
  std::vector<RoutedRow> routed;
  for (const LaneRows& entry : lanes) {
    Lane& lane = lanes_.at(entry.lane);
    if (lane.refinement) {
      int route = lane.refinement->next_route;
      for (const int row : entry.rows) {
        routed.push_back({row, route++, &*lane.refinement});
      }
    }
  }
  // The padding row counts for the hook too.
  const int rows = strict_ ? std::max(2, batch_.rows()) : batch_.rows();
  hook_->Begin(routed, rows);
}

void LlamaEngine::FinishLane(const LaneRows& rows) {
  Lane& lane = lanes_.at(rows.lane);
  if (lane.refinement) {
    FinishWave(rows.lane, &lane, rows);
  } else {
    const std::span<float> logits = Logits(rows.rows.front());
    Observe(rows.lane, lane.length(), 0, logits);
    TakeToken(rows.lane, &lane, logits, {});
  }
}

void LlamaEngine::FinishWave(LaneId id, Lane* lane, const LaneRows& rows) {
  const auto begin = std::chrono::steady_clock::now();
  Refinement& refinement = *lane->refinement;
  std::vector<std::span<const float>> routes(refinement.logits.begin(), refinement.logits.end());
  for (const int row : rows.rows) {
    const std::span<float> logits = Logits(row);
    Observe(id, lane->length(), refinement.next_route, logits);
    routes.emplace_back(logits);
    ++refinement.next_route;
  }
  if (refinement.next_route < refinement.spec.routes) {
    for (size_t i = refinement.logits.size(); i < routes.size(); ++i) {
      refinement.logits.emplace_back(routes[i].begin(), routes[i].end());
    }
    return;
  }
  AggregateOptions options;
  options.rule = refinement.spec.aggregate;
  options.temperature = refinement.spec.aggregate_temperature;
  options.set = refinement.spec.confidence_set;
  options.k = refinement.spec.confidence_count;
  aggregated_.resize(routes.front().size());
  AggregateRoutes(routes, options, aggregated_);
  Routed routed{refinement.spec.routes, 0, 0};
  for (const RoutePass& pass : refinement.passes) {
    routed.penalty_sums += static_cast<int>(pass.penalty_count());
    routed.penalty_rewards += static_cast<int>(pass.reward_count());
  }
  cost_.penalty_sums += routed.penalty_sums;
  cost_.penalty_rewards += routed.penalty_rewards;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  cost_.sampler_s += taken.count();
  EndRefinement(lane);
  Observe(id, lane->length(), -1, aggregated_);
  TakeToken(id, lane, aggregated_, routed);
}

Token LlamaEngine::Draw(Lane* lane, std::span<const float> logits) {
  std::span<const float> drawn_from = logits;
  if (!lane->spec.logit_bias.empty()) {
    changed_.assign(logits.begin(), logits.end());
    for (const auto& [token, bias] : lane->spec.logit_bias) {
      changed_[token] += bias;
    }
    drawn_from = changed_;
  }
  const auto draw = [&](Purpose purpose) {
    const double u = Uniform(lane->spec.path_key, static_cast<uint32_t>(lane->length()), purpose);
    return SampleToken(drawn_from, lane->spec.sampler, u, sampler_scratch_);
  };
  Token token = draw(Purpose::kSample);
  if (!lane->grammar || token == kNoToken) {
    return token;
  }
  // Most tokens are allowed; only one that is not costs a look at the whole vocabulary. Without
  // filters both draws together give the distribution of the allowed tokens, by rejection.
  if (!lane->grammar->Allows(token)) {
    if (lane->spec.logit_bias.empty()) {
      changed_.assign(logits.begin(), logits.end());
    }
    lane->grammar->Mask(changed_);
    drawn_from = changed_;
    token = draw(Purpose::kRedraw);
  }
  if (token != kNoToken) {
    lane->grammar->Accept(token);
  }
  return token;
}

void LlamaEngine::EndLane(LaneId id, Lane* lane, EndReason reason) {
  lane->ended = true;
  lane->grant = 0;
  AddEvent(EventKind::kEnd, id).end_reason = reason;
}

void LlamaEngine::EndGrammar(LaneId id, Lane* lane) {
  for (const Token end : {llama_vocab_eos(vocab_), llama_vocab_eot(vocab_)}) {
    if (IsEndOfGeneration(end) && !lane->grammar->Allows(end)) {
      lane->ended = true;
      lane->grant = 0;
      AddEvent(EventKind::kFailed, id).error =
          InvalidArgument("no token of the model continues a text of the form after " +
                          std::to_string(lane->length() - lane->grammar_start) +
                          " tokens; the form asks for characters that the model cannot write");
      return;
    }
  }
  EndLane(id, lane, EndReason::kStop);  // whole, and the model has no end token
}

void LlamaEngine::TakeToken(LaneId id, Lane* lane, std::span<float> logits, const Routed& routed) {
  const auto begin = std::chrono::steady_clock::now();
  RowSummary& summary = summaries_[summaries_used_++];
  SummarizeRow(logits, lane->spec.top_count, summary);
  const Token token = Draw(lane, logits);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  cost_.sampler_s += taken.count();
  if (token == kNoToken && lane->grammar && !summary.degenerate) {
    EndGrammar(id, lane);
    return;
  }
  if (token == kNoToken) {
    lane->ended = true;
    lane->grant = 0;
    AddEvent(EventKind::kFailed, id).error = {
        ErrorCode::kInternal, "the model gave no finite logit for token " +
                                  std::to_string(lane->length()) + " of lane " +
                                  std::to_string(id) + "; the weights may be broken"};
    return;
  }
  Event& event = AddEvent(EventKind::kToken, id);
  event.position = lane->length();
  event.token = token;
  event.routes = routed.routes;
  event.penalty_sums = routed.penalty_sums;
  event.penalty_rewards = routed.penalty_rewards;
  event.recomputed_tokens = std::exchange(lane->recomputed, 0);
  event.degenerate = summary.degenerate;
  if (!summary.degenerate) {
    event.logprob = static_cast<float>(logits[token] - summary.log_sum_exp);
    event.top = summary.top;
    if (lane->spec.full_mean) {
      event.mean_logprob = static_cast<float>(summary.mean_logprob);
    }
  }
  lane->history.push_back(token);
  --lane->grant;
  if (lane->spec.stop_at_end && IsEndOfGeneration(token)) {
    EndLane(id, lane, EndReason::kStop);
  } else if (lane->length() >= loaded_.context_tokens) {
    EndLane(id, lane, EndReason::kContextFull);
  } else if (lane->grant == 0) {
    AddEvent(EventKind::kBoundary, id);
  }
}

}  // namespace hyper::llama

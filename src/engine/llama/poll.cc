// LlamaEngine::Poll: one forward at most, of given tokens (prompts, extensions, scores) or of
// decoding.
#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "src/engine/llama/llama_engine.h"

namespace hyper::llama {
namespace {

// With prompts and decoding in turns, rows of prompts in one forward for each lane that decodes.
constexpr int kPromptRowsOfReadyLane = 8;

// Cells that two histories share, among the first `most`.
int CommonPrefix(const std::vector<Token>& a, const std::vector<Token>& b, int most) {
  int length = 0;
  while (length < most && a[length] == b[length]) {
    ++length;
  }
  return length;
}

std::string ForwardFailure(int code) {
  switch (code) {
    case 2:
      return "llama.cpp's forward was aborted (code 2)";
    case -1:
      return "llama.cpp found the batch invalid (code -1)";
    case -2:
      return "llama.cpp could not allocate memory for the forward (code -2)";
    case -3:
      return "llama.cpp's backend failed in the forward (code -3)";
    default:
      return "llama.cpp's forward failed (code " + std::to_string(code) + ")";
  }
}

}  // namespace

Result<std::span<const Event>> LlamaEngine::Poll(double /*timeout_s*/) {
  events_.clear();
  summaries_used_ = 0;
  EndFullLanes();
  bool given = false;
  if (!std::exchange(decoding_due_, false) || ReadyLanes() == 0) {
    const Result<bool> busy = PrefillOrScoreStep();
    if (!busy) {
      return busy.error();
    }
    given = *busy;
    decoding_due_ = given && interleave_;
  }
  if (!given) {
    if (Status status = DecodeStep(); !status) {
      return status.error();
    }
  }
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.lane < b.lane; });
  return std::span<const Event>(events_);
}

Result<bool> LlamaEngine::PrefillOrScoreStep() {
  Result<bool> busy = PrefillStep();
  return busy && !*busy ? ScoreStep() : std::move(busy);
}

int LlamaEngine::ReadyLanes() const {
  return static_cast<int>(std::count_if(lanes_.begin(), lanes_.end(), [this](const auto& entry) {
    return entry.second.grant > 0 && !WantsPrefill(entry.second);
  }));
}

void LlamaEngine::EndFullLanes() {
  for (auto& [id, lane] : lanes_) {
    if (lane.grant > 0 && lane.length() >= loaded_.context_tokens) {
      EndLane(id, &lane, EndReason::kContextFull);
    }
  }
}

Result<LlamaEngine::Outcome> LlamaEngine::Forward() {
  // A single row is computed by other kernels than two, which round otherwise.
  if (strict_ && batch_.rows() == 1) {
    batch_.Add(batch_.get().token[0], 0, pool_->scratch_sequence(), true);
    ++cost_.padding_rows;
  }
  const auto begin = std::chrono::steady_clock::now();
  const LogCapture log;
  int code = 0;
  try {
    code = llama_decode(context_.get(), batch_.get());
    if (code == 0) {
      llama_synchronize(context_.get());
    }
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kResourceExhausted, "no memory for the forward; give a smaller --ctx"};
  } catch (const std::exception& failure) {
    return Error{ErrorCode::kInternal,
                 std::string("llama.cpp's forward failed: ") + failure.what()};
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  cost_.forward_s += taken.count();
  ++cost_.forwards;
  if (code == 1) {
    return Outcome::kNoCells;
  }
  if (code != 0) {
    return Error{ErrorCode::kInternal, ForwardFailure(code) + ": " + log.Reason("no reason given")};
  }
  return Outcome::kDone;
}

void LlamaEngine::ShareLongestPrefix(LaneId id, Lane* lane) {
  int best_length = ResidentLength(*lane);
  int best_sequence = -1;
  for (const auto& [other_id, other] : lanes_) {
    const int most = std::min(ResidentLength(other), lane->length() - 1);
    if (other_id == id || most <= best_length) {
      continue;
    }
    const int common =
        pool_->Shareable(other.sequence, CommonPrefix(other.history, lane->history, most));
    if (common > best_length) {
      best_length = common;
      best_sequence = other.sequence;
    }
  }
  if (best_sequence >= 0) {
    if (lane->sequence >= 0) {
      pool_->Release(lane->sequence);
    }
    lane->sequence = pool_->AcquireWith(best_sequence, best_length);
    lane->computed = std::max(lane->computed, best_length);
  }
}

bool LlamaEngine::WantsPrefill(const Lane& lane) const {
  return (lane.grant > 0 || lane.open_scores > 0) && ResidentLength(lane) < lane.length() - 1;
}

void LlamaEngine::AddPrefill(LaneId id, Lane* lane, int count, std::vector<PrefillPart>* parts) {
  EnsureSequence(lane);
  const int begin = ResidentLength(*lane);
  for (int i = begin; i < begin + count; ++i) {
    batch_.Add(lane->history[i], i, lane->sequence, false);
  }
  PrefillPart part{id, lane, begin, count};
  if (begin + count == lane->length() - 1 && DecodesAtOnce(*lane, *parts)) {
    part.decoding_row = batch_.Add(lane->history.back(), lane->length() - 1, lane->sequence, true);
  }
  parts->push_back(part);
}

bool LlamaEngine::DecodesAtOnce(const Lane& lane, const std::vector<PrefillPart>& parts) const {
  const bool room = static_cast<int>(parts.size()) < loaded_.plan.max_rows &&
                    batch_.rows() < loaded_.plan.prefill_rows &&
                    batch_.rows() < pool_->free_cells();
  return interleave_ && !strict_ && lane.grant > 0 && lane.routes() == 1 && !lane.refinement &&
         room;
}

std::vector<LlamaEngine::PrefillPart> LlamaEngine::GatherPrefill() {
  std::vector<PrefillPart> parts;
  batch_.Clear();
  for (const auto& [id, pointer] : PrefillOrder()) {
    Lane& lane = *pointer;
    const int room = static_cast<int>(std::min<int64_t>(loaded_.plan.prefill_rows - batch_.rows(),
                                                        pool_->free_cells() - batch_.rows()));
    if (room <= 0) {
      break;
    }
    ShareLongestPrefix(id, &lane);
    const int begin = ResidentLength(lane);
    const int missing = lane.length() - 1 - begin;
    // What a lane of this forward is about to compute can be shared after it.
    const bool waits = std::any_of(parts.begin(), parts.end(), [&](const PrefillPart& part) {
      const int most = std::min(part.begin + part.count, lane.length() - 1);
      return CommonPrefix(part.lane->history, lane.history, most) > begin + missing / 2;
    });
    if (missing == 0 || waits) {
      continue;
    }
    // In turns with decoding: the more lanes decode, the dearer is their turn, and the more prompts
    // are worth one; while few do, a prompt does not wait for others that came with it.
    if (interleave_ && !parts.empty() &&
        batch_.rows() + missing > kPromptRowsOfReadyLane * ReadyLanes()) {
      break;
    }
    AddPrefill(id, &lane, std::min(missing, room), &parts);
  }
  return parts;
}

Result<LlamaEngine::Outcome> LlamaEngine::ForwardPrefill(const std::vector<PrefillPart>& parts) {
  if (Status status = pool_->MakeRoom(batch_.rows() + 1); !status) {
    return status.error();
  }
  Result<Outcome> outcome = Forward();
  pool_->ReturnBorrowed();
  if (!outcome || *outcome == Outcome::kNoCells) {
    return outcome;
  }
  for (const PrefillPart& part : parts) {
    pool_->Appended(part.lane->sequence, part.count + (part.decoding_row >= 0 ? 1 : 0));
  }
  pool_->NotePeak(0);
  for (const PrefillPart& part : parts) {
    Lane& lane = *part.lane;
    const int end = part.begin + part.count;
    const int again = std::max(0, std::min(end, lane.computed) - part.begin);
    cost_.recomputed_tokens += again;
    lane.recomputed += again;
    cost_.prefill_tokens += part.count - again;
    lane.computed = std::max(lane.computed, end);
    if (part.decoding_row >= 0) {
      ++cost_.decode_rows;
      lane.computed = std::max(lane.computed, lane.length());
      lane.turns = std::max(lane.turns, round_) + 1;
      FinishLane({part.id, {part.decoding_row}});
    }
  }
  return outcome;
}

Result<bool> LlamaEngine::PrefillStep() {
  // Strict: a lane at a time, whose rows are then cut as they would be alone.
  if (!strict_) {
    const std::vector<PrefillPart> parts = GatherPrefill();
    if (parts.size() > 1) {
      const Result<Outcome> outcome = ForwardPrefill(parts);
      if (!outcome || *outcome == Outcome::kDone) {
        return outcome ? Result<bool>(true) : outcome.error();
      }
    }
  }
  for (const auto& [id, pointer] : PrefillOrder()) {
    Lane& lane = *pointer;
    ShareLongestPrefix(id, &lane);
    const int missing = lane.length() - 1 - ResidentLength(lane);
    if (missing == 0) {
      continue;
    }
    if (pool_->free_cells() <= 0) {
      AddEvent(EventKind::kStalled, id);
      continue;
    }
    const int cuts = (missing + loaded_.plan.prefill_rows - 1) / loaded_.plan.prefill_rows;
    const int count =
        static_cast<int>(std::min<int64_t>((missing + cuts - 1) / cuts, pool_->free_cells()));
    std::vector<PrefillPart> parts;
    batch_.Clear();
    AddPrefill(id, &lane, count, &parts);
    const Result<Outcome> outcome = ForwardPrefill(parts);
    if (!outcome) {
      return outcome.error();
    }
    if (*outcome == Outcome::kDone) {
      return true;
    }
    AddEvent(EventKind::kStalled, id);
  }
  return false;
}

Result<bool> LlamaEngine::ScoreStep() {
  if (scores_.empty()) {
    return false;
  }
  ScoreRequest& request = scores_.front();
  const Lane& lane = lanes_.at(request.lane);
  if (ResidentLength(lane) < request.prefix) {
    return false;  // its prefill is stalled
  }
  if (FinishScore()) {
    return true;
  }
  batch_.Clear();
  const std::vector<Continuation*> owners = AddScoreRows(&request, lane);
  if (owners.empty()) {
    AddEvent(EventKind::kStalled, request.lane);
    return false;
  }
  if (Status status = pool_->MakeRoom(static_cast<int>(owners.size()) + 1); !status) {
    return status.error();
  }
  const Result<Outcome> outcome = Forward();
  pool_->ReturnBorrowed();
  if (!outcome) {
    return outcome.error();
  }
  if (*outcome == Outcome::kNoCells) {
    AddEvent(EventKind::kStalled, request.lane);
    return false;
  }
  TakeScores(owners);
  FinishScore();
  return true;
}

std::vector<LlamaEngine::Continuation*> LlamaEngine::AddScoreRows(ScoreRequest* request,
                                                                  const Lane& lane) {
  std::vector<Continuation*> owners;
  int64_t room = std::min<int64_t>(loaded_.plan.max_rows, pool_->free_cells());
  for (Continuation& continuation : request->continuations) {
    // The last token predicts nothing that is asked for.
    const int rows = static_cast<int>(continuation.tokens.size()) - 1;
    if (continuation.done == rows) {
      continue;
    }
    if (room <= 0) {
      break;
    }
    if (continuation.sequence < 0) {
      continuation.sequence = request->prefix > 0
                                  ? pool_->AcquireWith(lane.sequence, request->prefix)
                                  : pool_->Acquire();
      if (continuation.sequence < 0) {
        break;
      }
    }
    const int take = static_cast<int>(std::min<int64_t>(room, rows - continuation.done));
    for (int i = continuation.done; i < continuation.done + take; ++i) {
      batch_.Add(continuation.tokens[i], request->prefix + i, continuation.sequence, true);
      owners.push_back(&continuation);
    }
    room -= take;
  }
  return owners;
}

void LlamaEngine::TakeScores(const std::vector<Continuation*>& owners) {
  RowSummary summary;
  for (size_t row = 0; row < owners.size(); ++row) {
    Continuation& owner = *owners[row];
    const std::span<float> logits = Logits(static_cast<int>(row));
    SummarizeRow(logits, scores_.front().top_count, summary);
    const Token token = owner.tokens[static_cast<size_t>(owner.done) + 1];
    owner.logprobs.push_back(static_cast<float>(logits[token] - summary.log_sum_exp));
    if (scores_.front().top_count > 0) {
      owner.tops.emplace_back(summary.top.begin(), summary.top.end());
    }
    ++owner.done;
    pool_->Appended(owner.sequence, 1);
  }
  pool_->NotePeak(0);
  cost_.decode_rows += static_cast<int64_t>(owners.size());
  for (Continuation* owner : owners) {
    if (owner->sequence >= 0 && owner->done + 1 == static_cast<int>(owner->tokens.size())) {
      pool_->Release(owner->sequence);
      owner->sequence = -1;
    }
  }
}

bool LlamaEngine::FinishScore() {
  ScoreRequest& request = scores_.front();
  for (const Continuation& continuation : request.continuations) {
    if (continuation.done + 1 < static_cast<int>(continuation.tokens.size())) {
      return false;
    }
  }
  Event& event = AddEvent(EventKind::kScored, request.lane);
  event.request = request.number;
  for (Continuation& continuation : request.continuations) {
    event.scores.push_back(std::move(continuation.logprobs));
    if (request.top_count > 0) {
      event.score_tops.push_back(std::move(continuation.tops));
    }
  }
  --lanes_.at(request.lane).open_scores;
  scores_.pop_front();
  return true;
}

Event& LlamaEngine::AddEvent(EventKind kind, LaneId lane) {
  Event& event = events_.emplace_back();
  event.kind = kind;
  event.lane = lane;
  return event;
}

std::span<float> LlamaEngine::Logits(int row) {
  return {llama_get_logits_ith(context_.get(), row), static_cast<size_t>(loaded_.info.vocab_size)};
}

void LlamaEngine::Observe(LaneId lane, int position, int route, std::span<float> logits) {
  if (logit_observer_) {
    logit_observer_({lane, position, route, logits});
  }
}

}  // namespace hyper::llama

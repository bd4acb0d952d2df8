// Forks: KV that lanes of one context share, and that is copied to another context of the model.
#include <algorithm>
#include <new>

#include "src/engine/llama/llama_engine.h"

namespace hyper::llama {

std::vector<uint8_t> KvPool::Export(int sequence, int begin, int end) {
  const bool whole = begin == 0 && end == Length(sequence);
  const int source = whole ? sequence : Acquire();
  if (source < 0) {
    return {};
  }
  if (!whole) {
    llama_memory_seq_cp(memory_, sequence, source, begin, end);
  }
  std::vector<uint8_t> state;
  try {
    state.resize(llama_state_seq_get_size(context_, source));
    state.resize(llama_state_seq_get_data(context_, state.data(), state.size(), source));
  } catch (const std::bad_alloc&) {
    state.clear();
  }
  if (!whole) {
    llama_memory_seq_rm(memory_, source, -1, -1);
    idle_.push_back({source, -1, 0});
  }
  return state;
}

Result<bool> KvPool::Import(std::span<const uint8_t> state, int sequence, int begin, int end) {
  const int count = end - begin;
  if (count > free_cells()) {
    return false;
  }
  if (Status status = MakeRoom(count); !status) {
    return status.error();
  }
  const int target = begin == 0 ? sequence : Acquire();
  if (target < 0) {
    return false;
  }
  const LogCapture log;
  const bool written =
      llama_state_seq_set_data(context_, state.data(), state.size(), target) == state.size();
  if (target != sequence) {
    if (written) {
      llama_memory_seq_cp(memory_, target, sequence, begin, end);
    }
    llama_memory_seq_rm(memory_, target, -1, -1);
    idle_.push_back({target, -1, 0});
  }
  if (written) {
    Appended(sequence, count);
    NotePeak(0);
  }
  return written;
}

Result<Lane> LlamaEngine::ChildOf(LaneId lane, int position, const LaneSpec& spec) {
  const Result<Lane*> found = Find(lane);
  if (!found) {
    return found.error();
  }
  const Lane& parent = **found;
  if (position < 1 || position > parent.length()) {
    return InvalidArgument("a fork at position " + std::to_string(position) + " of a lane with " +
                           std::to_string(parent.length()) + " tokens is not possible");
  }
  Lane child;
  child.history.assign(parent.history.begin(), parent.history.begin() + position);
  child.spec = spec;
  child.computed = std::min(parent.computed, position - 1);
  child.turns = parent.turns;
  if (Status status = BeginGrammar(&child, &parent); !status) {
    return status.error();
  }
  return child;
}

Result<GrammarState> LlamaEngine::BegunGrammar(const std::shared_ptr<const Grammar>& grammar) {
  std::erase_if(grammars_, [](const auto& entry) { return entry.first.expired(); });
  for (const auto& [parsed, state] : grammars_) {
    if (parsed.lock() == grammar) {
      return GrammarState(state);
    }
  }
  Result<GrammarState> state = GrammarState::Make(vocab_, *grammar);
  if (state) {
    grammars_.emplace_back(grammar, *state);
  }
  return state;
}

Status LlamaEngine::BeginGrammar(Lane* lane, const Lane* parent) {
  if (lane->spec.grammar == nullptr) {
    return {};
  }
  const bool same = parent != nullptr && parent->spec.grammar == lane->spec.grammar;
  if (same && !parent->grammar) {
    return {};  // a given text has left it
  }
  lane->grammar_start = same ? std::min(parent->grammar_start, lane->length()) : lane->length();
  if (same && lane->length() == parent->length()) {
    lane->grammar.emplace(*parent->grammar);
    return {};
  }
  Result<GrammarState> state = BegunGrammar(lane->spec.grammar);
  if (!state) {
    return state.error();
  }
  // Its tokens were allowed when they were drawn.
  (void)state->AcceptAll(
      std::span(lane->history).subspan(static_cast<size_t>(lane->grammar_start)));
  lane->grammar.emplace(std::move(*state));
  return {};
}

Result<LaneId> LlamaEngine::Fork(LaneId lane, int position, const LaneSpec& spec) {
  Result<Lane> child = ChildOf(lane, position, spec);
  if (!child) {
    return child.error();
  }
  const Lane& parent = lanes_.at(lane);
  const int parent_sequence = parent.sequence;
  const int common = std::min(ResidentLength(parent), position - 1);
  const int shared = common > 0 ? pool_->Shareable(parent_sequence, common) : 0;
  Result<LaneId> id = AddLane(std::move(*child));
  if (id && shared > 0) {
    lanes_.at(*id).sequence = pool_->AcquireWith(parent_sequence, shared);
  }
  return id;
}

Result<LaneId> LlamaEngine::ForkFrom(LlamaEngine& other, LaneId lane, int position,
                                     const LaneSpec& spec) {
  Result<Lane> child = other.ChildOf(lane, position, spec);
  if (!child) {
    return child.error();
  }
  child->turns = round_;
  Result<LaneId> id = AddLane(std::move(*child));
  if (id) {
    CopyCells(other, other.lanes_.at(lane), *id);
  }
  return id;
}

Status LlamaEngine::Adopt(LlamaEngine& other, LaneId lane) {
  const Result<Lane*> found = other.Find(lane);
  if (!found) {
    return found.error();
  }
  if ((*found)->open_scores > 0) {
    return Error{ErrorCode::kUnavailable, "a lane that is being scored cannot move"};
  }
  Lane moved = **found;
  moved.sequence = -1;
  moved.refinement.reset();
  moved.turns = round_;
  if (Status status = CheckFreeLane(); !status) {
    return status;
  }
  lanes_.emplace(lane, std::move(moved));
  CopyCells(other, **found, lane);
  other.Close(lane);
  return {};
}

// What cannot be copied now is computed again by the lane's next prefill, and charged so.
void LlamaEngine::CopyCells(LlamaEngine& other, const Lane& from, LaneId id) {
  Lane& to = lanes_.at(id);
  const int most = std::min(other.ResidentLength(from), to.length() - 1);
  const int end = most > 0 ? other.pool_->Shareable(from.sequence, most) : 0;
  if (end <= 0) {
    return;
  }
  if (!loaded_.recurrent) {
    ShareLongestPrefix(id, &to);
  }
  const int begin = ResidentLength(to);
  if (begin >= end || end - begin > pool_->free_cells()) {
    return;
  }
  EnsureSequence(&to);
  const std::vector<uint8_t> state = other.pool_->Export(from.sequence, begin, end);
  if (state.empty()) {
    return;
  }
  const Result<bool> written = pool_->Import(state, to.sequence, begin, end);
  if (written && *written) {
    to.recomputed += end - begin;
    cost_.moved_tokens += end - begin;
    to.computed = std::max(to.computed, end);
  }
}

}  // namespace hyper::llama

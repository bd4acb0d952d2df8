#include "src/engine/llama/kv/pool.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace hyper::llama {
namespace {

// Moving cells costs about as much as the dead ones cost the forwards that skip them.
constexpr int64_t kDeadCellsTolerated = 1024;

}  // namespace

KvPool::KvPool(llama_context* context, const ContextPlan& plan, bool ordered, bool recurrent)
    : context_(context),
      memory_(llama_get_memory(context)),
      ledger_(plan.sequences()),
      cells_(plan.cells),
      physical_cells_(plan.physical_cells),
      ordered_(ordered),
      streams_(plan.streams),
      recurrent_(recurrent),
      scratch_(plan.lanes + plan.routes),
      dead_(plan.lanes + plan.routes + 1) {
  for (int id = plan.lanes + plan.routes - 1; id >= 0; --id) {
    free_ids_.push_back(id);
  }
}

int KvPool::Acquire() {
  if (free_ids_.empty()) {
    return -1;
  }
  // llama.cpp computes neighbouring streams together; the lowest ids are the densest ones.
  const auto chosen =
      streams_ ? std::min_element(free_ids_.begin(), free_ids_.end()) : std::prev(free_ids_.end());
  const int id = *chosen;
  free_ids_.erase(chosen);
  return id;
}

void KvPool::Release(int sequence) {
  Truncate(sequence, 0);
  free_ids_.push_back(sequence);
}

void KvPool::Share(int from, int to, int count) {
  if (count <= 0) {
    return;
  }
  if (streams_) {
    // llama.cpp copies whole buffers only.
    llama_memory_seq_cp(memory_, from, to, -1, -1);
    llama_memory_seq_rm(memory_, to, count, -1);
    ledger_.Append(to, count);
    return;
  }
  llama_memory_seq_cp(memory_, from, to, 0, count);
  ledger_.Share(from, to, count);
}

void KvPool::Truncate(int sequence, int length) {
  const int before = ledger_.Length(sequence);
  if (length >= before) {
    return;
  }
  const int own = ledger_.Truncate(sequence, length);
  if (ordered_ && own < before) {
    llama_memory_seq_cp(memory_, sequence, dead_, own, before);
  }
  llama_memory_seq_rm(memory_, sequence, length, -1);
}

void KvPool::Appended(int sequence, int count) {
  ledger_.Append(sequence, count);
  top_ += count;
}

int KvPool::Borrow(int from, int count) {
  const int id = Acquire();
  if (id >= 0) {
    if (count > 0) {
      llama_memory_seq_cp(memory_, from, id, 0, count);
    }
    borrowed_.push_back(id);
  }
  return id;
}

int KvPool::Snapshot(int sequence) {
  const int id = Acquire();
  if (id >= 0) {
    llama_memory_seq_cp(memory_, sequence, id, -1, -1);
  }
  return id;
}

void KvPool::Restore(int sequence, int snapshot, int length) {
  ledger_.Truncate(sequence, length);
  llama_memory_seq_rm(memory_, sequence, -1, -1);
  llama_memory_seq_cp(memory_, snapshot, sequence, -1, -1);
}

void KvPool::DropSnapshot(int snapshot) {
  llama_memory_seq_rm(memory_, snapshot, -1, -1);
  free_ids_.push_back(snapshot);
}

void KvPool::ReturnBorrowed() {
  for (const int id : borrowed_) {
    llama_memory_seq_rm(memory_, id, -1, -1);
    free_ids_.push_back(id);
  }
  borrowed_.clear();
  if (llama_memory_seq_pos_max(memory_, scratch_) >= 0) {
    llama_memory_seq_rm(memory_, scratch_, -1, -1);
  }
}

Status KvPool::MakeRoom(int rows) {
  if (!ordered_) {
    return {};
  }
  if (ledger_.used() == 0 && top_ > 0) {
    llama_memory_clear(memory_, false);
    top_ = 0;
  }
  const int64_t dead = top_ - ledger_.used();
  if (top_ + rows > physical_cells_ || dead > ledger_.used() + kDeadCellsTolerated) {
    return Compact();
  }
  return {};
}

void KvPool::NotePeak(int temporary) { peak_ = std::max(peak_, ledger_.used() + temporary); }

Status KvPool::Compact() {
  llama_memory_seq_rm(memory_, dead_, -1, -1);
  std::vector<uint8_t> state;
  try {
    state.resize(llama_state_get_size(context_));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kResourceExhausted,
                 "no memory to move KV cells together; give a smaller --ctx"};
  }
  const size_t size = llama_state_get_data(context_, state.data(), state.size());
  if (size == 0 || llama_state_set_data(context_, state.data(), size) != size) {
    return Error{ErrorCode::kInternal, "llama.cpp could not write its KV cells back"};
  }
  top_ = ledger_.used();
  ++moves_;
  return {};
}

}  // namespace hyper::llama

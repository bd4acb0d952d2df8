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
      keeps_prefixes_(!plan.streams && !recurrent),
      scratch_(plan.lanes + plan.routes),
      dead_(plan.lanes + plan.routes + 1) {
  for (int id = plan.lanes + plan.routes - 1; id >= 0; --id) {
    idle_.push_back({id, -1, 0});
  }
}

int KvPool::Acquire() {
  Idle taken;
  return TakeIdle(-1, 0, &taken) ? taken.id : -1;
}

int KvPool::AcquireWith(int from, int count) {
  Idle taken;
  if (!TakeIdle(from, count, &taken)) {
    return -1;
  }
  Enter(from, taken.id, taken.length, count);
  if (streams_) {
    ledger_.Append(taken.id, count);
  } else {
    ledger_.Share(from, taken.id, count);
  }
  return taken.id;
}

bool KvPool::TakeIdle(int from, int count, Idle* taken) {
  if (idle_.empty()) {
    return false;
  }
  // llama.cpp computes neighbouring streams together; the lowest ids are the densest ones.
  auto chosen = streams_
                    ? std::min_element(idle_.begin(), idle_.end(),
                                       [](const Idle& a, const Idle& b) { return a.id < b.id; })
                    : std::prev(idle_.end());
  int most = 0;
  for (auto entry = idle_.begin(); entry != idle_.end(); ++entry) {
    int common = std::min(entry->length, count);
    if (common >= most && common > 0) {
      common = std::min(common, ledger_.Common(entry->holder, from));
    }
    // Of equal ones that with the fewest cells that nobody wants.
    if (common > most || (common == most && entry->length < chosen->length)) {
      most = common;
      chosen = entry;
    }
  }
  *taken = *chosen;
  idle_.erase(chosen);
  if (taken->length > most) {
    llama_memory_seq_rm(memory_, taken->id, most, -1);
    taken->length = most;
  }
  return true;
}

void KvPool::Enter(int from, int to, int have, int count) {
  if (have >= count) {
    return;
  }
  entered_ += count - have;
  if (streams_) {
    // llama.cpp copies whole buffers only.
    llama_memory_seq_cp(memory_, from, to, -1, -1);
    llama_memory_seq_rm(memory_, to, count, -1);
    return;
  }
  llama_memory_seq_cp(memory_, from, to, have, count);
}

void KvPool::Release(int sequence) {
  Idle left{sequence, -1, 0};
  for (int other = 0; keeps_prefixes_ && other < scratch_; ++other) {
    const int common = other == sequence ? 0 : ledger_.Common(sequence, other);
    if (common > left.length) {
      left.holder = other;
      left.length = common;
    }
  }
  CutIdle(sequence, left.length, left.holder);
  const int before = ledger_.Length(sequence);
  Drop(sequence, left.length, ledger_.Truncate(sequence, 0), before);
  idle_.push_back(left);
}

void KvPool::Truncate(int sequence, int length) {
  const int before = ledger_.Length(sequence);
  if (length >= before) {
    return;
  }
  CutIdle(sequence, length, sequence);
  Drop(sequence, length, ledger_.Truncate(sequence, length), before);
}

void KvPool::CutIdle(int holder, int length, int heir) {
  for (Idle& entry : idle_) {
    if (entry.holder != holder) {
      continue;
    }
    if (entry.length > length) {
      llama_memory_seq_rm(memory_, entry.id, length, -1);
      entry.length = length;
    }
    entry.holder = entry.length > 0 ? heir : -1;
  }
}

void KvPool::Drop(int sequence, int kept, int own, int before) {
  if (ordered_ && own < before) {
    llama_memory_seq_cp(memory_, sequence, dead_, own, before);
  }
  if (kept < before) {
    llama_memory_seq_rm(memory_, sequence, kept, -1);
  }
}

void KvPool::Appended(int sequence, int count) {
  ledger_.Append(sequence, count);
  top_ += count;
}

int KvPool::Borrow(int from, int count) {
  Idle lent;
  if (!TakeIdle(from, keeps_prefixes_ ? count : 0, &lent)) {
    return -1;
  }
  Enter(from, lent.id, lent.length, count);
  borrowed_.push_back({lent.id, from, count});
  return lent.id;
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
  idle_.push_back({snapshot, -1, 0});
}

void KvPool::ReturnBorrowed() {
  for (const Idle& lent : borrowed_) {
    const int kept = keeps_prefixes_ ? lent.length : 0;
    llama_memory_seq_rm(memory_, lent.id, kept, -1);
    idle_.push_back({lent.id, kept > 0 ? lent.holder : -1, kept});
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

void KvPool::ForgetPrefixes() {
  for (Idle& entry : idle_) {
    if (entry.length > 0) {
      llama_memory_seq_rm(memory_, entry.id, -1, -1);
      entry = {entry.id, -1, 0};
    }
  }
}

Status KvPool::Compact() {
  llama_memory_seq_rm(memory_, dead_, -1, -1);
  ForgetPrefixes();
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

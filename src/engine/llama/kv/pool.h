// The KV cells of one llama.cpp context: sequence ids, sharing, exact counts, and the order of
// cells that strict determinism needs.
//
// Order. llama.cpp's attention adds up a lane's cells by cell index. Freed cells are filled again,
// so without care a lane's late tokens could land below its early ones, and its sums would be
// rounded otherwise than in a pool where nothing was freed. With ordered cells new ones are always
// taken above all others: cells [0, top) are in use or dead, dead ones held by a sequence of their
// own, and when the top is reached the live ones are moved down together, keeping their order.
//
// Streams. Where each sequence has a buffer of its own (ContextPlan::streams) nothing is shared: a
// sequence that takes cells over gets a copy.
//
// Prefixes. llama.cpp enters every cell that a sequence takes over into a tree, one by one. So an
// id that is given back keeps those cells that a sequence in use has too, its holder. The next
// sequence that takes cells of the same path over gets this id, and only the cells that it lacks
// are entered. Cells are still freed with the last sequence in use.
#pragma once

#include <llama.h>

#include <cstdint>
#include <span>
#include <vector>

#include "hyper/result.h"
#include "src/engine/llama/context_plan.h"
#include "src/engine/llama/kv/cell_ledger.h"

namespace hyper::llama {

class KvPool {
 public:
  // `context` outlives the pool. The two last sequence ids of the plan are the pool's own.
  //   recurrent  the model keeps a state that has no past: it is known at a sequence's end only
  KvPool(llama_context* context, const ContextPlan& plan, bool ordered, bool recurrent);

  // An unused sequence id, empty; -1 when there is none.
  int Acquire();
  // The same with the first `count` cells of `from`.
  int AcquireWith(int from, int count);
  // Frees a sequence's cells, at once for everyone, and its id.
  void Release(int sequence);
  // How many of the first `count` cells of `from` another sequence can take over: all of them, or,
  // with a recurrent state, none unless the sequence ends there.
  int Shareable(int from, int count) const {
    return recurrent_ && count < Length(from) ? 0 : count;
  }
  // Drops a sequence's cells from position `length` on.
  void Truncate(int sequence, int length);
  // Notes `count` cells that a forward has added to a sequence.
  void Appended(int sequence, int count);
  int Length(int sequence) const { return ledger_.Length(sequence); }

  // Lends an id with the first `count` cells of `from` for the rows of one forward; -1 when there
  // is none. Such rows come last in their forward, so that their cells are the topmost.
  int Borrow(int from, int count);
  // Keeps a sequence's state as it is now under another id, in no account; -1 when there is none.
  int Snapshot(int sequence);
  void DropSnapshot(int snapshot);
  // Takes a sequence back to its snapshot, of `length` cells.
  void Restore(int sequence, int snapshot, int length);
  // Takes all lent ids back and frees the cells that the forward gave them.
  void ReturnBorrowed();
  // The sequence of padding rows; ReturnBorrowed frees its cells too.
  int scratch_sequence() const { return scratch_; }

  // For a move to another context of the same model (forks.cc). The bytes of cells
  // [begin, end) of a sequence; empty where they cannot be had.
  std::vector<uint8_t> Export(int sequence, int begin, int end);
  // Appends exported cells [begin, end) to a sequence of `begin` cells. False where there is no
  // room or llama.cpp does not take them; the sequence is then as it was. Errors: those of
  // MakeRoom.
  Result<bool> Import(std::span<const uint8_t> state, int sequence, int begin, int end);

  // Makes room for a forward of `rows` rows. Errors: kResourceExhausted (no memory to move cells).
  Status MakeRoom(int rows);
  // Raises the peak to what a forward uses now, `temporary` cells of borrowed ids included.
  void NotePeak(int temporary);

  int64_t used() const { return ledger_.used(); }
  int64_t peak() const { return peak_; }
  int64_t free_cells() const { return cells_ - ledger_.used(); }
  // How often live cells were moved together.
  int64_t moves() const { return moves_; }
  // Cells that sequences have taken over, counted for each, less those that their ids still had.
  int64_t entered() const { return entered_; }
  // Takes from unused ids what they have kept: llama.cpp saves all ids of a cell.
  void ForgetPrefixes();
  int free_sequences() const { return static_cast<int>(idle_.size()); }

 private:
  // An id that no one uses. It has the first `length` cells of `holder`, a sequence in use.
  struct Idle {
    int id = -1;
    int holder = -1;
    int length = 0;
  };

  // Takes the idle id that has most of the first `count` cells of `from`, and leaves it these; they
  // are `taken->length`. False when there is none.
  bool TakeIdle(int from, int count, Idle* taken);
  // Gives `to`, which has the first `have` cells of `from`, the first `count` of them.
  void Enter(int from, int to, int have, int count);
  // Leaves the idle ids at most the first `length` cells of a holder, of which it is about to drop
  // the others. Those with any go over to `heir`.
  void CutIdle(int holder, int length, int heir);
  // Takes the cells [kept, before) from a sequence; from `own` on, no one else has them.
  void Drop(int sequence, int kept, int own, int before);
  Status Compact();

  llama_context* context_;
  llama_memory_t memory_;
  CellLedger ledger_;
  int64_t cells_;
  int64_t physical_cells_;
  bool ordered_;
  bool streams_;
  bool recurrent_;
  bool keeps_prefixes_;
  int scratch_;
  int dead_;
  int64_t top_ = 0;  // cells below are in use or dead; only with ordered cells
  int64_t peak_ = 0;
  int64_t moves_ = 0;
  int64_t entered_ = 0;
  std::vector<Idle> idle_;
  std::vector<Idle> borrowed_;  // with the cells that they are lent with
};

}  // namespace hyper::llama

// Whether lanes share one KV buffer or have one each. Pure.
#pragma once

#include <cstdint>

#include "hyper/llama_engine.h"

namespace hyper::llama {

// What the choice depends on.
struct LayoutCase {
  KvLayout wish = KvLayout::kAuto;
  bool possible = false;  // streams take nothing away: fast determinism, attention only, dense
  bool pool_attention = false;  // a row costs its own cells alone in a shared buffer too
  int lanes = 1;                // of one context
  int sequences = 1;            // its sequence ids, each of which takes a stream
  int64_t cells = 0;            // of a unified buffer
  bool cells_given = false;     // the user named that number, for all lanes together
  int train_tokens = 1;         // longest history the model knows
  double affordable_cells = 0;  // that may be allocated without asking
};

struct LayoutChoice {
  bool streams = false;
  int stream_cells = 0;  // of each stream, a multiple of 256
};

// The layout that is wished for. Else streams, where they are possible, where the pool is so wide
// and its paths so long that they are faster, and where a stream for every sequence can hold as
// much as one path could have of a unified buffer.
LayoutChoice ChooseLayout(const LayoutCase& layout);

}  // namespace hyper::llama

// What a llama.cpp context of a model is made with: its sequences, rows and KV cells.
#pragma once

#include <string>

#include "hyper/llama_engine.h"

namespace hyper::llama {

// Sequence ids, rows and cells of one context, of which there are `contexts` alike. Ids [0, lanes)
// belong to lanes, the next `routes` to extra routes and scored continuations, then one to scratch
// rows and one to dead cells.
struct ContextPlan {
  int contexts = 1;
  bool streams = false;  // each sequence has a buffer of its own
  int lanes = 0;
  int routes = 0;
  int max_rows = 0;        // rows of one decoding forward
  int prefill_rows = 0;    // rows of one prefill forward
  int cells = 0;           // cells that lanes and routes may use
  int physical_cells = 0;  // cells of the context: some more, for scratch rows
  int stream_cells = 0;    // with streams: cells of each sequence
  int sequences() const { return lanes + routes + 2; }
};

// What the plan of a context depends on besides the options.
struct ModelShape {
  int train_tokens = 0;
  double bytes_per_cell = 0;
  bool plain = false;           // attention over the whole history in every layer, and no experts
  double available = 0;         // bytes of memory, where the layers lie
  bool on_cpu = false;          // all of it, attention too
  bool pool_attention = false;  // which reads the visible cells of a row and no others
};

// Whether the options can be met by some model. Errors: kInvalidArgument.
Status CheckOptions(const LlamaOptions& options);

// Rows, sequences and cells of each context.
//   limit  bytes that the cells of all contexts may take; more is kResourceExhausted
Result<ContextPlan> PlanContext(const LlamaOptions& options, const ModelShape& shape, double limit);

// A number of bytes for people, such as "1.2 GB".
std::string Gigabytes(double bytes);

}  // namespace hyper::llama

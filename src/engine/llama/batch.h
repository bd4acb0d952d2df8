// Rows of one forward.
#pragma once

#include <llama.h>

#include "hyper/types.h"

namespace hyper::llama {

// Owns a llama_batch of fixed capacity; every row belongs to one sequence.
class Batch {
 public:
  explicit Batch(int capacity) : batch_(llama_batch_init(capacity, 0, 1)) { Clear(); }
  ~Batch() { llama_batch_free(batch_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void Clear() { batch_.n_tokens = 0; }
  // Adds a row and returns its index.
  int Add(Token token, int position, int sequence, bool logits) {
    const int row = batch_.n_tokens++;
    batch_.token[row] = token;
    batch_.pos[row] = position;
    batch_.n_seq_id[row] = 1;
    batch_.seq_id[row][0] = sequence;
    batch_.logits[row] = logits ? 1 : 0;
    return row;
  }
  int rows() const { return batch_.n_tokens; }
  const llama_batch& get() const { return batch_; }

 private:
  llama_batch batch_;
};

}  // namespace hyper::llama

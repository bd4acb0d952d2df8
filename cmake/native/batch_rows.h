// Products of weights with all rows of a batch at once, for ggml's repacked types on x86 and for
// experts in F16. cmake/native/batch-rows.patch calls the two functions from repack.cpp, for every
// operation on weights in a CPU_REPACK buffer, and half-experts.patch for every other operation.
// Both refuse by returning false, and ggml's own code does the work: other types, and processors
// with neither AVX-512 nor AVX2.
//
// Each result is one sum in the order of the blocks, whatever the batch: equal bytes for any number
// of rows, threads and experts. docs/performance.md says how it differs from ggml's own results.
#pragma once

#include "repack.h"

namespace hyper_native {

enum class Weights { kOther, kQ4_0x8, kQ4_Kx8, kF16 };

// `columns` interleaved by `bytes`, the two numbers of ggml's tensor_traits.
template <typename Block, int64_t bytes, int64_t columns>
constexpr Weights WeightsOf() {
  if constexpr (bytes == 8 && columns == 8) {
    return std::is_same_v<Block, block_q4_0>   ? Weights::kQ4_0x8
           : std::is_same_v<Block, block_q4_K> ? Weights::kQ4_Kx8
                                               : Weights::kOther;
  }
  return Weights::kOther;
}

// Of an operation whose weights lie as ggml has them: kF16 for experts in F16, else kOther.
// Products with one matrix have tiles in ggml.
Weights PlainWeights(const ggml_tensor* op);

// Raises `size` to what ForwardBatchRows needs of the work buffer; false: it will not run.
bool BatchRowsWorkSize(Weights weights, const ggml_tensor* op, size_t& size);

// Computes MUL_MAT or MUL_MAT_ID. Every thread of the pool calls it, with equal arguments.
bool ForwardBatchRows(Weights weights, const ggml_compute_params* params, ggml_tensor* op);

// Whether operations may be taken from ggml; hyper_native_batch_rows changes it.
bool Enabled();

// Counts an operation that was computed here.
void CountOperation();

// Asks the system for huge pages, before a buffer of weights is filled. In pages of 4 KB the
// processor spends much of its time on finding them.
void AskForHugePages(void* begin, size_t size);

}  // namespace hyper_native

// For tests and benchmarks: 0 leaves all operations to ggml, 1 takes them back, other values change
// nothing. Returns how many were computed here. Not to be called during a graph.
extern "C" __attribute__((visibility("default"))) int64_t hyper_native_batch_rows(int on);

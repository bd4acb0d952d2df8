// Attention of a pool: many rows, each of which sees few of the cells of a shared KV buffer.
// pool-attention.patch asks for it first, in ggml's operation FLASH_ATTN_EXT.
//
// A row's visible cells are listed, 64 at a time, and only their keys and values are read. Query
// heads that share a key read it once, and so do up to 32 rows with the same list: paths with a
// common prefix, or the rows of a prompt. The result depends on the visible cells and their order
// alone: equal bytes for any threads and other rows.
#pragma once

#include "ggml-cpu-impl.h"

namespace hyper_native {

// Computes FLASH_ATTN_EXT; every thread of the pool calls it. False, and ggml does the work,
// with neither AVX-512 nor AVX2, and for keys and values that are not F16, head sizes that are no
// multiples of 16, sinks, ALiBi and soft caps.
bool ForwardPoolAttention(const ggml_compute_params* params, ggml_tensor* op);

}  // namespace hyper_native

// Whether any operation can be computed here. The engine looks the name up in the loaded backend.
extern "C" __attribute__((visibility("default"))) bool hyper_native_pool_attention();

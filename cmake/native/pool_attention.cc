#include "pool_attention.h"

#include <algorithm>
#include <cmath>

#include "batch_rows.h"
#include "vec.h"
#include "vectors.h"

#ifdef HYPER_VECTORS
#include "half_kernel.h"

namespace hyper_native {
namespace {

constexpr int kCells = 64;          // visible cells at a time
constexpr int kMostHeads = 4;       // query heads that read a key together
constexpr int64_t kMostSize = 256;  // of a head
constexpr int64_t kDenseRows = 64;  // from here on ggml has tiles, which serve dense masks better
constexpr ggml_fp16_t kHidden = 0xFC00;

struct Shape {
  explicit Shape(const ggml_tensor* op)
      : op(*op), q(*op->src[0]), k(*op->src[1]), v(*op->src[2]), mask(*op->src[3]) {}

  int64_t Rows() const { return q.ne[1] * q.ne[3]; }
  int64_t KeyHeads() const { return k.ne[2]; }
  int64_t Sharing() const { return q.ne[2] / k.ne[2]; }  // query heads of a key head

  const ggml_fp16_t* Mask(int64_t row, int64_t stream) const {
    return reinterpret_cast<const ggml_fp16_t*>(
        static_cast<const char*>(mask.data) + row * mask.nb[1] + stream % mask.ne[3] * mask.nb[3]);
  }

  const ggml_tensor& op;
  const ggml_tensor& q;
  const ggml_tensor& k;
  const ggml_tensor& v;
  const ggml_tensor& mask;
};

float Parameter(const ggml_tensor* op, int index) {
  float value;
  memcpy(&value, op->op_params + index, sizeof value);
  return value;
}

// A bit for each of the 32 cells from `cell` on that is visible.
uint32_t VisibleOf32(const ggml_fp16_t* mask, int64_t cell, int64_t end) {
  if (cell + 32 <= end) {
    return Unequal32(mask + cell, kHidden);
  }
  uint32_t visible = 0;
  for (int64_t i = cell; i < end; ++i) {
    visible |= uint32_t{mask[i] != kHidden} << (i - cell);
  }
  return visible;
}

int64_t CountVisible(const ggml_fp16_t* mask, int64_t end) {
  int64_t count = 0;
  for (int64_t cell = 0; cell < end; cell += 32) {
    count += __builtin_popcount(VisibleOf32(mask, cell, end));
  }
  return count;
}

int RoundUp(int count, int step) { return (count + step - 1) / step * step; }

// Up to kCells visible cells of a row.
struct Cells {
  int count = 0;
  int64_t cell[kCells];
  float added[kCells];  // by the mask; minus infinity up to the end of a group

  int Whole() const { return RoundUp(count, kGroup); }

  // Lists what comes from `from` on; returns where the next list begins.
  int64_t List(const ggml_fp16_t* mask, int64_t from, int64_t end) {
    count = 0;
    while (from < end) {
      uint32_t visible = VisibleOf32(mask, from, end);
      for (; visible != 0 && count < kCells; visible &= visible - 1) {
        cell[count] = from + __builtin_ctz(visible);
        added[count] = GGML_CPU_FP16_TO_FP32(mask[cell[count]]);
        ++count;
      }
      if (visible != 0) {
        from += __builtin_ctz(visible);
        break;
      }
      from += 32;
    }
    std::fill(added + count, added + Whole(), -INFINITY);
    return from;
  }
};

// The running softmax of one query head.
struct Softmax {
  float most = -INFINITY;
  float sum = 0;
};

// Turns `scores` into weights, and returns by what the sum of values before must be multiplied.
float Weigh(const Cells& cells, float scale, float* scores, Softmax& softmax) {
  Floats most = Repeat(softmax.most);
  for (int i = 0; i < cells.Whole(); i += kFloats) {
    const Floats score = MultiplyAdd(Load(scores + i), Repeat(scale), Load(cells.added + i));
    Store(scores + i, score);
    most = Larger(most, score);
  }
  const float highest = Largest(most);
  const float factor = highest == softmax.most ? 1.0F : std::exp(softmax.most - highest);
  Floats sums[kVectors] = {};
  for (int i = 0; i < cells.Whole(); i += kGroup) {
    for (int part = 0; part < kVectors; ++part) {
      float* at = scores + i + part * kFloats;
      const Floats weight = ggml_v_expf(Load(at) - Repeat(highest));
      Store(at, weight);
      sums[part] = sums[part] + weight;
    }
  }
  softmax.most = highest;
  softmax.sum = softmax.sum * factor + Total(sums);
  return factor;
}

// out[h] = out[h] * factors[h] + the weighted sum of the values, from number `at` on: so many
// vectors of them.
template <int heads, int vectors>
void AddValues(const ggml_half* const* values, int count, const float (*weights)[kCells],
               const float* factors, float* const* out, int64_t at) {
  Floats sums[heads][vectors];
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 8
    for (int i = 0; i < vectors; ++i) {
      sums[h][i] = Load(out[h] + at + kFloats * i) * Repeat(factors[h]);
    }
  }
  for (int c = 0; c < count; ++c) {
#pragma GCC unroll 8
    for (int i = 0; i < vectors; ++i) {
      const Floats value = FromHalves(values[c] + at + kFloats * i);
#pragma GCC unroll 8
      for (int h = 0; h < heads; ++h) {
        sums[h][i] = MultiplyAdd(value, Repeat(weights[h][c]), sums[h][i]);
      }
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 8
    for (int i = 0; i < vectors; ++i) {
      Store(out[h] + at + kFloats * i, sums[h][i]);
    }
  }
}

template <int heads>
void AddAllValues(int64_t size, const ggml_half* const* values, int count,
                  const float (*weights)[kCells], const float* factors, float* const* out) {
  constexpr int kMany = heads == 1 ? 8 : heads < 4 ? 4 : 4 / kVectors;  // as registers hold sums
  int64_t at = 0;
  for (; at + kFloats * kMany <= size; at += kFloats * kMany) {
    AddValues<heads, kMany>(values, count, weights, factors, out, at);
  }
  for (; at + kFloats * 2 <= size; at += kFloats * 2) {
    AddValues<heads, 2>(values, count, weights, factors, out, at);
  }
  if (at < size) {
    AddValues<heads, 1>(values, count, weights, factors, out, at);
  }
}

// Query heads that share a key head and one list of cells. out[h]: the sum of values so far.
template <int heads>
void AddCells(const Shape& shape, const Cells& cells, const char* keys, const char* values,
              const float* const* queries, float scale, Softmax* softmax, float* const* out) {
  const ggml_half* at[kCells];
  const int padded = RoundUp(cells.count, 8);
  for (int c = 0; c < padded; ++c) {
    at[c] = reinterpret_cast<const ggml_half*>(keys + cells.cell[std::min(c, cells.count - 1)] *
                                                          shape.k.nb[1]);
  }
  alignas(64) float weights[heads][kCells];
  float* rows[heads];
  for (int h = 0; h < heads; ++h) {
    rows[h] = weights[h];
    std::fill(weights[h] + padded, weights[h] + cells.Whole(), 0.0F);
  }
  DotTiles<heads>(shape.k.ne[0] / 16, at, queries, rows, padded);
  float factors[heads];
  for (int h = 0; h < heads; ++h) {
    factors[h] = Weigh(cells, scale, weights[h], softmax[h]);
  }
  for (int c = 0; c < cells.count; ++c) {
    at[c] = reinterpret_cast<const ggml_half*>(values + cells.cell[c] * shape.v.nb[1]);
  }
  AddAllValues<heads>(shape.v.ne[0], at, cells.count, weights, factors, out);
}

using AddCellsOf = decltype(&AddCells<1>);
constexpr AddCellsOf kAddCells[] = {AddCells<1>, AddCells<2>, AddCells<3>, AddCells<4>};

// Up to kMostHeads query heads of one row, which share a key head.
void AttendHeads(const Shape& shape, int64_t row, int64_t stream, int64_t first, int heads,
                 float scale) {
  const int64_t key_head = first / shape.Sharing();
  const int64_t key_stream = stream / (shape.q.ne[3] / shape.k.ne[3]);
  const char* keys = static_cast<const char*>(shape.k.data) + key_head * shape.k.nb[2] +
                     key_stream * shape.k.nb[3];
  const char* values = static_cast<const char*>(shape.v.data) + key_head * shape.v.nb[2] +
                       key_stream * shape.v.nb[3];
  const int64_t size = shape.k.ne[0];
  alignas(64) float rounded[kMostHeads][kMostSize];
  const float* queries[kMostHeads];
  float* out[kMostHeads];
  Softmax softmax[kMostHeads];
  for (int h = 0; h < heads; ++h) {
    const auto* query = reinterpret_cast<const float*>(
        static_cast<const char*>(shape.q.data) + row * shape.q.nb[1] + (first + h) * shape.q.nb[2] +
        stream * shape.q.nb[3]);
    for (int64_t i = 0; i < size; i += F16::kBlock) {
      F16::RoundBlock(query + i, reinterpret_cast<F16::Row*>(rounded[h] + i));
    }
    queries[h] = rounded[h];
    out[h] =
        reinterpret_cast<float*>(static_cast<char*>(shape.op.data) + (first + h) * shape.op.nb[1] +
                                 row * shape.op.nb[2] + stream * shape.op.nb[3]);
    std::fill_n(out[h], shape.v.ne[0], 0.0F);
  }
  const ggml_fp16_t* mask = shape.Mask(row, stream);
  Cells cells;
  for (int64_t from = 0; from < shape.k.ne[1];) {
    from = cells.List(mask, from, shape.k.ne[1]);
    if (cells.count > 0) {
      kAddCells[heads - 1](shape, cells, keys, values, queries, scale, softmax, out);
    }
  }
  for (int h = 0; h < heads; ++h) {
    const float sum = softmax[h].sum;
    ggml_vec_scale_f32(static_cast<int>(shape.v.ne[0]), out[h], sum == 0 ? 0 : 1 / sum);
  }
}

bool Takes(const ggml_tensor* op) {
  if (op->src[3] == nullptr || op->src[4] != nullptr || Parameter(op, 1) != 0 ||
      Parameter(op, 2) != 0) {
    return false;
  }
  const Shape shape(op);
  const bool types = shape.q.type == GGML_TYPE_F32 && shape.k.type == GGML_TYPE_F16 &&
                     shape.v.type == GGML_TYPE_F16;
  const bool sizes = shape.k.ne[0] % 16 == 0 && shape.v.ne[0] % 16 == 0 &&
                     shape.k.ne[0] <= kMostSize && shape.v.ne[2] == shape.k.ne[2] &&
                     shape.v.ne[3] == shape.k.ne[3] && shape.mask.ne[2] == 1;
  if (!types || !sizes) {
    return false;
  }
  const int64_t cells = shape.k.ne[1];
  return shape.q.ne[1] < kDenseRows ||
         2 * CountVisible(shape.Mask(shape.q.ne[1] - 1, 0), cells) <= cells;
}

}  // namespace

bool ForwardPoolAttention(const ggml_compute_params* params, ggml_tensor* op) {
  if (!Enabled() || !Takes(op)) {
    return false;
  }
  const Shape shape(op);
  const float scale = Parameter(op, 0);
  const int64_t sharing = shape.Sharing();
  const int64_t parts = (sharing + kMostHeads - 1) / kMostHeads;
  const int64_t units = shape.Rows() * shape.KeyHeads() * parts;
  if (params->ith == 0) {
    ggml_threadpool_chunk_set(params->threadpool, params->nth);
    CountOperation();
  }
  ggml_barrier(params->threadpool);
  for (int64_t unit = params->ith; unit < units;
       unit = ggml_threadpool_chunk_add(params->threadpool, 1)) {
    const int64_t part = unit % parts;
    const int64_t key_head = unit / parts % shape.KeyHeads();
    const int64_t row = unit / parts / shape.KeyHeads();
    const int64_t first = sharing * part / parts;
    const int64_t end = sharing * (part + 1) / parts;
    AttendHeads(shape, row % shape.q.ne[1], row / shape.q.ne[1], key_head * sharing + first,
                static_cast<int>(end - first), scale);
  }
  return true;
}

}  // namespace hyper_native

bool hyper_native_pool_attention() { return true; }

#else

namespace hyper_native {

bool ForwardPoolAttention(const ggml_compute_params*, ggml_tensor*) { return false; }

}  // namespace hyper_native

bool hyper_native_pool_attention() { return false; }

#endif

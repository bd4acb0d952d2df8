#include "pool_attention.h"

#include <algorithm>
#include <cmath>

#include "batch_rows.h"
#include "vec.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512DQ__) && defined(__F16C__)
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

// The first visible cell from `cell` on, or `end`.
int64_t NextVisible(const ggml_fp16_t* mask, int64_t cell, int64_t end) {
  const __m512i hidden = _mm512_set1_epi16(static_cast<int16_t>(kHidden));
  for (; cell + 32 <= end; cell += 32) {
    const __mmask32 visible = _mm512_cmpneq_epi16_mask(_mm512_loadu_si512(mask + cell), hidden);
    if (visible != 0) {
      return cell + __builtin_ctz(visible);
    }
  }
  while (cell < end && mask[cell] == kHidden) {
    ++cell;
  }
  return cell;
}

int64_t CountVisible(const ggml_fp16_t* mask, int64_t end) {
  int64_t count = 0;
  for (int64_t cell = 0; cell < end; ++cell) {
    count += mask[cell] == kHidden ? 0 : 1;
  }
  return count;
}

// Up to kCells visible cells of a row.
struct Cells {
  int count = 0;
  int64_t cell[kCells];
  float added[kCells];  // by the mask

  // Lists what comes from `from` on; returns where the next list begins.
  int64_t List(const ggml_fp16_t* mask, int64_t from, int64_t end) {
    count = 0;
    while (count < kCells && (from = NextVisible(mask, from, end)) < end) {
      added[count] = GGML_CPU_FP16_TO_FP32(mask[from]);
      cell[count++] = from++;
    }
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
  const __m512 scales = _mm512_set1_ps(scale);
  __m512 most = _mm512_set1_ps(softmax.most);
  for (int i = 0; i < kCells; i += 16) {
    const int left = std::clamp(cells.count - i, 0, 16);
    const auto known = static_cast<__mmask16>((1U << left) - 1);
    const __m512 added = _mm512_maskz_loadu_ps(known, cells.added + i);
    const __m512 score = _mm512_mask_fmadd_ps(_mm512_loadu_ps(scores + i), known, scales, added);
    _mm512_storeu_ps(scores + i, _mm512_mask_mov_ps(_mm512_set1_ps(-INFINITY), known, score));
    most = _mm512_mask_max_ps(most, known, most, score);
  }
  const float highest = _mm512_reduce_max_ps(most);
  const float factor = highest == softmax.most ? 1.0F : std::exp(softmax.most - highest);
  __m512 sum = _mm512_setzero_ps();
  for (int i = 0; i < kCells; i += 16) {
    const __m512 below = _mm512_sub_ps(_mm512_loadu_ps(scores + i), _mm512_set1_ps(highest));
    const __m512 weight = ggml_v_expf(below);
    _mm512_storeu_ps(scores + i, weight);
    sum = _mm512_add_ps(sum, weight);
  }
  softmax.most = highest;
  softmax.sum = softmax.sum * factor + _mm512_reduce_add_ps(sum);
  return factor;
}

// out[h] = out[h] * factors[h] + the weighted sum of `groups` groups of 16 numbers of the values.
template <int heads, int groups>
void AddValues(const ggml_half* const* values, int count, const float (*weights)[kCells],
               const float* factors, float* const* out, int64_t at) {
  __m512 sums[heads][groups];
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) {
      sums[h][g] = _mm512_mul_ps(_mm512_loadu_ps(out[h] + at + 16 * g), _mm512_set1_ps(factors[h]));
    }
  }
  for (int c = 0; c < count; ++c) {
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) {
      const __m512 value = _mm512_cvtph_ps(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values[c] + at + 16 * g)));
#pragma GCC unroll 8
      for (int h = 0; h < heads; ++h) {
        sums[h][g] = _mm512_fmadd_ps(value, _mm512_set1_ps(weights[h][c]), sums[h][g]);
      }
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) {
      _mm512_storeu_ps(out[h] + at + 16 * g, sums[h][g]);
    }
  }
}

template <int heads>
void AddAllValues(int64_t size, const ggml_half* const* values, int count,
                  const float (*weights)[kCells], const float* factors, float* const* out) {
  constexpr int kMany = heads == 1 ? 8 : 4;
  int64_t at = 0;
  for (; at + 16 * kMany <= size; at += 16 * kMany) {
    AddValues<heads, kMany>(values, count, weights, factors, out, at);
  }
  for (; at + 32 <= size; at += 32) {
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
  const int padded = (cells.count + 7) / 8 * 8;
  for (int c = 0; c < padded; ++c) {
    at[c] = reinterpret_cast<const ggml_half*>(keys + cells.cell[std::min(c, cells.count - 1)] *
                                                          shape.k.nb[1]);
  }
  alignas(64) float weights[heads][kCells];
  float* rows[heads];
  for (int h = 0; h < heads; ++h) {
    rows[h] = weights[h];
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

#else

namespace hyper_native {

bool ForwardPoolAttention(const ggml_compute_params*, ggml_tensor*) { return false; }

}  // namespace hyper_native

#endif

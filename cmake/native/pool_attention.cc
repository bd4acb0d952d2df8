#include "pool_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "batch_rows.h"
#include "vec.h"
#include "vectors.h"

#ifdef HYPER_VECTORS
#include "half_kernel.h"

namespace hyper_native {
namespace {

constexpr int kCells = 64;         // visible cells at a time
constexpr int kMostHeads = 4;      // query heads of a row that read a key together
constexpr int64_t kMostRows = 32;  // rows that may
constexpr int kPack = kTileRows > kMostHeads ? kTileRows : kMostHeads;  // query heads in registers
constexpr int64_t kMostSize = 256;                                      // of a head
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
    return std::min(from, end);
  }
};

// A query head of a row, and its running softmax.
struct Query {
  const float* numbers = nullptr;
  float* out = nullptr;  // the sum of values so far
  float most = -INFINITY;
  float sum = 0;
};

// Turns `scores` into weights, and returns by what the sum of values before must be multiplied.
float Weigh(const Cells& cells, float scale, float* scores, Query* query) {
  Floats most = Repeat(query->most);
  for (int i = 0; i < cells.Whole(); i += kFloats) {
    const Floats score = MultiplyAdd(Load(scores + i), Repeat(scale), Load(cells.added + i));
    Store(scores + i, score);
    most = Larger(most, score);
  }
  const float highest = Largest(most);
  const float factor = highest == query->most ? 1.0F : std::exp(query->most - highest);
  Floats sums[kVectors] = {};
  for (int i = 0; i < cells.Whole(); i += kGroup) {
    for (int part = 0; part < kVectors; ++part) {
      float* at = scores + i + part * kFloats;
      const Floats weight = ggml_v_expf(Load(at) - Repeat(highest));
      Store(at, weight);
      sums[part] = sums[part] + weight;
    }
  }
  query->most = highest;
  query->sum = query->sum * factor + Total(sums);
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

// The listed cells of a key head.
struct Listed {
  const ggml_half* keys[kCells];  // up to a multiple of eight
  const ggml_half* values[kCells];

  Listed(const Shape& shape, const Cells& cells, const char* keys_of_head,
         const char* values_of_head) {
    for (int c = 0; c < RoundUp(cells.count, 8); ++c) {
      const int64_t cell = cells.cell[std::min(c, cells.count - 1)];
      keys[c] = reinterpret_cast<const ggml_half*>(keys_of_head + cell * shape.k.nb[1]);
      values[c] = reinterpret_cast<const ggml_half*>(values_of_head + cell * shape.v.nb[1]);
    }
  }
};

// Adds one list of cells to so many query heads, of whatever rows, that share a key head.
template <int heads>
void AddCells(const Shape& shape, const Cells& cells, const Listed& listed, float scale,
              Query* const* queries) {
  const int padded = RoundUp(cells.count, 8);
  alignas(64) float weights[heads][kCells];
  const float* numbers[heads];
  float* rows[heads];
  float* out[heads];
  for (int h = 0; h < heads; ++h) {
    numbers[h] = queries[h]->numbers;
    rows[h] = weights[h];
    out[h] = queries[h]->out;
    std::fill(weights[h] + padded, weights[h] + cells.Whole(), 0.0F);
  }
  DotTiles<heads>(shape.k.ne[0] / 16, listed.keys, numbers, rows, padded);
  float factors[heads];
  for (int h = 0; h < heads; ++h) {
    factors[h] = Weigh(cells, scale, weights[h], queries[h]);
  }
  AddAllValues<heads>(shape.v.ne[0], listed.values, cells.count, weights, factors, out);
}

using AddCellsOf = decltype(&AddCells<1>);
constexpr auto kAddCells = []<size_t... heads>(std::index_sequence<heads...>) {
  return std::array<AddCellsOf, kPack>{AddCells<heads + 1>...};
}
(std::make_index_sequence<kPack>());

// Rows that read the keys of one key head together. Lists of cells that are equal, as those of a
// common prefix are, are read once for all of them.
class RowsOfHead {
 public:
  // Query heads [first, first + heads) of `rows` rows from `row` on.
  RowsOfHead(const Shape& shape, int64_t stream, int64_t row, int rows, int64_t first, int heads)
      : shape_(shape), rows_(rows), heads_(heads) {
    const int64_t key_head = first / shape.Sharing();
    const int64_t key_stream = stream / (shape.q.ne[3] / shape.k.ne[3]);
    keys_ = static_cast<const char*>(shape.k.data) + key_head * shape.k.nb[2] +
            key_stream * shape.k.nb[3];
    values_ = static_cast<const char*>(shape.v.data) + key_head * shape.v.nb[2] +
              key_stream * shape.v.nb[3];
    for (int r = 0; r < rows; ++r) {
      mask_[r] = shape.Mask(row + r, stream);
      for (int h = 0; h < heads; ++h) {
        SetQuery(r * heads + h, stream, row + r, first + h);
      }
    }
  }

  void Attend(float scale) {
    while (ListNext()) {
      for (int r = 0; r < rows_; ++r) {
        if (owner_[r] == r && cells_[r].count > 0) {
          AddList(r, scale);
        }
      }
    }
    for (int i = 0; i < rows_ * heads_; ++i) {
      const float sum = queries_[i].sum;
      ggml_vec_scale_f32(static_cast<int>(shape_.v.ne[0]), queries_[i].out, sum == 0 ? 0 : 1 / sum);
    }
  }

 private:
  void SetQuery(int index, int64_t stream, int64_t row, int64_t head) {
    const int64_t size = shape_.k.ne[0];
    const auto* query = reinterpret_cast<const float*>(
        static_cast<const char*>(shape_.q.data) + row * shape_.q.nb[1] + head * shape_.q.nb[2] +
        stream * shape_.q.nb[3]);
    float* numbers = rounded_ + index * size;
    for (int64_t i = 0; i < size; i += F16::kBlock) {
      F16::RoundBlock(query + i, reinterpret_cast<F16::Row*>(numbers + i));
    }
    queries_[index].numbers = numbers;
    queries_[index].out =
        reinterpret_cast<float*>(static_cast<char*>(shape_.op.data) + head * shape_.op.nb[1] +
                                 row * shape_.op.nb[2] + stream * shape_.op.nb[3]);
    std::fill_n(queries_[index].out, shape_.v.ne[0], 0.0F);
  }

  // The next list of each row, all of which are at the same number of their cells. False at the
  // end.
  bool ListNext() {
    int64_t begin[kMostRows];
    bool any = false;
    for (int r = 0; r < rows_; ++r) {
      begin[r] = from_[r];
      int other = 0;
      while (other < r && !(owner_[other] == other && begin[other] == begin[r] &&
                            SeesTheSame(other, r, begin[r]))) {
        ++other;
      }
      owner_[r] = other;
      from_[r] = other < r ? from_[other] : cells_[r].List(mask_[r], from_[r], shape_.k.ne[1]);
      any = any || cells_[other].count > 0;
    }
    return any;
  }

  // Whether the list of `other`, which begins at the same cell, is also that of the row. The ends
  // of the list tell most rows apart.
  bool SeesTheSame(int other, int row, int64_t begin) const {
    const Cells& cells = cells_[other];
    return cells.count > 0 && mask_[row][cells.cell[0]] != kHidden &&
           mask_[row][cells.cell[cells.count - 1]] != kHidden &&
           std::equal(mask_[row] + begin, mask_[row] + from_[other], mask_[other] + begin);
  }

  // Adds the list of a row to all rows that have it.
  void AddList(int owner, float scale) {
    const Cells& cells = cells_[owner];
    const Listed listed(shape_, cells, keys_, values_);
    Query* pack[kPack];
    int packed = 0;
    for (int i = owner * heads_; i < rows_ * heads_; ++i) {
      if (owner_[i / heads_] == owner) {
        pack[packed] = &queries_[i];
        ++packed;
      }
      if (packed == kPack) {
        kAddCells[kPack - 1](shape_, cells, listed, scale, pack);
        packed = 0;
      }
    }
    if (packed > 0) {
      kAddCells[packed - 1](shape_, cells, listed, scale, pack);
    }
  }

  const Shape& shape_;
  int rows_;
  int heads_;
  const char* keys_;
  const char* values_;
  const ggml_fp16_t* mask_[kMostRows];
  int64_t from_[kMostRows] = {};
  int owner_[kMostRows];  // the first row with this list
  Cells cells_[kMostRows];
  Query queries_[kMostRows * kMostHeads];
  alignas(64) float rounded_[kMostRows * kMostHeads * kMostSize];
};

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
  return types && sizes;
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
  // Fewer where all threads would not have enough to do.
  const int64_t shares = shape.Rows() * shape.KeyHeads() * parts / (4 * params->nth);
  const int64_t rows = std::clamp<int64_t>(std::min(shares, shape.q.ne[1]), 1, kMostRows);
  const int64_t blocks = (shape.q.ne[1] + rows - 1) / rows;
  const int64_t units = blocks * shape.q.ne[3] * shape.KeyHeads() * parts;
  if (params->ith == 0) {
    ggml_threadpool_chunk_set(params->threadpool, params->nth);
    CountOperation();
  }
  ggml_barrier(params->threadpool);
  for (int64_t unit = params->ith; unit < units;
       unit = ggml_threadpool_chunk_add(params->threadpool, 1)) {
    const int64_t part = unit % parts;
    const int64_t key_head = unit / parts % shape.KeyHeads();
    const int64_t block = unit / parts / shape.KeyHeads();
    const int64_t begin = shape.q.ne[1] * (block % blocks) / blocks;
    const int64_t end = shape.q.ne[1] * (block % blocks + 1) / blocks;
    const int64_t first = sharing * part / parts;
    const int64_t last = sharing * (part + 1) / parts;
    RowsOfHead(shape, block / blocks, begin, static_cast<int>(end - begin),
               key_head * sharing + first, static_cast<int>(last - first))
        .Attend(scale);
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

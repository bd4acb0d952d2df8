// Dot products of rows in F16 with rows in F32, in tiles, with AVX-512: experts times rows of the
// batch, keys times queries.
//
// Each product is the sum of 16 partial sums, one for each place in a group of 16 numbers. The
// order is the same whatever the tile: equal bytes for any number of rows.
#pragma once

#include <utility>

#include "batch_kernels.h"

namespace hyper_native {

// a, b, c, d: the sum of each, in all four parts' order alike.
inline __m128 SumsOfFour(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  const __m512d low = _mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
  const __m512d high = _mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
  const __m512 quarters = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
  const __m256 halves =
      _mm256_add_ps(_mm512_castps512_ps256(quarters), _mm512_extractf32x8_ps(quarters, 1));
  return _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
}

// out[r][c]: halves[c] times floats[r], rows of `groups` groups of 16 numbers.
template <int columns, int rows>
inline void DotTile(int64_t groups, const ggml_half* const* halves, const float* const* floats,
                    float* const* out) {
  static_assert(columns % 4 == 0);
  __m512 sums[columns][rows];
#pragma GCC unroll 16
  for (int c = 0; c < columns; ++c) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      sums[c][r] = _mm512_setzero_ps();
    }
  }
  for (int64_t at = 0; at < groups * 16; at += 16) {
    __m512 row[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      row[r] = _mm512_loadu_ps(floats[r] + at);
    }
#pragma GCC unroll 16
    for (int c = 0; c < columns; ++c) {
      const __m512 column =
          _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves[c] + at)));
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        sums[c][r] = _mm512_fmadd_ps(column, row[r], sums[c][r]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < columns; c += 4) {
      _mm_storeu_ps(out[r] + c,
                    SumsOfFour(sums[c][r], sums[c + 1][r], sums[c + 2][r], sums[c + 3][r]));
    }
  }
}

// The same for `count` columns, a multiple of eight, in tiles of as many sums as registers hold.
template <int rows>
inline void DotTiles(int64_t groups, const ggml_half* const* halves, const float* const* floats,
                     float* const* out, int count) {
  constexpr int kColumns = rows > 3 ? 4 : 8;
  float* to[rows];
  for (int c = 0; c < count; c += kColumns) {
    for (int r = 0; r < rows; ++r) {
      to[r] = out[r] + c;
    }
    DotTile<kColumns, rows>(groups, halves + c, floats, to);
  }
}

struct F16 {
  static constexpr int64_t kBlock = 16;

  struct Block {  // as large as what eight columns take of this many numbers
    ggml_half numbers[8 * kBlock];
  };

  struct Row {
    float numbers[kBlock];
  };

  // As ggml rounds the rows of such a product.
  static void RoundBlock(const float* from, Row* to) {
    const __m256i halves = _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT);
    _mm512_storeu_ps(to->numbers, _mm512_cvtph_ps(halves));
  }

  template <int rows>
  static void Strip(int64_t blocks, const Block* left, const Block*, const Row* const* in,
                    float* const* out, int columns, const char*) {
    constexpr int kTiles = (rows + 5) / 6;
    const ggml_half* halves[16];
    for (int c = 0; c < columns; ++c) {
      halves[c] = left->numbers + c * blocks * kBlock;
    }
    const float* floats[rows];
    for (int r = 0; r < rows; ++r) {
      floats[r] = in[r]->numbers;
    }
    [&]<size_t... tile>(std::index_sequence<tile...>) {
      (DotTiles<rows*(tile + 1) / kTiles - rows * tile / kTiles>(
           blocks, halves, floats + rows * tile / kTiles, out + rows * tile / kTiles, columns),
       ...);
    }
    (std::make_index_sequence<kTiles>());
  }
};

}  // namespace hyper_native

// Dot products of rows in F16 with rows in F32, in tiles: experts times rows of the batch, keys
// times queries.
//
// Each product is the sum of 16 partial sums, one for each place in a group of 16 numbers. The
// order is the same whatever the tile: equal bytes for any number of rows. A vector of eight floats
// holds half of the partial sums, and a tile then runs twice over its numbers.
#pragma once

#include <utility>

#include "vectors.h"

namespace hyper_native {

// As many sums as the registers hold: 24 of 32, or 12 of 16.
constexpr int kTileRows = HYPER_VECTORS == 512 ? 6 : 3;

constexpr int TileColumns(int rows) { return rows * 8 > 4 * kTileRows ? 4 : 8; }

// out[r][c]: halves[c] times floats[r], rows of `groups` groups of 16 numbers.
template <int columns, int rows>
inline void DotTile(int64_t groups, const ggml_half* const* halves, const float* const* floats,
                    float* const* out) {
  static_assert(columns % 4 == 0);
  Floats fours[columns / 4][rows][kVectors];
  for (int part = 0; part < kVectors; ++part) {
    Floats sums[columns][rows];
#pragma GCC unroll 16
    for (int c = 0; c < columns; ++c) {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        sums[c][r] = Floats();
      }
    }
    for (int64_t at = part * kFloats; at < groups * kGroup; at += kGroup) {
      Floats row[rows];
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        row[r] = Load(floats[r] + at);
      }
#pragma GCC unroll 16
      for (int c = 0; c < columns; ++c) {
        const Floats column = FromHalves(halves[c] + at);
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) {
          sums[c][r] = MultiplyAdd(column, row[r], sums[c][r]);
        }
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int c = 0; c < columns; c += 4) {
        fours[c / 4][r][part] =
            SumsInFours(sums[c][r], sums[c + 1][r], sums[c + 2][r], sums[c + 3][r]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < columns; c += 4) {
      _mm_storeu_ps(out[r] + c, FoldToFour(fours[c / 4][r]));
    }
  }
}

// The same for `count` columns, a multiple of eight.
template <int rows>
inline void DotTilesOfRows(int64_t groups, const ggml_half* const* halves,
                           const float* const* floats, float* const* out, int count) {
  constexpr int kColumns = TileColumns(rows);
  float* to[rows];
  for (int c = 0; c < count; c += kColumns) {
    for (int r = 0; r < rows; ++r) {
      to[r] = out[r] + c;
    }
    DotTile<kColumns, rows>(groups, halves + c, floats, to);
  }
}

// The same for any number of rows, in tiles of nearly equal height.
template <int rows>
inline void DotTiles(int64_t groups, const ggml_half* const* halves, const float* const* floats,
                     float* const* out, int count) {
  constexpr int kTiles = (rows + kTileRows - 1) / kTileRows;
  [&]<size_t... tile>(std::index_sequence<tile...>) {
    (DotTilesOfRows<rows*(tile + 1) / kTiles - rows * tile / kTiles>(
         groups, halves, floats + rows * tile / kTiles, out + rows * tile / kTiles, count),
     ...);
  }
  (std::make_index_sequence<kTiles>());
}

struct F16 {
  static constexpr int64_t kBlock = kGroup;

  struct Block {  // as large as what eight columns take of this many numbers
    ggml_half numbers[8 * kBlock];
  };

  struct Row {
    float numbers[kBlock];
  };

  // As ggml rounds the rows of such a product.
  static void RoundBlock(const float* from, Row* to) {
    for (int i = 0; i < kGroup; i += kFloats) {
      Store(to->numbers + i, RoundToHalves(Load(from + i)));
    }
  }

  template <int rows>
  static void Strip(int64_t blocks, const Block* left, const Block*, const Row* const* in,
                    float* const* out, int columns, const char*) {
    const ggml_half* halves[16];
    for (int c = 0; c < columns; ++c) {
      halves[c] = left->numbers + c * blocks * kBlock;
    }
    const float* floats[rows];
    for (int r = 0; r < rows; ++r) {
      floats[r] = in[r]->numbers;
    }
    DotTiles<rows>(blocks, halves, floats, out, columns);
  }
};

}  // namespace hyper_native

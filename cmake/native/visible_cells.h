// The one change that HyPER makes to ggml's sources where it compiles them
// (cmake/HyperNative.cmake): attention jumps over the cells that a row may not see, sixteen at a
// time.
//
// All paths of a pool share one KV buffer. ggml visits every cell of it for every row and head, and
// takes each apart to find it masked: with many paths, most of a forward's time. The visible cells
// and their order stay the same, and so does every bit of the result.
#pragma once

#include <stdint.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

// The first cell in [cell, end) that `mask` does not forbid, or `end`. `mask` holds half floats,
// minus infinity (0xFC00) for a forbidden cell; null forbids none.
static inline int64_t hyper_visible_cell(const uint16_t* mask, int64_t cell, int64_t end) {
  const uint16_t forbidden = 0xFC00;
  if (!mask) {
    return cell;
  }
#ifdef __AVX2__
  const __m256i all_forbidden = _mm256_set1_epi16((short)forbidden);
  for (; cell + 16 <= end; cell += 16) {
    const __m256i cells = _mm256_loadu_si256((const __m256i*)(mask + cell));
    const uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(cells, all_forbidden));
    if (same != 0xFFFFFFFFU) {
      return cell + __builtin_ctz(~same) / 2;
    }
  }
#endif
  while (cell < end && mask[cell] == forbidden) {
    ++cell;
  }
  return cell;
}

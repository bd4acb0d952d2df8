// The inner loops of batch_rows.cc with AVX-512 VNNI: 16 columns of weights, as CPU_REPACK lays
// them out (two groups of eight), times up to kMostRows rows of numbers rounded to 8 bits.
//
// The weights of a block are unpacked once and used for all rows. They are the unsigned operand of
// vpdpbusd and the rows the signed one. Its 32-bit lanes hold two halves of each column's sum. Each
// half fits 16 bits (16 x 15 x 127), so one vpackssdw and one vpdpwssd join the halves of both
// groups. From there on the order of the columns is 0 1 8 9, 2 3 10 11, 4 5 12 13, 6 7 14 15.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "repack.h"

namespace hyper_native {

constexpr int kMostRows = 16;

inline __m512i Repeat8(const int8_t* bytes) {
  int64_t eight;
  memcpy(&eight, bytes, sizeof eight);
  return _mm512_set1_epi64(eight);
}

// The lower or upper nibbles, each in a byte of its own; the bits of `flip` are inverted.
inline __m512i Nibbles(__m512i raw, bool upper, __m512i flip) {
  constexpr int kAndXor = 0x6A;  // (raw & 0x0F) ^ flip
  return _mm512_ternarylogic_epi32(upper ? _mm512_srli_epi16(raw, 4) : raw, _mm512_set1_epi8(0x0F),
                                   flip, kAndXor);
}

// 16 halves from the groups `left` and `right`, in the order of the columns above.
inline __m512 Scales(const ggml_half* left, const ggml_half* right) {
  const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
  const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(right));
  return _mm512_cvtph_ps(_mm256_set_m128i(_mm_unpackhi_epi32(a, b), _mm_unpacklo_epi32(a, b)));
}

// Columns 0 to 15 from the order above; only the first eight where `columns` is 8.
inline void Store(float* out, __m512 sums, int columns) {
  const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const auto mask = static_cast<__mmask16>(columns == 16 ? 0xFFFF : 0xFF);
  _mm512_mask_storeu_ps(out, mask, _mm512_permutexvar_ps(order, sums));
}

// 32 numbers, each to the nearest byte.
inline __m256i Bytes(__m512 a, __m512 b) {
  return _mm256_set_m128i(_mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(b)),
                          _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(a)));
}

inline int Sum(__m256i bytes) {
  const __m256i fours = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), bytes);
  const __m128i twos =
      _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
  const __m128i one = _mm_add_epi32(twos, _mm_unpackhi_epi64(twos, twos));
  return _mm_cvtsi128_si32(one) + _mm_extract_epi32(one, 1);
}

// Brings into the cache what comes after this strip. Inline: GCC 12 drops calls of functions that
// do nothing else.
__attribute__((always_inline)) inline void Fetch(const char* next, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) {
    _mm_prefetch(next + i, _MM_HINT_T1);
  }
}

struct Q4_0 {
  static constexpr int64_t kBlock = QK4_0;
  using Block = block_q4_0x8;

  struct Row {  // of kBlock numbers
    float scale;
    int32_t offset;  // -8 times the sum: weights are stored plus 8
    int8_t numbers[kBlock];
  };

  // As quantize_row_q8_0 of ggml rounds a block.
  static void RoundBlock(const float* from, Row* to) {
    const __m512 a = _mm512_loadu_ps(from);
    const __m512 b = _mm512_loadu_ps(from + 16);
    const float most = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(a), _mm512_abs_ps(b)));
    to->scale = _cvtsh_ss(_cvtss_sh(most / 127.0F, _MM_FROUND_TO_NEAREST_INT));
    const __m512 factor = _mm512_set1_ps(most != 0.0F ? 127.0F / most : 0.0F);
    const __m256i bytes = Bytes(_mm512_mul_ps(a, factor), _mm512_mul_ps(b, factor));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to->numbers), bytes);
    to->offset = -8 * Sum(bytes);
  }

  template <int rows>
  static void Strip(int64_t blocks, const Block* left, const Block* right, const Row* const* in,
                    float* const* out, int columns, const char* next) {
    const Row* row[rows];
    __m512 sums[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      row[r] = in[r];
      sums[r] = _mm512_setzero_ps();
    }
    const __m512i ones = _mm512_set1_epi16(1);
    const __m512i sign = _mm512_set1_epi8(8);  // CPU_REPACK has flipped this bit of each weight
    for (int64_t b = 0; b < blocks; ++b) {
      if (next != nullptr) {
        Fetch(next + b * 2 * sizeof(Block), 2 * sizeof(Block));
      }
      __m512i a[4], c[4];
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const __m512i raw_a = _mm512_loadu_si512(left[b].qs + 64 * i);
        const __m512i raw_c = _mm512_loadu_si512(right[b].qs + 64 * i);
        a[i] = Nibbles(raw_a, false, sign);
        a[i + 2] = Nibbles(raw_a, true, sign);
        c[i] = Nibbles(raw_c, false, sign);
        c[i + 2] = Nibbles(raw_c, true, sign);
      }
      const __m512 scales = Scales(left[b].d, right[b].d);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const Row& numbers = row[r][b];
        __m512i sum_a = _mm512_setzero_si512();
        __m512i sum_c = _mm512_setzero_si512();
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const __m512i eight = Repeat8(numbers.numbers + 8 * i);
          sum_a = _mm512_dpbusd_epi32(sum_a, a[i], eight);
          sum_c = _mm512_dpbusd_epi32(sum_c, c[i], eight);
        }
        const __m512i sum = _mm512_dpwssd_epi32(_mm512_set1_epi32(numbers.offset),
                                                _mm512_packs_epi32(sum_a, sum_c), ones);
        sums[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum),
                                  _mm512_mul_ps(scales, _mm512_set1_ps(numbers.scale)), sums[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      Store(out[r], sums[r], columns);
    }
  }
};

struct Q4_K {
  static constexpr int64_t kBlock = QK_K;
  static constexpr int kParts = 8;  // of 32 numbers, with a scale and a minimum each
  using Block = block_q4_Kx8;

  struct Row {  // of kBlock numbers
    int8_t numbers[kBlock];
    int16_t part_sums[kParts];
    float scale;
    int32_t unused;  // the next block starts at a multiple of 8 bytes
  };

  // As quantize_row_q8_K of ggml rounds a block, 16 numbers at a time. What is too small to divide
  // by gets the scale zero.
  static void RoundBlock(const float* from, Row* to) {
    __m512 greatest = _mm512_setzero_ps();
    for (int64_t i = 0; i < kBlock; i += 16) {
      greatest = _mm512_max_ps(greatest, _mm512_abs_ps(_mm512_loadu_ps(from + i)));
    }
    const __m512 most = _mm512_set1_ps(_mm512_reduce_max_ps(greatest));
    float signed_most = 0.0F;  // the first of the greatest
    for (int64_t i = 0; i < kBlock; i += 16) {
      const __m512 size = _mm512_abs_ps(_mm512_loadu_ps(from + i));
      const __mmask16 found = _mm512_cmp_ps_mask(size, most, _CMP_EQ_OQ);
      if (found != 0) {
        signed_most = from[i + __builtin_ctz(found)];
        break;
      }
    }
    const float factor = -127.0F / signed_most;
    const __m512 f = _mm512_set1_ps(factor);
    for (int part = 0; part < kParts; ++part) {
      const float* numbers = from + part * 32;
      const __m256i bytes = Bytes(_mm512_mul_ps(f, _mm512_loadu_ps(numbers)),
                                  _mm512_mul_ps(f, _mm512_loadu_ps(numbers + 16)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to->numbers + part * 32), bytes);
      to->part_sums[part] = static_cast<int16_t>(Sum(bytes));
    }
    to->scale = 1.0F / factor;
  }

  // Scales and minimums of a strip of 16 columns, ready for vpdpwssd.
  struct Factors {
    __m512i scales[kParts];        // each twice
    __m512i minimums[kParts / 2];  // those of two parts side by side
  };

  // Four columns of all parts: 32-bit lane p holds bytes of part p.
  struct SixBits {
    __m256i first;   // columns 0 to 3 of a group
    __m256i second;  // 4 to 7
  };

  static SixBits Join(__m256i six_and_two, __m256i four) {
    const __m256i two = _mm256_and_si256(_mm256_srli_epi32(six_and_two, 6), _mm256_set1_epi8(0x03));
    return {
        _mm256_and_si256(six_and_two, _mm256_set1_epi8(0x3F)),
        _mm256_or_si256(_mm256_and_si256(four, _mm256_set1_epi8(0x0F)), _mm256_slli_epi32(two, 4))};
  }

  // Twelve bytes for each part: see make_block_q4_Kx8 of ggml.
  static void Unpack(const uint8_t* packed, SixBits& scales, SixBits& minimums) {
    const __m512i front = _mm512_loadu_si512(packed);
    const __m512i back =
        _mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed + 64)));
    const __m512i every_third =
        _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 0, 0, 0, 0, 0, 0, 0, 0);
    const auto pick = [&](int first) {
      return _mm512_castsi512_si256(_mm512_permutex2var_epi32(
          front, _mm512_add_epi32(every_third, _mm512_set1_epi32(first)), back));
    };
    const __m256i rest = pick(2);
    scales = Join(pick(0), rest);
    minimums = Join(pick(1), _mm256_srli_epi32(rest, 4));
  }

  // Part p of all 16 columns in half `p / 4` of pairs[p % 4].
  static void Interleave(const SixBits& a, const SixBits& c, __m256i (&pairs)[4]) {
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256i a01 = _mm256_unpacklo_epi32(a.first, a.second);
    const __m256i a23 = _mm256_unpackhi_epi32(a.first, a.second);
    const __m256i c01 = _mm256_unpacklo_epi32(c.first, c.second);
    const __m256i c23 = _mm256_unpackhi_epi32(c.first, c.second);
    pairs[0] = _mm256_shuffle_epi8(_mm256_unpacklo_epi64(a01, c01), order);
    pairs[1] = _mm256_shuffle_epi8(_mm256_unpackhi_epi64(a01, c01), order);
    pairs[2] = _mm256_shuffle_epi8(_mm256_unpacklo_epi64(a23, c23), order);
    pairs[3] = _mm256_shuffle_epi8(_mm256_unpackhi_epi64(a23, c23), order);
  }

  static __m512i Widen(__m256i pair, int half) {
    return _mm512_cvtepu8_epi32(half == 0 ? _mm256_castsi256_si128(pair)
                                          : _mm256_extracti128_si256(pair, 1));
  }

  static void Decode(const Block& left, const Block& right, Factors& factors) {
    SixBits scales_a, scales_c, minimums_a, minimums_c;
    Unpack(left.scales, scales_a, minimums_a);
    Unpack(right.scales, scales_c, minimums_c);
    __m256i scales[4], minimums[4];
    Interleave(scales_a, scales_c, scales);
    Interleave(minimums_a, minimums_c, minimums);
#pragma GCC unroll 16
    for (int part = 0; part < kParts; ++part) {
      const __m512i wide = Widen(scales[part % 4], part / 4);
      factors.scales[part] = _mm512_or_si512(wide, _mm512_slli_epi32(wide, 16));
    }
#pragma GCC unroll 4
    for (int two = 0; two < kParts / 2; ++two) {
      const __m512i even = Widen(minimums[2 * two % 4], two / 2);
      const __m512i uneven = Widen(minimums[(2 * two + 1) % 4], two / 2);
      factors.minimums[two] = _mm512_or_si512(even, _mm512_slli_epi32(uneven, 16));
    }
  }

  template <int rows>
  static void Strip(int64_t blocks, const Block* left, const Block* right, const Row* const* in,
                    float* const* out, int columns, const char* next) {
    const Row* row[rows];
    __m512 sums[rows], least[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      row[r] = in[r];
      sums[r] = least[r] = _mm512_setzero_ps();
    }
    const __m512i none = _mm512_setzero_si512();
    for (int64_t b = 0; b < blocks; ++b) {
      if (next != nullptr) {
        Fetch(next + b * 2 * sizeof(Block), 2 * sizeof(Block));
      }
      Factors factors;
      Decode(left[b], right[b], factors);
      __m512i whole[rows];
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        whole[r] = _mm512_setzero_si512();
      }
      for (int part = 0; part < kParts; part += 2) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          __m512i a[4], c[4];
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) {
            const int64_t at = 128 * part + 64 * i;
            a[i] = Nibbles(_mm512_loadu_si512(left[b].qs + at), half == 1, none);
            c[i] = Nibbles(_mm512_loadu_si512(right[b].qs + at), half == 1, none);
          }
#pragma GCC unroll 16
          for (int r = 0; r < rows; ++r) {
            const int8_t* numbers = row[r][b].numbers + 32 * (part + half);
            __m512i sum_a = _mm512_setzero_si512();
            __m512i sum_c = _mm512_setzero_si512();
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) {
              const __m512i eight = Repeat8(numbers + 8 * i);
              sum_a = _mm512_dpbusd_epi32(sum_a, a[i], eight);
              sum_c = _mm512_dpbusd_epi32(sum_c, c[i], eight);
            }
            whole[r] = _mm512_dpwssd_epi32(whole[r], _mm512_packs_epi32(sum_a, sum_c),
                                           factors.scales[part + half]);
          }
        }
      }
      const __m512 scales = Scales(left[b].d, right[b].d);
      const __m512 minimum_scales = Scales(left[b].dmin, right[b].dmin);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const Row& numbers = row[r][b];
        __m512i minimum = _mm512_setzero_si512();
#pragma GCC unroll 4
        for (int two = 0; two < kParts / 2; ++two) {
          int pair;
          memcpy(&pair, numbers.part_sums + 2 * two, sizeof pair);
          minimum = _mm512_dpwssd_epi32(minimum, _mm512_set1_epi32(pair), factors.minimums[two]);
        }
        const __m512 scale = _mm512_set1_ps(numbers.scale);
        sums[r] =
            _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole[r]), _mm512_mul_ps(scales, scale), sums[r]);
        least[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(minimum),
                                   _mm512_mul_ps(minimum_scales, scale), least[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      Store(out[r], _mm512_sub_ps(sums[r], least[r]), columns);
    }
  }
};

}  // namespace hyper_native

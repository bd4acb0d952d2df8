// Vectors of whole numbers for batch_kernels.h, 64 bytes with AVX-512 and 32 with AVX2.
//
// A strip is what one vector of sums holds: 16 columns from two groups of CPU_REPACK, or the eight
// of one group. Its products come from a pair of vectors with eight bytes of each column, the first
// and the second half of the columns. So the sums of the columns come in the order
//   0 1 8 9, 2 3 10 11, 4 5 12 13, 6 7 14 15   of 16 columns, and
//   0 1 4 5, 2 3 6 7                           of eight.
#pragma once

#include <cstring>

#include "vectors.h"

namespace hyper_native {

constexpr int kColumns = kFloats;      // of a strip
constexpr int kGroups = kColumns / 8;  // of CPU_REPACK

// Six-bit numbers of one group's eight columns: 32-bit lane p holds those of part p.
struct SixBits {
  __m256i first;   // columns 0 to 3
  __m256i second;  // 4 to 7
};

#if HYPER_VECTORS == 512

using Numbers = __m512i;

inline Numbers RepeatInt(int32_t number) { return _mm512_set1_epi32(number); }
inline Numbers RepeatEight(int64_t bytes) { return _mm512_set1_epi64(bytes); }
inline Numbers RepeatByte(int8_t byte) { return _mm512_set1_epi8(byte); }
inline Numbers RepeatOnes16() { return _mm512_set1_epi16(1); }
inline Floats ToFloats(Numbers numbers) { return _mm512_cvtepi32_ps(numbers); }

// The lower or upper nibbles, each in a byte of its own; the bits of `flip` are inverted.
inline Numbers Nibbles(Numbers raw, bool upper, Numbers flip) {
  constexpr int kAndXor = 0x6A;  // (raw & 0x0F) ^ flip
  return _mm512_ternarylogic_epi32(upper ? _mm512_srli_epi16(raw, 4) : raw, RepeatByte(0x0F), flip,
                                   kAndXor);
}

// Two 16-bit numbers in each 32 bits.
inline Numbers SideBySide(Numbers low, Numbers high) {
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

inline Numbers LoadFirst(const uint8_t* left, const uint8_t*) { return _mm512_loadu_si512(left); }
inline Numbers LoadSecond(const uint8_t*, const uint8_t* right) {
  return _mm512_loadu_si512(right);
}

// Products of neighbours among 16-bit numbers, added to the 32-bit ones of `sum`.
inline Numbers AddPairs(Numbers sum, Numbers a, Numbers b) {
#ifdef __AVX512VNNI__
  return _mm512_dpwssd_epi32(sum, a, b);
#else
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
#endif
}

// Adds products of nibbles with bytes. Two halves of each column's sum are left, each in 32 bits.
struct ByteSums {
#ifdef __AVX512VNNI__
  void Add(Numbers nibbles, Numbers bytes) { sums = _mm512_dpbusd_epi32(sums, nibbles, bytes); }
  Numbers Halves() const { return sums; }
#else
  // Sums of 8 products fit 16 bits (8 x 15 x 127).
  void Add(Numbers nibbles, Numbers bytes) {
    sums = _mm512_add_epi16(sums, _mm512_maddubs_epi16(nibbles, bytes));
  }
  Numbers Halves() const { return _mm512_madd_epi16(sums, RepeatOnes16()); }
#endif
  Numbers sums = Numbers();
};

// The halves of both sums, in 16 bits each.
inline Numbers Pack(const ByteSums& first, const ByteSums& second) {
  return _mm512_packs_epi32(first.Halves(), second.Halves());
}

// Halves of all columns, in the order above.
inline Floats Scales(const ggml_half* left, const ggml_half* right) {
  const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
  const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(right));
  return _mm512_cvtph_ps(_mm256_set_m128i(_mm_unpackhi_epi32(a, b), _mm_unpacklo_epi32(a, b)));
}

// Columns from 0 on, out of the order above; only the first eight where `columns` is 8.
inline void StoreColumns(float* out, Floats sums, int columns) {
  const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const auto mask = static_cast<__mmask16>(columns == kColumns ? 0xFFFF : 0xFF);
  _mm512_mask_storeu_ps(out, mask, _mm512_permutexvar_ps(order, sums));
}

// 32 numbers, each to the nearest byte.
inline __m256i ToBytes(const float* from, Floats factor) {
  return _mm256_set_m128i(_mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(factor * Load(from + 16))),
                          _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(factor * Load(from))));
}

// Six-bit numbers by part, of all columns in the order above.
class ByPart {
 public:
  ByPart(const SixBits& left, const SixBits& right) {
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256i a01 = _mm256_unpacklo_epi32(left.first, left.second);
    const __m256i a23 = _mm256_unpackhi_epi32(left.first, left.second);
    const __m256i c01 = _mm256_unpacklo_epi32(right.first, right.second);
    const __m256i c23 = _mm256_unpackhi_epi32(right.first, right.second);
    parts_[0] = _mm256_shuffle_epi8(_mm256_unpacklo_epi64(a01, c01), order);
    parts_[1] = _mm256_shuffle_epi8(_mm256_unpackhi_epi64(a01, c01), order);
    parts_[2] = _mm256_shuffle_epi8(_mm256_unpacklo_epi64(a23, c23), order);
    parts_[3] = _mm256_shuffle_epi8(_mm256_unpackhi_epi64(a23, c23), order);
  }

  Numbers Of(int part) const {
    const __m256i two = parts_[part % 4];  // this part and the one four away
    return _mm512_cvtepu8_epi32(part < 4 ? _mm256_castsi256_si128(two)
                                         : _mm256_extracti128_si256(two, 1));
  }

 private:
  __m256i parts_[4];
};

#else

using Numbers = __m256i;

inline Numbers RepeatInt(int32_t number) { return _mm256_set1_epi32(number); }
inline Numbers RepeatEight(int64_t bytes) { return _mm256_set1_epi64x(bytes); }
inline Numbers RepeatByte(int8_t byte) { return _mm256_set1_epi8(byte); }
inline Numbers RepeatOnes16() { return _mm256_set1_epi16(1); }
inline Floats ToFloats(Numbers numbers) { return _mm256_cvtepi32_ps(numbers); }

inline Numbers Nibbles(Numbers raw, bool upper, Numbers flip) {
  const Numbers nibbles =
      _mm256_and_si256(upper ? _mm256_srli_epi16(raw, 4) : raw, RepeatByte(0x0F));
  return _mm256_xor_si256(nibbles, flip);
}

inline Numbers SideBySide(Numbers low, Numbers high) {
  return _mm256_or_si256(low, _mm256_slli_epi32(high, 16));
}

inline Numbers LoadFirst(const uint8_t* left, const uint8_t*) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(left));
}
inline Numbers LoadSecond(const uint8_t* left, const uint8_t*) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(left) + 1);
}

inline Numbers AddPairs(Numbers sum, Numbers a, Numbers b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

struct ByteSums {
#ifdef __AVXVNNI__
  void Add(Numbers nibbles, Numbers bytes) { sums = _mm256_dpbusd_avx_epi32(sums, nibbles, bytes); }
  Numbers Halves() const { return sums; }
#else
  // Sums of 8 products fit 16 bits (8 x 15 x 127).
  void Add(Numbers nibbles, Numbers bytes) {
    sums = _mm256_add_epi16(sums, _mm256_maddubs_epi16(nibbles, bytes));
  }
  Numbers Halves() const { return _mm256_madd_epi16(sums, RepeatOnes16()); }
#endif
  Numbers sums = Numbers();
};

inline Numbers Pack(const ByteSums& first, const ByteSums& second) {
  return _mm256_packs_epi32(first.Halves(), second.Halves());
}

inline Floats Scales(const ggml_half* left, const ggml_half*) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
  return _mm256_cvtph_ps(_mm_shuffle_epi32(halves, _MM_SHUFFLE(3, 1, 2, 0)));
}

inline void StoreColumns(float* out, Floats sums, int) {
  const __m256d pairs = _mm256_castps_pd(sums);
  Store(out, _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, _MM_SHUFFLE(3, 1, 2, 0))));
}

inline __m256i ToBytes(const float* from, Floats factor) {
  const auto numbers = [&](int at) { return _mm256_cvtps_epi32(factor * Load(from + at)); };
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(numbers(0), numbers(8)),
                                           _mm256_packs_epi32(numbers(16), numbers(24)));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

class ByPart {
 public:
  ByPart(const SixBits& left, const SixBits&) {
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
    parts_[0] = _mm256_shuffle_epi8(_mm256_unpacklo_epi32(left.first, left.second), order);
    parts_[1] = _mm256_shuffle_epi8(_mm256_unpackhi_epi32(left.first, left.second), order);
  }

  Numbers Of(int part) const {
    const __m256i four = parts_[part / 2 % 2];  // of two parts, and those four away
    const __m128i two = part < 4 ? _mm256_castsi256_si128(four) : _mm256_extracti128_si256(four, 1);
    return _mm256_cvtepu8_epi32(part % 2 == 0 ? two : _mm_srli_si128(two, 8));
  }

 private:
  __m256i parts_[2];
};

#endif

inline Numbers RepeatEight(const int8_t* bytes) {
  int64_t eight;
  memcpy(&eight, bytes, sizeof eight);
  return RepeatEight(eight);
}

inline int Sum(__m256i bytes) {
  const __m256i twos = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);
  const __m256i fours = _mm256_madd_epi16(twos, _mm256_set1_epi16(1));
  const __m128i eights =
      _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
  const __m128i one = _mm_add_epi32(eights, _mm_unpackhi_epi64(eights, eights));
  return _mm_cvtsi128_si32(one) + _mm_extract_epi32(one, 1);
}

}  // namespace hyper_native

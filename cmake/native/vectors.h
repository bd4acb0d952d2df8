// Vectors of floats for the kernels here: 16 with AVX-512, 8 with AVX2. The kernels count in groups
// of 16 numbers with a partial sum for each place, so that both widths give the same bits.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "repack.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512DQ__) && defined(__F16C__)
#define HYPER_VECTORS 512
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define HYPER_VECTORS 256
#endif

#ifdef HYPER_VECTORS
namespace hyper_native {

constexpr int kGroup = 16;

#if HYPER_VECTORS == 512

using Floats = __m512;

inline Floats Load(const float* from) { return _mm512_loadu_ps(from); }
inline void Store(float* to, Floats floats) { _mm512_storeu_ps(to, floats); }
inline Floats Repeat(float number) { return _mm512_set1_ps(number); }
inline Floats MultiplyAdd(Floats a, Floats b, Floats sum) { return _mm512_fmadd_ps(a, b, sum); }
inline Floats Larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
inline Floats Size(Floats a) { return _mm512_abs_ps(a); }
// A bit for each number.
inline unsigned Equal(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }

// A bit for each of 32 numbers.
inline uint32_t Unequal32(const uint16_t* from, uint16_t number) {
  return _mm512_cmpneq_epi16_mask(_mm512_loadu_si512(from),
                                  _mm512_set1_epi16(static_cast<int16_t>(number)));
}

inline Floats FromHalves(const ggml_half* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

inline Floats RoundToHalves(Floats a) {
  return _mm512_cvtph_ps(_mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

// In each four numbers: the sums of those four of a, of b, of c, and of d.
inline Floats SumsInFours(Floats a, Floats b, Floats c, Floats d) {
  const __m512 ab = _mm512_unpacklo_ps(a, b) + _mm512_unpackhi_ps(a, b);
  const __m512 cd = _mm512_unpacklo_ps(c, d) + _mm512_unpackhi_ps(c, d);
  const __m512d low = _mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
  const __m512d high = _mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
  return _mm512_castpd_ps(low) + _mm512_castpd_ps(high);
}

// A group's numbers 0 to 7 plus 8 to 15.
inline __m256 Fold(const Floats (&group)[1]) {
  return _mm512_castps512_ps256(group[0]) + _mm512_extractf32x8_ps(group[0], 1);
}

inline __m256 LargerHalf(Floats a) {
  return _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
}

#else

using Floats = __m256;

inline Floats Load(const float* from) { return _mm256_loadu_ps(from); }
inline void Store(float* to, Floats floats) { _mm256_storeu_ps(to, floats); }
inline Floats Repeat(float number) { return _mm256_set1_ps(number); }
inline Floats MultiplyAdd(Floats a, Floats b, Floats sum) { return _mm256_fmadd_ps(a, b, sum); }
inline Floats Larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
inline Floats Size(Floats a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a); }
inline unsigned Equal(Floats a, Floats b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}

inline uint32_t Unequal32(const uint16_t* from, uint16_t number) {
  const auto* sixteens = reinterpret_cast<const __m256i*>(from);
  const __m256i all = _mm256_set1_epi16(static_cast<int16_t>(number));
  const __m256i a = _mm256_cmpeq_epi16(_mm256_loadu_si256(sixteens), all);
  const __m256i b = _mm256_cmpeq_epi16(_mm256_loadu_si256(sixteens + 1), all);
  const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8);
  return ~static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
}

inline Floats FromHalves(const ggml_half* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

inline Floats RoundToHalves(Floats a) {
  return _mm256_cvtph_ps(_mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

inline Floats SumsInFours(Floats a, Floats b, Floats c, Floats d) {
  const __m256 ab = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
  const __m256 cd = _mm256_unpacklo_ps(c, d) + _mm256_unpackhi_ps(c, d);
  const __m256d low = _mm256_unpacklo_pd(_mm256_castps_pd(ab), _mm256_castps_pd(cd));
  const __m256d high = _mm256_unpackhi_pd(_mm256_castps_pd(ab), _mm256_castps_pd(cd));
  return _mm256_castpd_ps(low) + _mm256_castpd_ps(high);
}

inline __m256 Fold(const Floats (&group)[2]) { return group[0] + group[1]; }

inline __m256 LargerHalf(Floats a) { return a; }

#endif

constexpr int kFloats = sizeof(Floats) / sizeof(float);
constexpr int kVectors = kGroup / kFloats;  // vectors of a group

// Four numbers: a group's 0 4 8 12, 1 5 9 13, and so on.
inline __m128 FoldToFour(const Floats (&group)[kVectors]) {
  const __m256 half = Fold(group);
  return _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
}

inline float Total(const Floats (&group)[kVectors]) {
  const __m128 four = FoldToFour(group);
  const __m128 two = four + _mm_movehl_ps(four, four);
  return two[0] + two[1];
}

inline float Largest(Floats a) {
  const __m256 half = LargerHalf(a);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace hyper_native
#endif

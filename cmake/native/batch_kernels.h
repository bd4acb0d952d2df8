// The inner loops of batch_rows.cc: a strip of weights, as CPU_REPACK lays them out (groups of
// eight columns), times up to kMostRows rows of numbers rounded to 8 bits.
//
// The weights of a block are unpacked once and used for all rows. They are the unsigned operand of
// the products and the rows the signed one. The products leave two halves of each column's sum.
// Each half fits 16 bits (16 x 15 x 127), so both vectors are packed into one, and products of
// neighbours join the halves.
#pragma once

#include "byte_vectors.h"

namespace hyper_native {

constexpr int kMostRows = 16;

// Brings into the cache what comes after this strip. Inline: GCC 12 drops calls of functions that
// do nothing else.
__attribute__((always_inline)) inline void Fetch(const char* next, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) {
    _mm_prefetch(next + i, _MM_HINT_T1);
  }
}

template <typename Block>
const uint8_t* Bytes(const Block& block, int64_t at) {
  return reinterpret_cast<const uint8_t*>(block.qs) + at;
}

// 32 numbers of a row times those of each column: two halves of each sum, of 16 bits.
inline Numbers Multiply32(const Numbers (&a)[4], const Numbers (&c)[4], const int8_t* numbers) {
  ByteSums first, second;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Numbers eight = RepeatEight(numbers + 8 * i);
    first.Add(a[i], eight);
    second.Add(c[i], eight);
  }
  return Pack(first, second);
}

// The largest sizes of `count` numbers, in as many places as a vector has.
inline Floats LargestSizes(const float* from, int64_t count) {
  Floats largest = Floats();
  for (int64_t i = 0; i < count; i += kFloats) {
    largest = Larger(largest, Size(Load(from + i)));
  }
  return largest;
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
    const float most = Largest(LargestSizes(from, kBlock));
    to->scale = _cvtsh_ss(_cvtss_sh(most / 127.0F, _MM_FROUND_TO_NEAREST_INT));
    const __m256i bytes = ToBytes(from, Repeat(most != 0.0F ? 127.0F / most : 0.0F));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to->numbers), bytes);
    to->offset = -8 * Sum(bytes);
  }

  template <int rows>
  static void Strip(int64_t blocks, const Block* left, const Block* right, const Row* const* in,
                    float* const* out, int columns, const char* next) {
    const Row* row[rows];
    Floats sums[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      row[r] = in[r];
      sums[r] = Floats();
    }
    const Numbers ones = RepeatOnes16();
    const Numbers sign = RepeatByte(8);  // CPU_REPACK has flipped this bit of each weight
    for (int64_t b = 0; b < blocks; ++b) {
      if (next != nullptr) {
        Fetch(next + b * kGroups * sizeof(Block), kGroups * sizeof(Block));
      }
      Numbers a[4], c[4];
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const Numbers raw_a = LoadFirst(Bytes(left[b], 64 * i), Bytes(right[b], 64 * i));
        const Numbers raw_c = LoadSecond(Bytes(left[b], 64 * i), Bytes(right[b], 64 * i));
        a[i] = Nibbles(raw_a, false, sign);
        a[i + 2] = Nibbles(raw_a, true, sign);
        c[i] = Nibbles(raw_c, false, sign);
        c[i + 2] = Nibbles(raw_c, true, sign);
      }
      const Floats scales = Scales(left[b].d, right[b].d);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const Row& numbers = row[r][b];
        const Numbers sum =
            AddPairs(RepeatInt(numbers.offset), Multiply32(a, c, numbers.numbers), ones);
        sums[r] = MultiplyAdd(ToFloats(sum), scales * Repeat(numbers.scale), sums[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      StoreColumns(out[r], sums[r], columns);
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

  // As quantize_row_q8_K of ggml rounds a block. What is too small to divide by gets the scale
  // zero.
  static void RoundBlock(const float* from, Row* to) {
    const Floats most = Repeat(Largest(LargestSizes(from, kBlock)));
    float signed_most = 0.0F;  // the first of the greatest
    for (int64_t i = 0; i < kBlock; i += kFloats) {
      const unsigned found = Equal(Size(Load(from + i)), most);
      if (found != 0) {
        signed_most = from[i + __builtin_ctz(found)];
        break;
      }
    }
    const float factor = -127.0F / signed_most;
    for (int part = 0; part < kParts; ++part) {
      const __m256i bytes = ToBytes(from + part * 32, Repeat(factor));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to->numbers + part * 32), bytes);
      to->part_sums[part] = static_cast<int16_t>(Sum(bytes));
    }
    to->scale = 1.0F / factor;
  }

  // Scales and minimums of a strip, ready for AddPairs.
  struct Factors {
    Numbers scales[kParts];        // each twice
    Numbers minimums[kParts / 2];  // those of two parts side by side
  };

  static SixBits Join(__m256i six_and_two, __m256i four) {
    const __m256i two = _mm256_and_si256(_mm256_srli_epi32(six_and_two, 6), _mm256_set1_epi8(0x03));
    return {
        _mm256_and_si256(six_and_two, _mm256_set1_epi8(0x3F)),
        _mm256_or_si256(_mm256_and_si256(four, _mm256_set1_epi8(0x0F)), _mm256_slli_epi32(two, 4))};
  }

  // Twelve bytes for each part: see make_block_q4_Kx8 of ggml.
  static void Unpack(const uint8_t* packed, SixBits& scales, SixBits& minimums) {
    const auto* eights = reinterpret_cast<const __m256i*>(packed);
    const __m256i front = _mm256_loadu_si256(eights);
    const __m256i middle = _mm256_loadu_si256(eights + 1);
    const __m256i back = _mm256_loadu_si256(eights + 2);
    // Every third 32 bits: of lanes 0 3 6, then 1 4 7, then 2 5.
    const __m256i order = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5);
    const __m256i first = _mm256_blend_epi32(_mm256_blend_epi32(front, middle, 0x92), back, 0x24);
    const __m256i second = _mm256_blend_epi32(_mm256_blend_epi32(front, middle, 0x24), back, 0x49);
    const __m256i third = _mm256_blend_epi32(_mm256_blend_epi32(front, middle, 0x49), back, 0x92);
    const auto pick = [&](__m256i lanes, int shift) {
      return _mm256_permutevar8x32_epi32(lanes, _mm256_add_epi32(order, _mm256_set1_epi32(shift)));
    };
    const __m256i rest = pick(third, 2);
    scales = Join(pick(first, 0), rest);
    minimums = Join(pick(second, 1), _mm256_srli_epi32(rest, 4));
  }

  static void Decode(const Block& left, const Block& right, Factors& factors) {
    SixBits scales_a, scales_c, minimums_a, minimums_c;
    Unpack(left.scales, scales_a, minimums_a);
    Unpack(right.scales, scales_c, minimums_c);
    const ByPart scales(scales_a, scales_c);
    const ByPart minimums(minimums_a, minimums_c);
#pragma GCC unroll 16
    for (int part = 0; part < kParts; ++part) {
      factors.scales[part] = SideBySide(scales.Of(part), scales.Of(part));
    }
#pragma GCC unroll 4
    for (int two = 0; two < kParts / 2; ++two) {
      factors.minimums[two] = SideBySide(minimums.Of(2 * two), minimums.Of(2 * two + 1));
    }
  }

  template <int rows>
  static void Strip(int64_t blocks, const Block* left, const Block* right, const Row* const* in,
                    float* const* out, int columns, const char* next) {
    const Row* row[rows];
    Floats sums[rows], least[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      row[r] = in[r];
      sums[r] = least[r] = Floats();
    }
    const Numbers none = Numbers();
    for (int64_t b = 0; b < blocks; ++b) {
      if (next != nullptr) {
        Fetch(next + b * kGroups * sizeof(Block), kGroups * sizeof(Block));
      }
      Factors factors;
      Decode(left[b], right[b], factors);
      Numbers whole[rows];
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        whole[r] = Numbers();
      }
      for (int part = 0; part < kParts; part += 2) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          Numbers a[4], c[4];
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) {
            const int64_t at = 128 * part + 64 * i;
            const uint8_t* from_left = Bytes(left[b], at);
            const uint8_t* from_right = Bytes(right[b], at);
            a[i] = Nibbles(LoadFirst(from_left, from_right), half == 1, none);
            c[i] = Nibbles(LoadSecond(from_left, from_right), half == 1, none);
          }
#pragma GCC unroll 16
          for (int r = 0; r < rows; ++r) {
            const int8_t* numbers = row[r][b].numbers + 32 * (part + half);
            whole[r] = AddPairs(whole[r], Multiply32(a, c, numbers), factors.scales[part + half]);
          }
        }
      }
      const Floats scales = Scales(left[b].d, right[b].d);
      const Floats minimum_scales = Scales(left[b].dmin, right[b].dmin);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const Row& numbers = row[r][b];
        Numbers minimum = Numbers();
#pragma GCC unroll 4
        for (int two = 0; two < kParts / 2; ++two) {
          int32_t pair;
          memcpy(&pair, numbers.part_sums + 2 * two, sizeof pair);
          minimum = AddPairs(minimum, RepeatInt(pair), factors.minimums[two]);
        }
        const Floats scale = Repeat(numbers.scale);
        sums[r] = MultiplyAdd(ToFloats(whole[r]), scales * scale, sums[r]);
        least[r] = MultiplyAdd(ToFloats(minimum), minimum_scales * scale, least[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      StoreColumns(out[r], sums[r] - least[r], columns);
    }
  }
};

}  // namespace hyper_native

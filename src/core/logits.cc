#include "src/core/logits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "src/core/confidence.h"

// Highway compiles this file once per instruction set and picks one at run time. Targets without a
// fixed vector width are left out: the lane order below is fixed.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/core/logits.cc"
// foreach_target.h must come first: it includes this file once per target.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace hyper {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums run in 16 lanes over blocks of 1024 values, whatever the machine's vector width, and a
// block's sums are added up in double: equal bytes everywhere, and errors that do not grow with the
// vocabulary. A block stays in the first-level cache between its two visits.
constexpr size_t kLanes = 16;
constexpr size_t kBlock = 1024;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// Engines mask with -inf or with a huge negative number; no model's logit is near this.
constexpr float kMasked = -1e30F;

using Tag = hn::CappedTag<float, kLanes>;
using Vector = hn::Vec<Tag>;
constexpr size_t kWidth = hn::MaxLanes(Tag());
constexpr size_t kVectors = kLanes / kWidth;

using Accumulator = std::array<float, kLanes>;

template <class Operation>
float Reduce(const Vector (&vectors)[kVectors], Operation operation) {
  alignas(64) Accumulator lanes;
  for (size_t i = 0; i < kVectors; ++i) {
    hn::Store(vectors[i], Tag(), lanes.data() + i * kWidth);
  }
  for (size_t step = kLanes / 2; step > 0; step /= 2) {
    for (size_t i = 0; i < step; ++i) {
      lanes[i] = operation(lanes[i], lanes[i + step]);
    }
  }
  return lanes[0];
}

float ReduceSum(const Vector (&vectors)[kVectors]) {
  return Reduce(vectors, [](float a, float b) { return a + b; });
}

// Calls visit(values, count) for each block; the last one is padded with -inf to whole lanes.
template <class Visit>
void ForEachBlock(const float* logits, size_t count, Visit visit) {
  size_t begin = 0;
  for (; begin + kBlock <= count; begin += kBlock) {
    visit(logits + begin, begin, kBlock);
  }
  if (begin == count) {
    return;
  }
  alignas(64) float padded[kBlock];
  std::copy(logits + begin, logits + count, padded);
  const size_t left = count - begin;
  std::fill(padded + left, padded + (left + kLanes - 1) / kLanes * kLanes, kMinusInfinity);
  visit(static_cast<const float*>(padded), begin, left);
}

struct BlockPeak {
  float max;
  bool has_nan;
};

BlockPeak FindPeak(const float* values, size_t count) {
  const Tag d;
  Vector largest[kVectors];
  Vector nans[kVectors];
  for (size_t i = 0; i < kVectors; ++i) {
    largest[i] = hn::Set(d, kMinusInfinity);
    nans[i] = hn::Zero(d);
  }
  for (size_t j = 0; j < count; j += kLanes) {
    for (size_t i = 0; i < kVectors; ++i) {
      const Vector value = hn::LoadU(d, values + j + i * kWidth);
      largest[i] = hn::Max(value, largest[i]);
      nans[i] = hn::Or(nans[i], hn::IfThenElseZero(hn::IsNaN(value), hn::Set(d, 1.0F)));
    }
  }
  const auto larger = [](float a, float b) { return std::max(a, b); };
  return {Reduce(largest, larger), Reduce(nans, larger) > 0};
}

// Sums over one block of distances below `max`: exp(distance), distance, and how many are not
// masked.
struct BlockSums {
  float exponentials;
  float distances;
  float unmasked;
};

BlockSums SumBlock(const float* values, size_t count, float max) {
  const Tag d;
  Vector exponentials[kVectors];
  Vector distances[kVectors];
  Vector unmasked[kVectors];
  for (size_t i = 0; i < kVectors; ++i) {
    exponentials[i] = distances[i] = unmasked[i] = hn::Zero(d);
  }
  for (size_t j = 0; j < count; j += kLanes) {
    for (size_t i = 0; i < kVectors; ++i) {
      const Vector value = hn::LoadU(d, values + j + i * kWidth);
      const Vector distance = hn::Sub(value, hn::Set(d, max));
      const auto present = hn::Gt(value, hn::Set(d, kMasked));
      exponentials[i] = hn::Add(exponentials[i], hn::Exp(d, distance));
      distances[i] = hn::Add(distances[i], hn::IfThenElseZero(present, distance));
      unmasked[i] = hn::Add(unmasked[i], hn::IfThenElseZero(present, hn::Set(d, 1.0F)));
    }
  }
  return {ReduceSum(exponentials), ReduceSum(distances), ReduceSum(unmasked)};
}

// Puts an entry where it belongs in a list sorted by falling logit and drops what exceeds k.
// Entries come by ascending token, so of equal logits the later goes behind.
void Insert(std::vector<TokenLogprob>& top, size_t k, TokenLogprob entry) {
  if (top.size() == k) {
    top.pop_back();
  }
  const auto place = std::upper_bound(
      top.begin(), top.end(), entry,
      [](const TokenLogprob& a, const TokenLogprob& b) { return a.logprob > b.logprob; });
  top.insert(place, entry);
}

// Takes a block's values into the list of the k largest; the list holds logits meanwhile.
void ScanTop(const float* values, size_t begin, size_t count, size_t k,
             std::vector<TokenLogprob>& top) {
  const Tag d;
  size_t j = 0;
  for (; j < count && top.size() < k; ++j) {
    Insert(top, k, {static_cast<Token>(begin + j), values[j]});
  }
  while (j < count) {
    // Whole vectors, once aligned to them, are skipped unless a value beats the last of the list.
    if (j % kWidth == 0 && j + kWidth <= count &&
        hn::AllFalse(d, hn::Gt(hn::LoadU(d, values + j), hn::Set(d, top.back().logprob)))) {
      j += kWidth;
      continue;
    }
    const size_t end = std::min(count, (j / kWidth + 1) * kWidth);
    for (; j < end; ++j) {
      if (values[j] > top.back().logprob) {
        Insert(top, k, {static_cast<Token>(begin + j), values[j]});
      }
    }
  }
}

void SummarizeImpl(const float* logits, size_t count, size_t k, RowSummary& summary) {
  float max = kMinusInfinity;
  bool has_nan = false;
  double exponentials = 0;  // sum of exp(logit - max)
  double unmasked_sum = 0;  // sum of the logits that are not masked
  double unmasked = 0;
  ForEachBlock(logits, count, [&](const float* values, size_t begin, size_t size) {
    const BlockPeak peak = FindPeak(values, size);
    has_nan = has_nan || peak.has_nan;
    if (has_nan || peak.max == std::numeric_limits<float>::infinity()) {
      max = std::max(max, peak.max);
      return;
    }
    if (k > 0 && (summary.top.size() < k || peak.max > summary.top.back().logprob)) {
      ScanTop(values, begin, size, k, summary.top);
    }
    if (peak.max == kMinusInfinity) {
      return;
    }
    if (peak.max > max) {
      exponentials *= std::exp(static_cast<double>(max) - peak.max);
      max = peak.max;
    }
    const BlockSums sums = SumBlock(values, size, max);
    exponentials += sums.exponentials;
    unmasked_sum += sums.distances + static_cast<double>(max) * sums.unmasked;
    unmasked += sums.unmasked;
  });
  summary.degenerate = has_nan || !std::isfinite(max) || unmasked == 0;
  if (summary.degenerate) {
    return;
  }
  const double n_vocab = static_cast<double>(count);
  summary.max = max;
  summary.log_sum_exp = max + std::log(exponentials);
  const double masked_part = (n_vocab - unmasked) * kLogProbFloor;
  summary.mean_logprob = (unmasked_sum - unmasked * summary.log_sum_exp + masked_part) / n_vocab;
}

double ExponentialWeightsImpl(const float* logits, size_t count, float max,
                              float inverse_temperature, float* weights) {
  const Tag d;
  double total = 0;
  ForEachBlock(logits, count, [&](const float* values, size_t begin, size_t size) {
    Vector sums[kVectors];
    for (size_t i = 0; i < kVectors; ++i) {
      sums[i] = hn::Zero(d);
    }
    for (size_t j = 0; j < size; j += kLanes) {
      alignas(64) Accumulator lanes;
      for (size_t i = 0; i < kVectors; ++i) {
        const Vector distance = hn::Sub(hn::LoadU(d, values + j + i * kWidth), hn::Set(d, max));
        const Vector weight = hn::Exp(d, hn::Mul(distance, hn::Set(d, inverse_temperature)));
        sums[i] = hn::Add(sums[i], weight);
        hn::Store(weight, d, lanes.data() + i * kWidth);
      }
      std::copy_n(lanes.data(), std::min(kLanes, size - j), weights + begin + j);
    }
    total += ReduceSum(sums);
  });
  return total;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hyper
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hyper {

HWY_EXPORT(SummarizeImpl);
HWY_EXPORT(ExponentialWeightsImpl);

void SummarizeRow(std::span<const float> logits, int k, RowSummary& summary) {
  const size_t wanted = std::min(static_cast<size_t>(std::max(k, 0)), logits.size());
  std::vector<TokenLogprob> top = std::move(summary.top);
  summary = RowSummary();
  summary.top = std::move(top);
  summary.top.clear();
  summary.top.reserve(wanted);
  HWY_DYNAMIC_DISPATCH(SummarizeImpl)(logits.data(), logits.size(), wanted, summary);
  if (summary.degenerate) {
    summary.top.clear();
    return;
  }
  for (TokenLogprob& entry : summary.top) {
    entry.logprob = static_cast<float>(entry.logprob - summary.log_sum_exp);
  }
}

double ExponentialWeights(std::span<const float> logits, float max, float inverse_temperature,
                          std::span<float> weights) {
  return HWY_DYNAMIC_DISPATCH(ExponentialWeightsImpl)(logits.data(), logits.size(), max,
                                                      inverse_temperature, weights.data());
}

}  // namespace hyper
#endif  // HWY_ONCE

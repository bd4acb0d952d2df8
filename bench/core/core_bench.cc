// Speed of src/core: passes over rows of logits against plain reading of the same memory, and the
// statistics of a full pool. Rows of a "streamed" benchmark exceed the caches together.
//   core_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "src/core/aggregate.h"
#include "src/core/logits.h"
#include "src/core/pool_stats.h"
#include "src/core/random.h"
#include "src/core/sampling.h"

namespace hyper {
namespace {

constexpr size_t kStreamedBytes = size_t{256} << 20;
constexpr int64_t kSmallVocabulary = 4096;    // a row of 16 KiB
constexpr int64_t kLargeVocabulary = 151936;  // Qwen3's, 594 KiB

std::vector<float> RandomLogits(size_t count) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(count);
  for (float& logit : logits) {
    logit = normal(generator);
  }
  return logits;
}

// Rows of the vocabulary size in range(0): one in cache, or as many as range(1) bytes hold.
class Rows {
 public:
  explicit Rows(const benchmark::State& state)
      : n_vocab_(static_cast<size_t>(state.range(0))),
        count_(std::max<size_t>(1, static_cast<size_t>(state.range(1)) / (n_vocab_ * 4))),
        logits_(RandomLogits(n_vocab_ * count_)) {}

  std::span<const float> Next() {
    next_ = (next_ + 1) % count_;
    return std::span(logits_).subspan(next_ * n_vocab_, n_vocab_);
  }
  size_t row_bytes() const { return n_vocab_ * sizeof(float); }

 private:
  size_t n_vocab_;
  size_t count_;
  std::vector<float> logits_;
  size_t next_ = 0;
};

void CountBytes(benchmark::State& state, const Rows& rows) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(rows.row_bytes()));
}

// The ceiling: sums of the same rows in 64 lanes.
void BM_ReadOnly(benchmark::State& state) {
  Rows rows(state);
  for (auto _ : state) {
    std::array<float, 64> lanes{};
    const std::span<const float> row = rows.Next();
    for (size_t i = 0; i + lanes.size() <= row.size(); i += lanes.size()) {
      for (size_t lane = 0; lane < lanes.size(); ++lane) {
        lanes[lane] += row[i + lane];
      }
    }
    benchmark::DoNotOptimize(lanes);
  }
  CountBytes(state, rows);
}

void BM_SummarizeRow(benchmark::State& state) {
  Rows rows(state);
  RowSummary summary;
  for (auto _ : state) {
    SummarizeRow(rows.Next(), 21, summary);
    benchmark::DoNotOptimize(summary.log_sum_exp);
  }
  CountBytes(state, rows);
}

void SampleRows(benchmark::State& state, const SamplerSpec& spec) {
  Rows rows(state);
  SamplerScratch scratch;
  uint32_t position = 0;
  for (auto _ : state) {
    const double u = Uniform(1, position++, Purpose::kSample);
    benchmark::DoNotOptimize(SampleToken(rows.Next(), spec, u, scratch));
  }
  CountBytes(state, rows);
}

void BM_SamplePaperPreset(benchmark::State& state) { SampleRows(state, {0.6, 20, 0.95, 0.0}); }
void BM_SampleUnfiltered(benchmark::State& state) { SampleRows(state, {0.8, 0, 1.0, 0.0}); }
void BM_SampleTopP(benchmark::State& state) { SampleRows(state, {0.6, 0, 0.95, 0.0}); }

void RowSizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"vocab", "streamed"});
  benchmark->Args({kSmallVocabulary, 0});
  benchmark->Args({kLargeVocabulary, 0});
  benchmark->Args({kLargeVocabulary, static_cast<int64_t>(kStreamedBytes)});
}
BENCHMARK(BM_ReadOnly)->Apply(RowSizes);
BENCHMARK(BM_SummarizeRow)->Apply(RowSizes);
BENCHMARK(BM_SamplePaperPreset)->Apply(RowSizes);
BENCHMARK(BM_SampleUnfiltered)->Apply(RowSizes);
BENCHMARK(BM_SampleTopP)->Apply(RowSizes);

void BM_AggregateRoutes(benchmark::State& state) {
  const std::vector<float> logits = RandomLogits(static_cast<size_t>(4 * kLargeVocabulary));
  std::vector<std::span<const float>> routes;
  constexpr auto kRow = static_cast<size_t>(kLargeVocabulary);
  for (size_t k = 0; k < 4; ++k) {
    routes.push_back(std::span(logits).subspan(k * kRow, kRow));
  }
  std::vector<float> out(kRow);
  for (auto _ : state) {
    benchmark::DoNotOptimize(AggregateRoutes(routes, {}, out));
  }
}
BENCHMARK(BM_AggregateRoutes);

void BM_GumbelRow(benchmark::State& state) {
  std::vector<float> noise(static_cast<size_t>(state.range(0)));
  uint32_t position = 0;
  for (auto _ : state) {
    GumbelRow(1, position++, 0, 1, noise);
    benchmark::DoNotOptimize(noise.data());
  }
}
BENCHMARK(BM_GumbelRow)->Arg(8)->Arg(128);

// The statistics of one decision: 80 survivors, suffixes of 64 tokens, 3160 pairs.
void BM_PoolStatistics(benchmark::State& state) {
  constexpr size_t kPaths = 80;
  std::mt19937 generator(2);
  std::vector<std::vector<Token>> suffixes(kPaths, std::vector<Token>(64));
  std::vector<std::vector<TokenLogprob>> tops(kPaths);
  std::vector<PathView> paths(kPaths);
  for (size_t p = 0; p < kPaths; ++p) {
    for (Token& token : suffixes[p]) {
      token = static_cast<Token>(generator() % 1000);
    }
    for (int i = 0; i < 9; ++i) {
      tops[p].push_back({static_cast<Token>(generator() % 40), -0.5F - static_cast<float>(i)});
    }
    paths[p] = {10.0 + static_cast<double>(p), 0.5, tops[p][0].token, tops[p], suffixes[p]};
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(ComputePoolStatistics(paths));
  }
}
BENCHMARK(BM_PoolStatistics);

}  // namespace
}  // namespace hyper

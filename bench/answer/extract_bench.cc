// Throughput of ExtractAnswer in bytes of text per second, per kind of text:
//   short     a worked solution of some 200 bytes with its answer in a box
//   trace     32 kB of reasoning, then a short content with a box
//   label     32 kB of prose whose last line is "Answer: 42": every rule before has to fail
//   none      32 kB of prose without an answer, fallbacks off: all rules fail
//   hostile   100 kB of "\boxed{" that is never closed
// Each run checks the answer before it is timed.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "hyper/extract.h"

namespace {

using hyper::AnswerKind;
using hyper::ExtractOptions;

constexpr size_t kLongBytes = 32 << 10;

std::string Prose(size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    text += "First we compute $x_{1} = 3 + 4$, so there are 7 apples and \\frac{1}{2} of a pear.\n";
  }
  return text;
}

// Times `text`, whose answer must be `expected`, empty for none.
void Time(benchmark::State& state, const std::string& text, const ExtractOptions& options,
          const std::string& expected) {
  if (ExtractAnswer(text, options).answer.value_or("") != expected) {
    state.SkipWithError("the answer is wrong");
    return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(ExtractAnswer(text, options));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

ExtractOptions OptionsOf(AnswerKind kind) {
  ExtractOptions options;
  options.kind = kind;
  return options;
}

void ExtractShort(benchmark::State& state) {
  Time(state, Prose(160) + "The answer is \\boxed{1,042}.", OptionsOf(AnswerKind::kInteger),
       "1042");
}
BENCHMARK(ExtractShort);

void ExtractTrace(benchmark::State& state) {
  Time(state, Prose(kLongBytes) + "</think>\n\nThe answer is $\\boxed{\\frac{1}{2}}$.",
       OptionsOf(AnswerKind::kMath), "\\frac{1}{2}");
}
BENCHMARK(ExtractTrace);

void ExtractLabel(benchmark::State& state) {
  Time(state, Prose(kLongBytes) + "Answer: 42", OptionsOf(AnswerKind::kMath), "42");
}
BENCHMARK(ExtractLabel);

void ExtractNone(benchmark::State& state) {
  ExtractOptions options = OptionsOf(AnswerKind::kChoice);
  options.fallbacks = false;
  Time(state, Prose(kLongBytes), options, "");
}
BENCHMARK(ExtractNone);

void ExtractHostile(benchmark::State& state) {
  std::string text;
  while (text.size() < 100'000) {
    text += "\\boxed{";
  }
  ExtractOptions options = OptionsOf(AnswerKind::kMath);
  options.fallbacks = false;
  Time(state, text, options, "");
}
BENCHMARK(ExtractHostile);

}  // namespace

// Products of weights with the rows of a batch: cmake/native/batch_rows.cc against ggml's own code,
// in one process and in turns, after their results were compared.
//
//   build/products_bench [--threads N] [--turns N] [--wall] [--type q4_0|q4_K] [--shape NAME]
//   [--rows N] [--library FILE]
//
// The library is the backend for this machine; build/native-avx2 has one for AVX2.
//
// Times are CPU time divided by threads, which other work on the machine changes less than the time
// that passes; --wall takes the latter.
#include <fmt/format.h>
#include <ggml.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/native_products.h"
#include "tests/support/written_out_products.h"

namespace {

using hyper::test::NativeBackend;
using hyper::test::Operands;
using hyper::test::Product;
using hyper::test::Products;

struct Shape {
  std::string_view name;
  Product product;
  int copies;  // with weights of their own, so that they come from memory
};

// Of OLMoE-1B-7B; the last is a dense layer of a model of 4 billion parameters (Qwen3-4B).
const Shape kShapes[] = {
    {"gate", {.inner = 2048, .columns = 1024, .experts = 64, .used = 8}, 3},
    {"down", {.inner = 1024, .columns = 2048, .experts = 64, .used = 8, .own_input = true}, 3},
    {"attention", {.inner = 2048, .columns = 2048}, 24},
    {"output", {.inner = 2048, .columns = 50304}, 1},
    {"dense", {.inner = 2560, .columns = 9728}, 6},
};

// ggml adds in another order where more than three rows meet dense weights in Q4_K.
constexpr double kMostApart = 1e-5;

struct Options {
  int threads = 1;
  int turns = 9;
  int rows = 0;
  bool wall = false;
  std::string_view type;
  std::string_view shape;
  std::string library = HYPER_NATIVE_LIBRARY;
};

double Seconds(const Options& options) {
  timespec now = {};
  clock_gettime(options.wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
  const double seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  return options.wall ? seconds : seconds / options.threads;
}

// Operations a second of one core that does nothing but multiply and add bytes (vpdpbusd).
double Peak() {
#ifdef __AVX512VNNI__
  constexpr int kRounds = 20000;
  constexpr double kOperations = 24.0 * 128 * kRounds;
  Options options;
  double best = 0;
  for (int i = 0; i < 50; ++i) {
    const double begin = Seconds(options);
    for (int round = 0; round < kRounds; ++round) {
      asm volatile(
          ".altmacro\n.macro hyper_products n\nvpdpbusd %%zmm30,%%zmm31,%%zmm\\n\n.endm\n"
          ".set at,0\n.rept 24\nhyper_products %%at\n.set at,at+1\n.endr\n.purgem hyper_products\n"
          ".noaltmacro\n" ::
              : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18",
                "xmm19", "xmm20", "xmm21", "xmm22", "xmm23");
    }
    best = std::max(best, kOperations / (Seconds(options) - begin));
  }
  return best;
#else
  return 0;
#endif
}

struct Times {
  double median = 0;
  double low = 0;
  double high = 0;
};

Times Of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds[seconds.size() / 4],
          seconds[seconds.size() - 1 - seconds.size() / 4]};
}

// How far the results of a product lie apart, as a part of the greatest number.
double Apart(const std::vector<float>& a, const std::vector<float>& b) {
  double apart = 0;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    apart = std::max(apart, std::fabs(static_cast<double>(a[i]) - b[i]));
    most = std::max(most, std::fabs(static_cast<double>(b[i])));
  }
  return most == 0 ? apart : apart / most;
}

void Measure(const NativeBackend& backend, const Shape& shape, ggml_type type, int rows,
             const Options& options, double peak) {
  Product product = shape.product;
  product.type = type;
  product.rows = rows;
  std::mt19937 random(1);
  std::vector<Operands> operands;
  operands.push_back(hyper::test::RandomOperands(product, random));
  for (int i = 1; i < shape.copies; ++i) {
    operands.push_back(operands.front());
  }
  Products products(backend, product, operands);
  std::vector<double> times[2];
  std::vector<float> results[2];
  for (int turn = -1; turn < options.turns; ++turn) {
    for (const int on : {0, 1}) {
      backend.BatchRows(on);
      const double begin = Seconds(options);
      products.Compute(options.threads);
      if (turn >= 0) {
        times[on].push_back(Seconds(options) - begin);
      } else {
        results[on] = products.Result(shape.copies - 1);
      }
    }
  }
  const double apart = Apart(results[1], results[0]);
  if (!(apart <= kMostApart)) {
    fmt::print(stderr, "products_bench: {} {}, {} rows: results differ by {:.1e}\n",
               ggml_type_name(type), shape.name, rows, apart);
    std::exit(1);
  }
  const Times ggml = Of(times[0]);
  const Times here = Of(times[1]);
  const double operations = 2.0 * static_cast<double>(product.inner * product.columns) *
                            static_cast<double>(product.Outputs()) * shape.copies;
  const double rate = operations / here.median;
  fmt::print(
      "| {} | {} | {} | {:.2f} ({:.2f} to {:.2f}) | {:.2f} ({:.2f} to {:.2f}) | {:.2f} | {:.0f} | "
      "{:.0f} % | {} |\n",
      ggml_type_name(type), shape.name, rows, 1e3 * ggml.median, 1e3 * ggml.low, 1e3 * ggml.high,
      1e3 * here.median, 1e3 * here.low, 1e3 * here.high, ggml.median / here.median, rate * 1e-9,
      100 * rate / (peak * options.threads), apart == 0 ? "none" : fmt::format("{:.1e}", apart));
  std::fflush(stdout);
}

Options Read(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--wall") {
      options.wall = true;
      continue;
    }
    if (i + 1 == count) {
      fmt::print(stderr, "products_bench: {} needs a value\n", word);
      std::exit(2);
    }
    const char* value = words[++i];
    if (word == "--threads") {
      options.threads = std::max(1, std::atoi(value));
    } else if (word == "--turns") {
      options.turns = std::max(1, std::atoi(value));
    } else if (word == "--rows") {
      options.rows = std::atoi(value);
    } else if (word == "--type") {
      options.type = value;
    } else if (word == "--shape") {
      options.shape = value;
    } else if (word == "--library") {
      options.library = value;
    } else {
      fmt::print(stderr, "products_bench: unknown option {}\n", word);
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  const Options options = Read(count, words);
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  const NativeBackend backend(options.library);
  if (!backend.Loaded()) {
    fmt::print(stderr, "products_bench: cannot load {}\n", options.library);
    return 1;
  }
  const double peak = Peak();
  fmt::print(
      "{} threads, {} turns; vpdpbusd alone: {:.0f} GOPS a core\n\n"
      "| type | shape | rows | ggml, ms | here, ms | ratio | GOPS | of peak | differs by |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      options.threads, options.turns, peak * 1e-9);
  for (const ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_K}) {
    if (!options.type.empty() && options.type != ggml_type_name(type)) {
      continue;
    }
    for (const Shape& shape : kShapes) {
      if (!options.shape.empty() && options.shape != shape.name) {
        continue;
      }
      for (const int rows : {1, 2, 4, 8, 16, 32, 64}) {
        if (options.rows != 0 && options.rows != rows) {
          continue;
        }
        Measure(backend, shape, type, rows, options, peak);
      }
    }
  }
}

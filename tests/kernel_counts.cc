// Calls each kernel of cmake/native, for kernel_counts_test.sh, which counts their instructions
// under callgrind, and dumps them after each Counted(). Prints a name for each.
//   kernel_counts LIBRARY
#include <ggml.h>

#include <cstdio>
#include <functional>
#include <random>
#include <string>

#include "tests/support/native_attention.h"
#include "tests/support/native_products.h"
#include "tests/support/written_out_products.h"

namespace {

using hyper::test::NativeBackend;
using hyper::test::Product;

}  // namespace

// Callgrind knows it by this name.
extern "C" [[gnu::noinline]] void Counted(const std::function<void()>& work) { work(); }

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: kernel_counts LIBRARY\n");
    return 2;
  }
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  const NativeBackend backend(words[1]);
  if (!backend.Loaded()) {
    std::fprintf(stderr, "kernel_counts: cannot load %s\n", words[1]);
    return 1;
  }
  std::mt19937 random(1);
  const auto call = [&](const std::string& name, const std::function<void()>& work) {
    const int64_t before = backend.BatchRows(1);
    Counted(work);
    std::printf("%s\n", name.c_str());
    if (backend.BatchRows(1) != before + 1) {
      std::fprintf(stderr, "kernel_counts: %s was left to ggml\n", name.c_str());
      std::exit(1);
    }
  };
  for (const ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_K, GGML_TYPE_F16}) {
    for (const int rows : {1, 16, 64}) {
      const Product product{
          .type = type, .inner = 512, .columns = 64, .experts = 8, .used = 2, .rows = rows};
      hyper::test::Products products(backend, product,
                                     {hyper::test::RandomOperands(product, random)});
      call(std::string(ggml_type_name(type)) + "-" + std::to_string(rows),
           [&] { products.Compute(1); });
    }
  }
  for (const int rows : {1, 32}) {
    const hyper::test::Attention attention{
        .rows = rows, .cells = 2048, .heads = 6, .key_heads = 2, .size = 64, .value_size = 64};
    const auto operands = hyper::test::RandomAttention(attention, 32, random);
    call("attention-" + std::to_string(rows),
         [&] { hyper::test::Attend(backend, attention, operands, 1); });
  }
  // All rows see the same cells, and no two heads the same keys.
  const hyper::test::Attention prefix{
      .rows = 32, .cells = 256, .heads = 2, .key_heads = 2, .size = 64, .value_size = 64};
  auto operands = hyper::test::RandomAttention(prefix, 2, random);
  for (int64_t i = prefix.cells; i < prefix.rows * prefix.cells; ++i) {
    operands.mask[i] = operands.mask[i - prefix.cells];
  }
  call("prefix-32", [&] { hyper::test::Attend(backend, prefix, operands, 1); });
  return 0;
}

#include "tests/support/native_attention.h"

#include <ggml-alloc.h>
#include <ggml-backend.h>

#include <limits>
#include <memory>

namespace hyper::test {
namespace {

std::vector<ggml_fp16_t> RandomHalves(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<ggml_fp16_t> halves(count);
  for (ggml_fp16_t& half : halves) {
    half = ggml_fp32_to_fp16(normal(random));
  }
  return halves;
}

std::vector<float> AsFloats(const std::vector<ggml_fp16_t>& halves) {
  std::vector<float> floats(halves.size());
  ggml_fp16_to_fp32_row(halves.data(), floats.data(), static_cast<int64_t>(floats.size()));
  return floats;
}

}  // namespace

AttentionOperands RandomAttention(const Attention& attention, int sparse, std::mt19937& random) {
  AttentionOperands made;
  std::normal_distribution<float> normal;
  const int64_t numbers = attention.streams * attention.heads * attention.rows * attention.size;
  for (int64_t i = 0; i < numbers; ++i) {
    made.queries.push_back(normal(random));
  }
  const int64_t cells = attention.streams * attention.key_heads * attention.cells;
  made.keys = RandomHalves(cells * attention.size, random);
  made.values = RandomHalves(cells * attention.value_size, random);
  const float infinity = std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < attention.streams * attention.rows; ++row) {
    const auto always = static_cast<int64_t>(random() % attention.cells);
    for (int64_t cell = 0; cell < attention.cells; ++cell) {
      const bool visible = cell == always || random() % sparse == 0;
      made.mask.push_back(ggml_fp32_to_fp16(!visible ? -infinity : random() % 8 == 0 ? -0.5F : 0));
    }
  }
  return made;
}

std::vector<float> Attend(const NativeBackend& backend, const Attention& attention,
                          const AttentionOperands& operands, int threads) {
  const size_t tensors = 8;
  const std::unique_ptr<ggml_context, decltype(&ggml_free)> context(
      ggml_init({.mem_size =
                     tensors * ggml_tensor_overhead() + ggml_graph_overhead_custom(tensors, false),
                 .mem_buffer = nullptr,
                 .no_alloc = true}),
      ggml_free);
  ggml_cgraph* graph = ggml_new_graph_custom(context.get(), tensors, false);
  const auto tensor = [&](ggml_type type, int64_t size, int64_t count, int64_t heads) {
    return ggml_new_tensor_4d(context.get(), type, size, count, heads, attention.streams);
  };
  ggml_tensor* q = tensor(GGML_TYPE_F32, attention.size, attention.rows, attention.heads);
  ggml_tensor* k = tensor(attention.type, attention.size, attention.cells, attention.key_heads);
  ggml_tensor* v =
      tensor(attention.type, attention.value_size, attention.cells, attention.key_heads);
  ggml_tensor* mask = tensor(GGML_TYPE_F16, attention.cells, attention.rows, 1);
  ggml_tensor* result = ggml_flash_attn_ext(context.get(), q, k, v, mask, kAttentionScale,
                                            attention.alibi, attention.soft_cap);
  ggml_build_forward_expand(graph, result);
  const std::unique_ptr<ggml_backend_buffer, decltype(&ggml_backend_buffer_free)> buffer(
      ggml_backend_alloc_ctx_tensors(context.get(), backend.Get()), ggml_backend_buffer_free);
  const auto set = [](ggml_tensor* to, const auto& from) {
    ggml_backend_tensor_set(to, from.data(), 0, ggml_nbytes(to));
  };
  set(q, operands.queries);
  set(mask, operands.mask);
  if (attention.type == GGML_TYPE_F16) {
    set(k, operands.keys);
    set(v, operands.values);
  } else {
    set(k, AsFloats(operands.keys));
    set(v, AsFloats(operands.values));
  }
  backend.SetThreads(threads);
  ggml_backend_graph_compute(backend.Get(), graph);
  std::vector<float> numbers(ggml_nelements(result));
  ggml_backend_tensor_get(result, numbers.data(), 0, numbers.size() * sizeof(float));
  return numbers;
}

}  // namespace hyper::test

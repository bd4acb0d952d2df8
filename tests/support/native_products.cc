#include "tests/support/native_products.h"

#include <dlfcn.h>
#include <ggml-alloc.h>
#include <ggml.h>

#include <cstring>

namespace hyper::test {

NativeBackend::NativeBackend(const std::string& library) {
  const ggml_backend_reg_t registry = ggml_backend_load(library.c_str());
  if (registry == nullptr) {
    return;
  }
  const ggml_backend_dev_t device = ggml_backend_reg_dev_get(registry, 0);
  set_threads_ = reinterpret_cast<ggml_backend_set_n_threads_t>(
      ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_n_threads"));
  const auto buffers = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(registry, "ggml_backend_dev_get_extra_bufts"));
  for (auto* type = buffers(device); *type != nullptr; ++type) {
    if (std::strcmp(ggml_backend_buft_name(*type), "CPU_REPACK") == 0) {
      repacking_ = *type;
    }
  }
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  batch_rows_ = opened == nullptr
                    ? nullptr
                    : reinterpret_cast<int64_t (*)(int)>(dlsym(opened, "hyper_native_batch_rows"));
  if (repacking_ != nullptr && batch_rows_ != nullptr) {
    backend_.reset(ggml_backend_dev_init(device, nullptr));
  }
}

Products::Products(const NativeBackend& backend, const Product& product,
                   const std::vector<Operands>& operands)
    : backend_(backend) {
  const size_t tensors = 4 * operands.size() + 1;
  const ggml_init_params memory = {
      .mem_size = tensors * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true};
  weights_context_ = ggml_init(memory);
  ggml_init_params with_graph = memory;
  with_graph.mem_size += ggml_graph_overhead_custom(tensors, false);
  context_ = ggml_init(with_graph);
  graph_ = ggml_new_graph_custom(context_, tensors, false);
  struct Tensors {
    ggml_tensor* weights;
    ggml_tensor* input;
    ggml_tensor* experts;
  };
  std::vector<Tensors> all;
  for (size_t i = 0; i < operands.size(); ++i) {
    Tensors own = {};
    if (product.experts == 0) {
      own.weights =
          ggml_new_tensor_2d(weights_context_, product.type, product.inner, product.columns);
      own.input =
          ggml_new_tensor_3d(context_, GGML_TYPE_F32, product.inner, product.rows, product.used);
      results_.push_back(ggml_mul_mat(context_, own.weights, own.input));
    } else {
      own.weights = ggml_new_tensor_3d(weights_context_, product.type, product.inner,
                                       product.columns, product.experts);
      own.input = ggml_new_tensor_3d(context_, GGML_TYPE_F32, product.inner,
                                     product.own_input ? product.used : 1, product.rows);
      own.experts = ggml_new_tensor_2d(context_, GGML_TYPE_I32, product.used, product.rows);
      results_.push_back(ggml_mul_mat_id(context_, own.weights, own.input, own.experts));
    }
    ggml_build_forward_expand(graph_, results_.back());
    all.push_back(own);
  }
  weights_buffer_ =
      product.type == GGML_TYPE_F16
          ? ggml_backend_alloc_ctx_tensors(weights_context_, backend.Get())
          : ggml_backend_alloc_ctx_tensors_from_buft(weights_context_, backend.Repacking());
  buffer_ = ggml_backend_alloc_ctx_tensors(context_, backend.Get());
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operands& from = operands[i];
    ggml_backend_tensor_set(all[i].weights, from.weights.data(), 0, from.weights.size());
    ggml_backend_tensor_set(all[i].input, from.input.data(), 0, from.input.size() * sizeof(float));
    if (all[i].experts != nullptr) {
      ggml_backend_tensor_set(all[i].experts, from.experts.data(), 0,
                              from.experts.size() * sizeof(int32_t));
    }
  }
}

Products::~Products() {
  ggml_backend_buffer_free(buffer_);
  ggml_backend_buffer_free(weights_buffer_);
  ggml_free(context_);
  ggml_free(weights_context_);
}

void Products::Compute(int threads) {
  backend_.SetThreads(threads);
  ggml_backend_graph_compute(backend_.Get(), graph_);
}

std::vector<float> Products::Result(size_t product) const {
  std::vector<float> result(ggml_nelements(results_[product]));
  ggml_backend_tensor_get(results_[product], result.data(), 0, result.size() * sizeof(float));
  return result;
}

}  // namespace hyper::test

// Products of weights and rows, one ggml operation each, computed by a CPU backend that this build
// compiled (build/native/libggml-cpu.so).
#pragma once

#include <ggml-backend.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hyper::test {

// MUL_MAT where `experts` is 0, else MUL_MAT_ID.
struct Product {
  ggml_type type = GGML_TYPE_Q4_0;
  int64_t inner = 0;    // numbers in a row
  int64_t columns = 0;  // of the weights
  int64_t experts = 0;
  int64_t used = 1;  // experts of each row; of MUL_MAT: planes of the input
  int64_t rows = 0;
  bool own_input = false;  // MUL_MAT_ID: a row has an input for each of its experts

  int64_t Inputs() const { return rows * (experts == 0 || own_input ? used : 1); }
  int64_t Outputs() const { return rows * used; }
  int64_t Weights() const { return inner * columns * (experts == 0 ? 1 : experts); }
};

// What a product is computed from, as the operation takes it.
struct Operands {
  std::vector<uint8_t> weights;  // blocks of the type
  std::vector<float> input;
  std::vector<int32_t> experts;  // Product::used of each row
};

class NativeBackend {
 public:
  explicit NativeBackend(const std::string& library);

  bool Loaded() const { return backend_ != nullptr; }

  // 0 leaves everything to ggml, 1 takes back what batch_rows.cc computes. How often it has
  // computed a product.
  int64_t BatchRows(int on) const { return batch_rows_(on); }

  ggml_backend_t Get() const { return backend_.get(); }
  ggml_backend_buffer_type_t Repacking() const { return repacking_; }
  void SetThreads(int threads) const { set_threads_(backend_.get(), threads); }

 private:
  struct Free {
    void operator()(ggml_backend_t backend) const { ggml_backend_free(backend); }
  };
  std::unique_ptr<ggml_backend, Free> backend_;
  ggml_backend_buffer_type_t repacking_ = nullptr;
  ggml_backend_set_n_threads_t set_threads_ = nullptr;
  int64_t (*batch_rows_)(int) = nullptr;
};

// Several products of one shape, with weights of their own each, in one graph.
class Products {
 public:
  Products(const NativeBackend& backend, const Product& product,
           const std::vector<Operands>& operands);
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  void Compute(int threads);
  // Row by row, and within a row expert by expert; `columns` numbers each.
  std::vector<float> Result(size_t product) const;

 private:
  const NativeBackend& backend_;
  ggml_context* weights_context_;
  ggml_context* context_;
  ggml_cgraph* graph_;
  ggml_backend_buffer_t weights_buffer_ = nullptr;
  ggml_backend_buffer_t buffer_ = nullptr;
  std::vector<ggml_tensor*> results_;
};

}  // namespace hyper::test

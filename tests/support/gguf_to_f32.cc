#include "tests/support/gguf_to_f32.h"

#include <cstdio>
#include <cstring>
#include <memory>

#include "ggml.h"
#include "gguf.h"

namespace hyper::test {
namespace {

struct GgufDeleter {
  void operator()(gguf_context* context) const { gguf_free(context); }
};
struct GgmlDeleter {
  void operator()(ggml_context* context) const { ggml_free(context); }
};
using GgufPointer = std::unique_ptr<gguf_context, GgufDeleter>;
using GgmlPointer = std::unique_ptr<ggml_context, GgmlDeleter>;

constexpr uint32_t kFileTypeAllF32 = 0;  // LLAMA_FTYPE_ALL_F32

// `from` widened into `to`, which has the same shape and type F32.
Status Widen(const ggml_tensor* from, ggml_tensor* to) {
  if (from->type == GGML_TYPE_F32) {
    std::memcpy(to->data, from->data, ggml_nbytes(from));
    return {};
  }
  const ggml_type_traits* traits = ggml_get_type_traits(from->type);
  if (traits->to_float == nullptr) {
    return Error{ErrorCode::kUnsupported, std::string("tensor ") + ggml_get_name(from) +
                                              " has type " + ggml_type_name(from->type) +
                                              ", which has no conversion to F32"};
  }
  traits->to_float(from->data, static_cast<float*>(to->data), ggml_nelements(from));
  return {};
}

}  // namespace

Status GgufToF32(const std::string& source, const std::string& target) {
  ggml_context* source_tensors = nullptr;
  const GgufPointer input(
      gguf_init_from_file(source.c_str(), {/*no_alloc=*/false, /*ctx=*/&source_tensors}));
  const GgmlPointer input_tensors(source_tensors);
  if (input == nullptr || input_tensors == nullptr) {
    return Error{ErrorCode::kNotFound, source + " is no readable GGUF file"};
  }
  size_t bytes = 0;
  for (ggml_tensor* tensor = ggml_get_first_tensor(source_tensors); tensor != nullptr;
       tensor = ggml_get_next_tensor(source_tensors, tensor)) {
    bytes += ggml_tensor_overhead() + GGML_PAD(ggml_nelements(tensor) * sizeof(float), 64);
  }
  const GgmlPointer output_tensors(ggml_init({bytes, nullptr, /*no_alloc=*/false}));
  const GgufPointer output(gguf_init_empty());
  gguf_set_kv(output.get(), input.get());
  gguf_set_val_u32(output.get(), "general.file_type", kFileTypeAllF32);
  // File order, not the order of the context's list.
  for (int64_t i = 0; i < gguf_get_n_tensors(input.get()); ++i) {
    const char* name = gguf_get_tensor_name(input.get(), i);
    const ggml_tensor* from = ggml_get_tensor(source_tensors, name);
    ggml_tensor* to =
        ggml_new_tensor(output_tensors.get(), GGML_TYPE_F32, ggml_n_dims(from), from->ne);
    ggml_set_name(to, name);
    if (Status status = Widen(from, to); !status) {
      return status;
    }
    gguf_add_tensor(output.get(), to);
  }
  if (!gguf_write_to_file(output.get(), target.c_str(), /*only_meta=*/false)) {
    std::remove(target.c_str());
    return Error{ErrorCode::kResourceExhausted, target + " cannot be written"};
  }
  return {};
}

}  // namespace hyper::test

// The engine that runs GGUF models in this process, through llama.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hyper/engine.h"
#include "hyper/result.h"

namespace hyper {

// Element type of the KV cache.
enum class KvType { kF32, kF16, kBf16, kQ8_0, kQ4_0 };

// Three-valued switch; kAuto leaves the choice to the engine.
enum class Toggle { kAuto, kOff, kOn };

// What a llama.cpp engine is made from. Zero means "choose" where the comment says auto.
struct LlamaOptions {
  std::string model_path;    // GGUF file; of a split model its first part
  int context_cells = 0;     // KV cells shared by all lanes, >= 2; 0 = auto
  int max_lanes = 0;         // lanes open at once, [1, 240]; 0 = auto (132)
  int threads = 0;           // CPU threads, >= 1, clamped to the CPUs allowed; 0 = all of them
  bool strict = true;        // equal seeds give equal bytes for any parallelism and thread count
  int max_forward_rows = 0;  // rows of one decoding forward; strict: [2, 63]; 0 = auto
  KvType kv_type = KvType::kF16;
  Toggle flash_attention = Toggle::kAuto;
  int gpu_layers = 0;               // layers on GPUs; negative: all
  int main_gpu = 0;                 // index of the GPU that is used where only one is
  std::vector<float> tensor_split;  // share of each GPU; empty: by free memory
  std::string backend_dir;          // folder of ggml's backend libraries; empty: where llama.cpp is
  std::string chat_template;        // Jinja source in place of the model's own; empty: the model's
};

// An engine on the model of `options`, ready for Open.
// Errors, each one line with value, reason and remedy: kNotFound (no such file), kInvalidArgument
// (an option out of range, a folder, not GGUF, no permission), kDataLoss (a broken or cut file),
// kResourceExhausted (the KV cache does not fit in memory), kUnsupported (the architecture).
// Cost: loads the weights. The engine belongs to one thread at a time.
Result<std::unique_ptr<Engine>> MakeLlamaEngine(const LlamaOptions& options);

}  // namespace hyper

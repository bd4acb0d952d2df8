// Which parts of a model lie on GPUs.
#pragma once

#include <llama.h>

#include <vector>

#include "hyper/llama_engine.h"

namespace hyper::llama {

// Where llama.cpp is to put the weights.
struct Placement {
  int layers = 0;            // on GPUs and RPC servers; negative: all
  std::vector<float> split;  // share of each device; empty: by free memory
  // Tensors that stay in main memory although their layer is on a GPU: experts, above all. Ends
  // with a null; empty: none.
  std::vector<llama_model_tensor_buft_override> kept;
};

// Whether ggml has loaded a backend with a GPU. Thread rule: after LoadBackends.
bool HasGpu();

// The placement that `options` ask for, on a machine with or without a GPU: kFitGpuLayers is all
// layers with RPC servers or a given split, none without a GPU, and otherwise stays. Pure.
Placement RequestedPlacement(const LlamaOptions& options, bool has_gpu);

// What a placement with kFitGpuLayers becomes: as many layers as leave a gigabyte free on each GPU
// beside a context of `params`, by llama.cpp's own account; none where nothing fits. Others stay as
// they are.
Placement Fitted(Placement placement, const char* model_path, llama_model_params model,
                 llama_context_params context);

// Layers on devices of a model with so many, its output counted as one more. Pure.
int LayersOnDevices(const Placement& placement, int model_layers);

}  // namespace hyper::llama

#include "src/engine/llama/gpu_layers.h"

#include <fit.h>
#include <ggml-backend.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/engine/llama/backend.h"

namespace hyper::llama {
namespace {

constexpr int kAllLayers = -1;
constexpr size_t kFreeBytes = size_t{1} << 30U;  // left on each GPU for other programs

}  // namespace

bool HasGpu() {
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) != nullptr ||
         ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU) != nullptr;
}

Placement RequestedPlacement(const LlamaOptions& options, bool has_gpu) {
  Placement placement{options.gpu_layers, options.tensor_split, {}};
  if (!placement.split.empty()) {
    placement.split.resize(std::max(placement.split.size(), llama_max_devices()), 0.0F);
  }
  const bool fit = options.gpu_layers == kFitGpuLayers;
  if (!options.rpc_servers.empty()) {
    placement.layers = fit || options.gpu_layers == 0 ? kAllLayers : options.gpu_layers;
  } else if (fit && !has_gpu) {
    placement.layers = 0;
  } else if (fit && !placement.split.empty()) {
    placement.layers = kAllLayers;
  }
  return placement;
}

Placement Fitted(Placement placement, const char* model_path, llama_model_params model,
                 llama_context_params context) {
  if (placement.layers != kFitGpuLayers) {
    return placement;
  }
  model.n_gpu_layers = llama_model_default_params().n_gpu_layers;
  std::vector<float> split(llama_max_devices(), 0.0F);
  std::vector<size_t> margins(llama_max_devices(), kFreeBytes);
  std::vector<llama_model_tensor_buft_override> kept(llama_max_tensor_buft_overrides(),
                                                     {nullptr, nullptr});
  const LogCapture log;
  const AssertionGuard guard;
  const common_params_fit_status status =
      common_fit_params(model_path, &model, &context, split.data(), kept.data(), margins.data(),
                        context.n_ctx, nullptr, GGML_LOG_LEVEL_ERROR);
  if (status != COMMON_PARAMS_FIT_STATUS_SUCCESS) {
    return Placement();
  }
  const bool one_share = std::all_of(split.begin(), split.end(), [](float x) { return x == 0; });
  placement.layers = model.n_gpu_layers;
  placement.split = one_share ? std::vector<float>() : std::move(split);
  placement.kept = kept[0].pattern == nullptr ? std::vector<llama_model_tensor_buft_override>()
                                              : std::move(kept);
  return placement;
}

int LayersOnDevices(const Placement& placement, int model_layers) {
  const int all = model_layers + 1;
  return placement.layers < 0 ? all : std::min(placement.layers, all);
}

}  // namespace hyper::llama

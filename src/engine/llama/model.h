// A loaded model and its context: what LlamaEngine computes with.
#pragma once

#include <ggml-backend.h>

#include <memory>
#include <string>
#include <string_view>

#include "hyper/llama_engine.h"
#include "src/engine/llama/backend.h"
#include "src/engine/llama/context_plan.h"
#include "src/engine/llama/gguf/header.h"
#include "src/engine/llama/gpu_layers.h"
#include "src/engine/llama/moe_router.h"
#include "src/engine/llama/rpc/servers.h"

namespace hyper::llama {

struct LoadedModel {
  ModelInfo info;
  ContextPlan plan;
  double bytes_per_cell = 0;
  int context_tokens = 0;      // longest history of one lane
  double available_bytes = 0;  // free memory before loading; infinite where it cannot be told
  bool ordered_cells = false;  // plain KV on CPUs with flash attention: strict can be kept
  bool recurrent = false;      // keeps a state that cannot be taken back, such as Qwen3-Next's
  bool names_end = false;      // the file says which token ends a text
  Placement placement;         // of the weights
  MoeRouter router;
  int threads = 1;
  std::unique_ptr<ThreadPool> threads_pool;  // of all contexts, which run one at a time
  std::unique_ptr<RpcServers> rpc_servers;   // null: none
  ModelHandle model;
};

// The model that a header describes; see ReadModelInfo. Pure.
ModelInfo DescribeModel(const GgufHeader& header, const std::string& path);

// Whether a chat template writes or reads a reasoning before the answer, by the tags of the known
// families. Pure.
bool TemplateReasons(std::string_view chat_template);

// What becomes of a model's weights.
enum class Weights {
  kLoad,
  kMeasure,  // only their sizes are taken; a lack of memory is no error
};

// Checks `options` and loads the model, without a context yet. Errors: as MakeLlamaEngine.
Result<LoadedModel> LoadModel(const LlamaOptions& options, Weights weights = Weights::kLoad);

// What llama.cpp's reason not to load the weights means: kResourceExhausted where they do not fit
// into memory, kUnsupported (unknown architecture), else kDataLoss. Pure.
Error WeightsError(const LlamaOptions& options, const std::string& reason, bool on_cpu);

// Bytes of memory that can still be used, by the machine's and the container's account; infinite
// where it cannot be told.
double AvailableBytes();

// Makes a context of a loaded model, which outlives it.
//   on_node, user_data  ggml's evaluation callback, asked about every node of every forward
// Errors: kResourceExhausted, with llama.cpp's reason.
Result<ContextHandle> MakeContext(const LlamaOptions& options,
                                  ggml_backend_sched_eval_callback on_node, void* user_data,
                                  const LoadedModel& loaded);

}  // namespace hyper::llama

#include "src/engine/llama/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "src/engine/llama/cpu_load.h"
#include "src/engine/llama/gguf/counts.h"
#include "src/engine/llama/gguf/file_hash.h"
#include "src/engine/llama/gpu_layers.h"
#include "src/engine/llama/rpc/watch.h"

namespace hyper::llama {
namespace {

ggml_type TypeOf(KvType type) {
  switch (type) {
    case KvType::kF32:
      return GGML_TYPE_F32;
    case KvType::kF16:
      return GGML_TYPE_F16;
    case KvType::kBf16:
      return GGML_TYPE_BF16;
    case KvType::kQ8_0:
      return GGML_TYPE_Q8_0;
    case KvType::kQ4_0:
      return GGML_TYPE_Q4_0;
  }
  return GGML_TYPE_F16;
}

// Header of a model: of a split one, with the tensors of all its parts, each checked.
Result<GgufHeader> ReadAllParts(const std::string& path) {
  Result<GgufHeader> header = ReadGgufHeader(path);
  if (!header) {
    return header;
  }
  const int parts = static_cast<int>(header->Integer("split.count", 1));
  if (parts <= 1) {
    return header;
  }
  std::array<char, 4096> name{};
  if (llama_split_prefix(name.data(), name.size(), path.c_str(), 0, parts) <= 0) {
    return InvalidArgument("model file " + Quoted(path) + " is not the first of its " +
                           std::to_string(parts) +
                           " parts; give the path that ends in -00001-of-...gguf");
  }
  const std::string prefix = name.data();
  for (int part = 1; part < parts; ++part) {
    llama_split_path(name.data(), name.size(), prefix.c_str(), part, parts);
    const Result<GgufHeader> next = ReadGgufHeader(name.data());
    if (!next) {
      return next.error();
    }
    header->tensors.insert(header->tensors.end(), next->tensors.begin(), next->tensors.end());
    header->file_bytes += next->file_bytes;
  }
  return header;
}

// Whether a lane's KV is one row of keys and values for each token and layer, and no router asks
// for several rows a token.
bool IsPlain(const GgufHeader& header, const ModelInfo& info) {
  return info.expert_count == 0 &&
         header.Integer(info.architecture + ".attention.sliding_window", 0) == 0 &&
         header.Integer(info.architecture + ".ssm.conv_kernel", 0) == 0;
}

// Bytes of one KV cell over all layers.
double BytesPerCell(const GgufHeader& header, const std::string& prefix, ggml_type type) {
  const int64_t layers = header.Integer(prefix + ".block_count", 0);
  const int64_t heads = std::max<int64_t>(1, header.Integer(prefix + ".attention.head_count", 1));
  const int64_t kv_heads = header.Integer(prefix + ".attention.head_count_kv", heads);
  const int64_t width = header.Integer(prefix + ".embedding_length", 0) / heads;
  const int64_t keys = header.Integer(prefix + ".attention.key_length", width) * kv_heads;
  const int64_t values = header.Integer(prefix + ".attention.value_length", width) * kv_heads;
  return static_cast<double>(layers) * static_cast<double>(keys + values) *
         static_cast<double>(ggml_type_size(type)) / static_cast<double>(ggml_blck_size(type));
}

// What the file of a model says of it.
LoadedModel Describe(const GgufHeader& header, const LlamaOptions& options) {
  LoadedModel loaded;
  loaded.info = DescribeModel(header, options.model_path);
  if (!options.chat_template.empty()) {
    loaded.info.has_chat_template = true;
    loaded.info.reasons = TemplateReasons(options.chat_template);
  }
  loaded.router = DescribeRouter(header);
  loaded.names_end = header.values.count("tokenizer.ggml.eos_token_id") > 0;
  loaded.bytes_per_cell = BytesPerCell(header, loaded.info.architecture, TypeOf(options.kv_type));
  return loaded;
}

// A context of the plan, all but what listens to it.
llama_context_params ContextParams(const LlamaOptions& options, const LoadedModel& loaded) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<uint32_t>(loaded.plan.physical_cells);
  const int rows = std::max(loaded.plan.max_rows, loaded.plan.prefill_rows);
  params.n_ubatch = static_cast<uint32_t>(rows);
  // llama.cpp reserves an output for each sequence, and aborts where a batch cannot hold them all.
  params.n_batch = static_cast<uint32_t>(std::max(rows, loaded.plan.sequences()));
  params.n_seq_max = static_cast<uint32_t>(loaded.plan.sequences());
  params.n_threads = loaded.threads;
  params.n_threads_batch = loaded.threads;
  params.type_k = TypeOf(options.kv_type);
  params.type_v = TypeOf(options.kv_type);
  params.kv_unified = !loaded.plan.streams;
  params.no_perf = true;
  params.flash_attn_type = options.flash_attention == Toggle::kOff  ? LLAMA_FLASH_ATTN_TYPE_DISABLED
                           : options.flash_attention == Toggle::kOn ? LLAMA_FLASH_ATTN_TYPE_ENABLED
                                                                    : LLAMA_FLASH_ATTN_TYPE_AUTO;
  return params;
}

// Whether no layer leaves this machine's CPUs.
bool IsOnCpu(const LlamaOptions& options, const Placement& placement) {
  return options.rpc_servers.empty() && (placement.layers == 0 || !HasGpu());
}

Result<ModelHandle> LoadWeights(const LlamaOptions& options, Weights weights, LoadedModel* loaded) {
  llama_model_params params = llama_model_default_params();
  if (loaded->rpc_servers != nullptr) {
    params.devices = loaded->rpc_servers->devices().data();
  }
  params.main_gpu = options.main_gpu;
  llama_context_params context = ContextParams(options, *loaded);
  context.n_ctx *= static_cast<uint32_t>(loaded->plan.contexts);  // all lie on the same GPUs
  loaded->placement =
      Fitted(std::move(loaded->placement), options.model_path.c_str(), params, context);
  const Placement& placement = loaded->placement;
  params.n_gpu_layers = placement.layers;
  if (!placement.split.empty()) {
    params.tensor_split = placement.split.data();
  }
  if (!placement.kept.empty()) {
    params.tensor_buft_overrides = placement.kept.data();
  }
  if (weights == Weights::kMeasure) {
    params.no_alloc = true;
    params.load_mode = LLAMA_LOAD_MODE_NONE;
  }
  const LogCapture log;
  const AssertionGuard guard;
  ModelHandle model;
  try {
    model.reset(llama_model_load_from_file(options.model_path.c_str(), params));
  } catch (const std::runtime_error&) {
    // the guard knows why
  }
  if (model == nullptr) {
    const std::string reason =
        guard.failure().empty() ? log.Reason("llama.cpp gave no reason") : guard.failure();
    return WeightsError(options, reason, IsOnCpu(options, placement));
  }
  return model;
}

// Finds the servers, if any, and the memory that there is where the layers lie.
Status ConnectServers(const LlamaOptions& options, LoadedModel* loaded) {
  loaded->available_bytes = AvailableBytes();
  if (options.rpc_servers.empty()) {
    return {};
  }
  Result<std::unique_ptr<RpcServers>> servers = RpcServers::Connect(options.rpc_servers);
  if (!servers) {
    return servers.error();
  }
  loaded->rpc_servers = std::move(*servers);
  loaded->available_bytes = loaded->rpc_servers->FreeBytes();
  return {};
}

bool IsRecurrent(const llama_model* model) {
  return llama_model_is_recurrent(model) || llama_model_is_hybrid(model);
}

// Whether a lane's cells stay in the order of its positions, so that nothing about other lanes
// changes how its attention sums are rounded. Of servers it is assumed: they hide what they compute
// on.
bool KeepsOrder(const llama_model* model, const LlamaOptions& options, const Placement& placement) {
  return options.flash_attention != Toggle::kOff &&
         (placement.layers == 0 || !options.rpc_servers.empty()) && llama_model_n_swa(model) == 0 &&
         !IsRecurrent(model);
}

// Whether attention can read the visible cells of each row and no others. Of what the model itself
// may bring (ALiBi, soft caps, odd sizes of heads) it is not asked: then ggml jumps over the
// others.
bool ReadsOwnCells(const LlamaOptions& options, const Placement& placement) {
  return IsOnCpu(options, placement) && options.kv_type == KvType::kF16 &&
         options.flash_attention != Toggle::kOff && HasPoolAttention();
}

// Backends, servers, and where weights and KV cells are to lie.
Status PlanPlaces(const LlamaOptions& options, const GgufHeader& header, Weights weights,
                  LoadedModel& loaded) {
  if (Status status = LoadBackends(options.backend_dir); !status) {
    return status;
  }
  loaded.info.cpu_backend = CpuBackendName();
  if (Status status = ConnectServers(options, &loaded); !status) {
    return status;
  }
  loaded.placement = RequestedPlacement(options, HasGpu());
  const double limit = weights == Weights::kMeasure ? std::numeric_limits<double>::infinity()
                                                    : loaded.available_bytes;
  const int train = loaded.info.context_train_tokens;
  const ModelShape shape{train,
                         loaded.bytes_per_cell,
                         IsPlain(header, loaded.info),
                         loaded.available_bytes,
                         IsOnCpu(options, loaded.placement),
                         ReadsOwnCells(options, loaded.placement)};
  const Result<ContextPlan> plan = PlanContext(options, shape, limit);
  if (!plan) {
    return plan.error();
  }
  loaded.plan = *plan;
  loaded.context_tokens = std::min(train, plan->streams ? plan->stream_cells : plan->cells);
  return {};
}

// What only the loaded model tells. Errors: where it cannot be used.
Status DescribeLoaded(const LlamaOptions& options, LoadedModel& loaded) {
  const llama_model* model = loaded.model.get();
  loaded.info.gpu_layers = IsOnCpu(options, loaded.placement)
                               ? 0
                               : LayersOnDevices(loaded.placement, llama_model_n_layer(model));
  const llama_vocab* vocabulary = llama_model_get_vocab(model);
  if (llama_vocab_type(vocabulary) == LLAMA_VOCAB_TYPE_NONE) {
    return Error{ErrorCode::kDataLoss,
                 "model file " + Quoted(options.model_path) +
                     " has no tokenizer, so that it can read no text; convert the model again"};
  }
  loaded.info.vocab_size = llama_vocab_n_tokens(vocabulary);
  loaded.recurrent = IsRecurrent(model);
  if (loaded.recurrent && loaded.plan.streams) {
    return Error{ErrorCode::kUnsupported,
                 "a model with a recurrent state has no KV buffer for each lane; use --kv unified"};
  }
  loaded.ordered_cells = KeepsOrder(model, options, loaded.placement);
  return {};
}

}  // namespace

Error WeightsError(const LlamaOptions& options, const std::string& reason, bool on_cpu) {
  const std::string file = "model file " + Quoted(options.model_path);
  const auto says = [&reason](const char* words) {
    return reason.find(words) != std::string::npos;
  };
  if (says("allocat") || says("out of memory")) {  // as ggml's backends and llama.cpp say it
    return {ErrorCode::kResourceExhausted,
            file + " does not fit into memory: " + reason +
                (on_cpu ? "; free some, or use a smaller model"
                        : "; give a smaller --gpu-layers, free memory of the GPU, or use a smaller "
                          "model")};
  }
  const bool unknown = says("unknown model architecture");
  return {unknown ? ErrorCode::kUnsupported : ErrorCode::kDataLoss,
          file + " cannot be loaded: " + reason +
              (unknown ? "; it needs a newer llama.cpp" : "; check the file, or convert it again")};
}

Result<LoadedModel> LoadModel(const LlamaOptions& options, Weights weights) {
  if (Status status = CheckOptions(options); !status) {
    return status.error();
  }
  const Result<GgufHeader> header = ReadAllParts(options.model_path);
  if (!header) {
    return header.error();
  }
  if (Status status = CheckCounts(*header, options.model_path); !status) {
    return status.error();
  }
  const CpuLoad load;
  LoadedModel loaded = Describe(*header, options);
  if (Status status = PlanPlaces(options, *header, weights, loaded); !status) {
    return status.error();
  }
  Result<ModelHandle> model = LoadWeights(options, weights, &loaded);
  if (!model) {
    return model.error();
  }
  loaded.model = std::move(*model);
  WatchConnections(options.rpc_servers);
  if (Status status = DescribeLoaded(options, loaded); !status) {
    return status.error();
  }
  const int cpus = AllowedCpus();
  loaded.threads = options.threads == 0 ? DefaultThreads(cpus, load.FreeCpus())
                                        : std::min(options.threads, cpus);
  if (weights == Weights::kMeasure) {
    return loaded;
  }
  Result<std::string> hash = FileHash(options.model_path);
  if (!hash) {
    return hash.error();
  }
  loaded.info.hash = std::move(*hash);
  loaded.threads_pool = ThreadPool::Make(loaded.threads);
  return loaded;
}

Result<ContextHandle> MakeContext(const LlamaOptions& options,
                                  ggml_backend_sched_eval_callback on_node, void* user_data,
                                  const LoadedModel& loaded) {
  llama_context_params params = ContextParams(options, loaded);
  params.cb_eval = on_node;
  params.cb_eval_user_data = user_data;
  const LogCapture log;
  const AssertionGuard guard;
  ContextHandle context;
  try {
    context.reset(llama_init_from_model(loaded.model.get(), params));
  } catch (const std::runtime_error&) {
    // the guard knows why
  }
  if (!guard.failure().empty()) {
    return Error{ErrorCode::kDataLoss, "model file " + Quoted(options.model_path) +
                                           " cannot be run: " + guard.failure() +
                                           "; check the file, and options such as --kv-type"};
  }
  if (context == nullptr) {
    const double bytes = loaded.bytes_per_cell * loaded.plan.physical_cells;
    return Error{ErrorCode::kResourceExhausted,
                 "a context of " + std::to_string(loaded.plan.cells) + " KV cells (" +
                     Gigabytes(bytes) +
                     ") cannot be made: " + log.Reason("llama.cpp gave no reason") +
                     (ggml_is_quantized(params.type_k) ? "; give a smaller --ctx or --kv-type f16"
                                                       : "; give a smaller --ctx")};
  }
  if (loaded.threads_pool != nullptr) {
    loaded.threads_pool->AttachTo(context.get());
  }
  return context;
}

}  // namespace hyper::llama

#include "src/engine/llama/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include "src/engine/llama/cpu_load.h"
#include "src/engine/llama/gguf/file_hash.h"
#include "src/engine/llama/kv/layout.h"
#include "src/engine/llama/rpc/watch.h"

namespace hyper::llama {
namespace {

constexpr int kMaxSequences = 256;  // LLAMA_MAX_SEQ
constexpr int kDefaultLanes = 132;  // the paper's peak at S_max 80: ceil(1.65 * 80)
// More rows take another attention kernel on CPUs, which rounds apart.
constexpr int kNarrowRows = 63;
constexpr int kWideRows = 256;
constexpr int kFastPrefillRows = 512;
constexpr int kDefaultCells = 32768;  // llama.cpp scans all cells at every fork and prune

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

Error OutOfRange(const std::string& name, int64_t value, const std::string& range) {
  return {ErrorCode::kInvalidArgument,
          name + " is " + std::to_string(value) + "; it takes " + range};
}

Status CheckOptions(const LlamaOptions& options) {
  if (options.context_cells < 0 || options.context_cells == 1) {
    return OutOfRange("the number of KV cells", options.context_cells, "2 or more, or 0 for auto");
  }
  if (options.max_lanes < 0 || options.max_lanes > kMostLanes) {
    return OutOfRange("the number of lanes", options.max_lanes,
                      "1 to " + std::to_string(kMostLanes) + ", or 0 for auto");
  }
  // A context of 240 lanes leaves 14 sequences for routes, one each for pads and graves.
  if (options.context_lanes < 0 || options.context_lanes > kMostContextLanes) {
    return OutOfRange("the number of lanes of one context", options.context_lanes,
                      "1 to " + std::to_string(kMostContextLanes) + ", or 0 for auto");
  }
  if (options.kv_layout == KvLayout::kStreams && options.strict) {
    return Error{ErrorCode::kInvalidArgument,
                 "a KV buffer for each lane cannot keep equal bytes; take --determinism fast, or "
                 "--kv unified"};
  }
  if (options.threads < 0) {
    return OutOfRange("the number of threads", options.threads,
                      "1 or more, or 0 for all CPUs that are free");
  }
  const int most_rows = options.strict ? kNarrowRows : kFastPrefillRows;
  const int least_rows = options.strict ? 2 : 1;
  if (options.max_forward_rows != 0 &&
      (options.max_forward_rows < least_rows || options.max_forward_rows > most_rows)) {
    return OutOfRange(
        "the number of rows of a forward", options.max_forward_rows,
        std::to_string(least_rows) + " to " + std::to_string(most_rows) + ", or 0 for auto");
  }
  return {};
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
    return Error{ErrorCode::kInvalidArgument,
                 "model file " + Quoted(path) + " is not the first of its " +
                     std::to_string(parts) +
                     " parts; give the path that ends in -00001-of-...gguf"};
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

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

ModelInfo Describe(const GgufHeader& header, const std::string& path) {
  ModelInfo info;
  info.architecture = header.Text("general.architecture", "");
  info.name = header.Text("general.name", std::filesystem::path(path).stem().string());
  const std::string& prefix = info.architecture;
  info.expert_count = static_cast<int>(header.Integer(prefix + ".expert_count", 0));
  info.expert_used_count = static_cast<int>(header.Integer(prefix + ".expert_used_count", 0));
  for (const GgufTensor& tensor : header.tensors) {
    info.moe_layer_count += EndsWith(tensor.name, ".ffn_gate_inp.weight") ? 1 : 0;
  }
  info.bytes = header.file_bytes;
  info.has_chat_template = !header.Text("tokenizer.chat_template", "").empty();
  info.preset = header.Text("hyper.preset", "");
  return info;
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

std::string Gigabytes(double bytes) {
  const double tenths = std::round(bytes / 1e8);
  std::string text = std::to_string(static_cast<int64_t>(tenths));
  text = text.size() < 2 ? "0" + text : text;
  return text.substr(0, text.size() - 1) + "." + text.back() + " GB";
}

// What the plan of a context depends on besides the options.
struct ModelShape {
  int train_tokens = 0;
  double bytes_per_cell = 0;
  bool plain = false;    // attention over the whole history in every layer, and no experts
  double available = 0;  // bytes of memory, where the layers lie
  bool on_cpu = false;   // all of it, attention too
};

// Cells of each context where none were asked for.
int64_t DefaultCells(const ContextPlan& plan, const ModelShape& shape, double available) {
  int64_t cells = std::min<int64_t>(int64_t{plan.lanes} * shape.train_tokens,
                                    std::max(kDefaultCells, shape.train_tokens));
  if (shape.bytes_per_cell > 0 && std::isfinite(available)) {
    cells =
        std::min(cells, static_cast<int64_t>(available / 4 / plan.contexts / shape.bytes_per_cell));
  }
  return std::max<int64_t>(cells, 256);
}

Error TooManyCells(int64_t cells, double bytes, double available) {
  return {ErrorCode::kResourceExhausted,
          "a context of " + std::to_string(cells) + " KV cells (--ctx) needs " +
              std::to_string(static_cast<int64_t>(bytes)) + " bytes (" + Gigabytes(bytes) +
              ") and " + Gigabytes(available) + " of memory are available; give a smaller --ctx"};
}

// Rows, sequences and cells; kResourceExhausted when the cells take more than `limit` bytes.
Result<ContextPlan> PlanContext(const LlamaOptions& options, const ModelShape& shape,
                                double limit) {
  ContextPlan plan;
  const int lanes = options.max_lanes == 0 ? kDefaultLanes : options.max_lanes;
  const int most = options.context_lanes == 0 ? kMostContextLanes : options.context_lanes;
  plan.contexts = (lanes + most - 1) / most;
  plan.lanes = (lanes + plan.contexts - 1) / plan.contexts;
  // On CPUs the attention of more rows computes every product of theirs with every cell, though all
  // but a path's own are masked: wide pools are faster in parts (docs/design.md).
  const int rows = options.strict || shape.on_cpu ? kNarrowRows : kWideRows;
  plan.max_rows = options.max_forward_rows == 0 ? rows : options.max_forward_rows;
  plan.prefill_rows = options.strict ? plan.max_rows : kFastPrefillRows;
  plan.routes = std::min(plan.max_rows - 1, kMaxSequences - 2 - plan.lanes);
  plan.routes = std::max(plan.routes, 1);
  const double available = shape.available;
  int64_t cells = (int64_t{options.context_cells} + plan.contexts - 1) / plan.contexts;
  cells = options.context_cells == 0 ? DefaultCells(plan, shape, available)
                                     : std::max<int64_t>(cells, 2);
  LayoutCase layout;
  layout.wish = options.kv_layout;
  layout.possible = !options.strict && shape.plain;
  layout.lanes = plan.lanes;
  layout.sequences = plan.sequences();
  layout.cells = cells;
  layout.cells_given = options.context_cells > 0;
  layout.train_tokens = shape.train_tokens;
  layout.affordable_cells = shape.bytes_per_cell > 0 && std::isfinite(available)
                                ? available / 4 / plan.contexts / shape.bytes_per_cell
                                : std::numeric_limits<double>::infinity();
  const LayoutChoice choice = ChooseLayout(layout);
  plan.streams = choice.streams;
  if (plan.streams && options.max_forward_rows == 0) {
    plan.max_rows = kWideRows;  // each row has its own cells alone
  }
  const int64_t physical = plan.streams ? int64_t{choice.stream_cells} * plan.sequences()
                                        : (cells + kNarrowRows + 255) / 256 * 256;
  cells = plan.streams ? int64_t{choice.stream_cells} * plan.lanes : cells;
  plan.stream_cells = choice.stream_cells;
  const int64_t asked = (plan.streams ? physical : cells) * plan.contexts;
  const double bytes = static_cast<double>(asked) * shape.bytes_per_cell;
  // ggml keeps the sizes of tensors in 64 bits but counts cells in 32.
  if (bytes > limit || physical > std::numeric_limits<int32_t>::max() / 2) {
    return TooManyCells(asked, bytes, available);
  }
  plan.cells = static_cast<int>(cells);
  plan.physical_cells = static_cast<int>(physical);
  return plan;
}

Result<ModelHandle> LoadWeights(const LlamaOptions& options, Weights weights, RpcServers* servers) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  if (servers != nullptr) {
    params.devices = servers->devices().data();
    params.n_gpu_layers = options.gpu_layers == 0 ? -1 : options.gpu_layers;
  }
  params.main_gpu = options.main_gpu;
  if (weights == Weights::kMeasure) {
    params.no_alloc = true;
    params.load_mode = LLAMA_LOAD_MODE_NONE;
  }
  std::vector<float> split = options.tensor_split;
  if (!split.empty()) {
    split.resize(std::max(split.size(), llama_max_devices()), 0.0F);
    params.tensor_split = split.data();
  }
  const LogCapture log;
  ModelHandle model(llama_model_load_from_file(options.model_path.c_str(), params));
  if (model == nullptr) {
    const std::string reason = log.Reason("llama.cpp gave no reason");
    const bool unknown = reason.find("unknown model architecture") != std::string::npos;
    return Error{
        unknown ? ErrorCode::kUnsupported : ErrorCode::kDataLoss,
        "model file " + Quoted(options.model_path) + " cannot be loaded: " + reason +
            (unknown ? "; it needs a newer llama.cpp" : "; check the file, or convert it again")};
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

// Whether no layer leaves this machine's CPUs.
bool IsOnCpu(const LlamaOptions& options) {
  const bool gpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) != nullptr ||
                   ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU) != nullptr;
  return options.rpc_servers.empty() && (options.gpu_layers == 0 || !gpu);
}

bool IsRecurrent(const llama_model* model) {
  return llama_model_is_recurrent(model) || llama_model_is_hybrid(model);
}

// Whether a lane's cells stay in the order of its positions, so that nothing about other lanes
// changes how its attention sums are rounded. Of servers it is assumed: they hide what they compute
// on.
bool KeepsOrder(const llama_model* model, const LlamaOptions& options) {
  return options.flash_attention != Toggle::kOff &&
         (options.gpu_layers == 0 || !options.rpc_servers.empty()) &&
         llama_model_n_swa(model) == 0 && !IsRecurrent(model);
}

}  // namespace

Result<LoadedModel> LoadModel(const LlamaOptions& options, Weights weights) {
  if (Status status = CheckOptions(options); !status) {
    return status.error();
  }
  const Result<GgufHeader> header = ReadAllParts(options.model_path);
  if (!header) {
    return header.error();
  }
  const CpuLoad load;
  LoadedModel loaded;
  loaded.info = Describe(*header, options.model_path);
  loaded.info.has_chat_template = loaded.info.has_chat_template || !options.chat_template.empty();
  for (const GgufTensor& tensor : header->tensors) {
    loaded.router_bias = loaded.router_bias || EndsWith(tensor.name, ".ffn_gate_inp.bias");
  }
  loaded.names_end = header->values.count("tokenizer.ggml.eos_token_id") > 0;
  const std::string& prefix = loaded.info.architecture;
  const int train = static_cast<int>(header->Integer(prefix + ".context_length", 4096));
  loaded.info.context_train_tokens = train;
  loaded.bytes_per_cell = BytesPerCell(*header, prefix, TypeOf(options.kv_type));
  if (Status status = LoadBackends(options.backend_dir); !status) {
    return status.error();
  }
  loaded.info.cpu_backend = CpuBackendName();
  if (Status status = ConnectServers(options, &loaded); !status) {
    return status.error();
  }
  const double limit = weights == Weights::kMeasure ? std::numeric_limits<double>::infinity()
                                                    : loaded.available_bytes;
  const ModelShape shape{train, loaded.bytes_per_cell, IsPlain(*header, loaded.info),
                         loaded.available_bytes, IsOnCpu(options)};
  const Result<ContextPlan> plan = PlanContext(options, shape, limit);
  if (!plan) {
    return plan.error();
  }
  loaded.plan = *plan;
  loaded.context_tokens = std::min(train, plan->streams ? plan->stream_cells : plan->cells);
  Result<ModelHandle> model = LoadWeights(options, weights, loaded.rpc_servers.get());
  if (!model) {
    return model.error();
  }
  loaded.model = std::move(*model);
  WatchConnections(options.rpc_servers);
  loaded.info.vocab_size = llama_vocab_n_tokens(llama_model_get_vocab(loaded.model.get()));
  const int cpus = AllowedCpus();
  loaded.threads = options.threads == 0 ? DefaultThreads(cpus, load.FreeCpus())
                                        : std::min(options.threads, cpus);
  loaded.recurrent = IsRecurrent(loaded.model.get());
  if (loaded.recurrent && loaded.plan.streams) {
    return Error{
        ErrorCode::kUnsupported,
        "a model with a recurrent state has no KV buffer for each lane; take --kv unified"};
  }
  loaded.ordered_cells = KeepsOrder(loaded.model.get(), options);
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
  params.cb_eval = on_node;
  params.cb_eval_user_data = user_data;
  const LogCapture log;
  ContextHandle context(llama_init_from_model(loaded.model.get(), params));
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

// The engine that runs GGUF models in this process, through llama.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hyper/engine.h"
#include "hyper/names.h"
#include "hyper/option.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

// Element type of the KV cache.
enum class KvType { kF16, kF32, kBf16, kQ8_0, kQ4_0 };
template <>
inline constexpr std::array kNamesOf<KvType> = {"f16", "f32", "bf16", "q8_0", "q4_0"};

// How lanes lie in the KV cache.
enum class KvLayout {
  kAuto,     // what is faster (docs/kv-cost.md)
  kUnified,  // one buffer that all lanes share: forks only tag cells; needed for strict and routes
  kStreams,  // a buffer of its own for each lane: forks copy it, attention sees its own cells only
};
template <>
inline constexpr std::array kNamesOf<KvLayout> = {"auto", "unified", "streams"};

// Most lanes of an engine, and of one llama.cpp context; wider engines run over several.
inline constexpr int kMostLanes = 3840;
inline constexpr int kDefaultLanes = 132;  // the paper's peak at S_max 80: ceil(1.65 * 80)
inline constexpr int kMostContextLanes = 240;

// Three-valued switch; kAuto leaves the choice to the engine.
enum class Toggle { kAuto, kOff, kOn };
template <>
inline constexpr std::array kNamesOf<Toggle> = {"auto", "off", "on"};

// Of LlamaOptions::gpu_layers: as many as fit beside the KV cells, with RPC servers all; 0 where no
// backend has a GPU.
inline constexpr int kFitGpuLayers = -2;

// What a llama.cpp engine is made from. Zero means "choose" where the comment says auto.
struct LlamaOptions {
  std::string model_path;    // GGUF file; of a split model its first part
  int context_cells = 0;     // KV cells shared by all lanes, >= 2; 0 = auto
  int64_t needed_cells = 0;  // KV cells that the caller's runs may fill: taken where context_cells
                             // is 0, up to a quarter of the free memory; 0 = not known
  int max_lanes = 0;         // lanes open at once, [1, 3840]; 0 = auto (132)
  int context_lanes = 0;     // most lanes of one llama.cpp context, [1, 240]; 0 = auto (240). An
                             // engine with more lanes runs over several contexts of the model
  int threads = 0;           // CPU threads, >= 1, clamped to the CPUs allowed; 0 = those that are
                             // allowed and that other programs leave free while the model is read
  bool strict = true;        // equal seeds give equal bytes for any parallelism and thread count
  bool interleave = false;   // decode between two forwards of given tokens (prompts, scores): paths
                             // that decode never wait long for a prompt, at some throughput.
                             // Unless strict, a prompt's last forward draws its first token too
  int max_forward_rows = 0;  // rows of one decoding forward; strict: [2, 63]; 0 = auto: 63 if
                             // strict or if attention on CPUs reads the cells of all, else 256
  KvType kv_type = KvType::kF16;
  KvLayout kv_layout = KvLayout::kAuto;
  Toggle flash_attention = Toggle::kAuto;
  int gpu_layers = kFitGpuLayers;   // layers on GPUs and RPC servers; -1: all, with servers 0 too
  int main_gpu = 0;                 // index of the GPU to use if only one is used
  std::vector<float> tensor_split;  // share of each server, then GPU; empty: by free memory
  std::vector<std::string> rpc_servers;  // "host:port" of each ggml-rpc-server that carries
                                         // layers, in their order; empty: none
  std::string backend_dir;    // folder of ggml's backend libraries; empty: where llama.cpp is
  std::string chat_template;  // Jinja source in place of the model's own; empty: the model's
};

// The table of these options; see hyper/option.h. Not in it: `model_path` and what is for tests.
std::vector<Option> OptionsOf(LlamaOptions& options);

// An engine on the model of `options`, ready for Open.
// Errors, each one line with value, reason and remedy: kNotFound (no such file), kInvalidArgument
// (an option out of range, a folder, no permission), kDataLoss (a file that is empty, not GGUF,
// broken or cut), kResourceExhausted (the KV cache does not fit in memory), kUnsupported (the
// architecture, or RPC servers without llama.cpp's RPC backend), kUnavailable (an RPC server does
// not answer). Cost: loads the weights. The engine belongs to one thread at a time.
Result<std::unique_ptr<Engine>> MakeLlamaEngine(const LlamaOptions& options);

// Called when an RPC server is lost while an engine uses it. llama.cpp cannot continue then and
// ends the process with abort(). The handler is called first, on any thread, with kUnavailable and
// a line that names the server. It may print and end the process its own way (std::_Exit), but must
// not use an engine.
using LostServerHandler = void (*)(const Error& error);

// Sets the handler of the process; null: llama.cpp's own message and backtrace. Call it before the
// engines are made; any thread. A program with RPC servers should also ignore SIGPIPE.
void SetLostServerHandler(LostServerHandler handler);

// Memory of an engine, in bytes, before it is made.
struct MemoryPlan {
  ModelInfo model;              // without hash and vocabulary size
  int64_t weights_bytes = 0;    // all devices together
  int64_t context_bytes = 0;    // KV cache, and the state of recurrent models
  int64_t compute_bytes = 0;    // what a forward needs besides
  int64_t available_bytes = 0;  // main memory that is free now, with RPC servers that of their
                                // devices; -1 where it cannot be told
  int cells = 0;                // KV cells that the lanes share
  int lanes = 0;                // most lanes open at once
  int contexts = 1;             // of llama.cpp, which share the weights; cells and lanes are split
  bool streams = false;         // each lane has a buffer of its own
  double bytes_per_cell = 0;    // by the header: all layers, whether they keep KV or not
  bool recurrent = false;       // each lane keeps a state of fixed size besides
  int64_t total_bytes() const { return weights_bytes + context_bytes + compute_bytes; }
};

// What MakeLlamaEngine(options) would take, by llama.cpp's own account; the weights are not read.
// Unlike MakeLlamaEngine it succeeds even if memory is short. Errors: as MakeLlamaEngine.
Result<MemoryPlan> PlanLlamaMemory(const LlamaOptions& options);

// Renders the messages with the Jinja source of a chat template, up to the opening of the model's
// turn. It is for models that run elsewhere; BOS and EOS are empty texts. `arguments`: JSON values
// by name, as Engine::RenderChat takes them.
// Errors: kInvalidArgument (the template cannot be read, or refuses the messages). Pure.
Result<std::string> RenderChatTemplate(
    const std::string& source, std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> arguments);

}  // namespace hyper
#pragma GCC visibility pop

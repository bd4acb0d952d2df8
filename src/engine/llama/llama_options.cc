// The option table of the engine in this process.
#include "hyper/llama_engine.h"

namespace hyper {

std::vector<Option> OptionsOf(LlamaOptions& o) {
  constexpr const char* kMemory = "KV cache";
  constexpr const char* kDevices = "Devices";
  constexpr double kMostInt = 2147483647;
  return {
      {o.context_cells,
       {.name = "ctx",
        .help = "KV cells (tokens) that all paths share; 0: as the run may need",
        .bounds = Between(0, kMostInt),
        .group = kMemory,
        .takes = "0 (automatic) or 2 to 2147483647 KV cells, one for each token",
        .alias = "kv-budget"}},
      {o.max_lanes,
       {.name = "max-lanes",
        .help = "paths and routes decoded at once; 0: as the run may need",
        .bounds = Between(0, kMostLanes),
        .group = kMemory}},
      // A context of 240 lanes leaves 14 sequences for routes, one each for pads and graves.
      {o.context_lanes,
       {.name = "context-lanes",
        .help = "lanes of one llama.cpp context; 0: 240",
        .bounds = Between(0, kMostContextLanes),
        .group = kMemory}},
      {o.kv_type, {.name = "kv-type", .help = "element type of the KV cache", .group = kMemory}},
      {o.kv_layout,
       {.name = "kv",
        .help = "KV cache: unified (shared by all paths), streams (a buffer each, needs "
                "--determinism fast)",
        .group = kMemory}},
      {o.flash_attention,
       {.name = "flash-attention", .help = "fused attention of llama.cpp", .group = kMemory}},
      {o.threads,
       {.name = "threads",
        .help = "CPU threads; 0: the allowed ones that are free",
        .bounds = Between(0, 1024),
        .group = kDevices}},
      {o.gpu_layers,
       {.name = "gpu-layers",
        .help = "layers on the GPU; auto: all that fit, and with --rpc all",
        .brief_help = "layers of the model on GPUs [auto: all that fit]",
        .bounds = Between(kFitGpuLayers, 65536),
        .group = kDevices,
        .takes = "auto, -1 for all, or 0 to 65536",
        .automatic = true}},
      {o.main_gpu,
       {.name = "main-gpu",
        .help = "the GPU to use if only one is used",
        .bounds = Between(0, 1024),
        .group = kDevices}},
      {o.tensor_split,
       {.name = "tensor-split",
        .help = "shares of the servers of --rpc, then of the GPUs, such as 3,1; empty: by free "
                "memory",
        .bounds = From(0),
        .group = kDevices,
        .takes = "shares of the GPUs, numbers from 0 such as 3,1"}},
      {o.rpc_servers,
       {.name = "rpc",
        .help = "the model's layers on these ggml-rpc-servers, in their order",
        .group = kDevices,
        .takes = "host:port[,host:port]"}},
      {o.strict,
       {.name = "determinism",
        .help = "strict: equal seeds give equal bytes for any --threads; fast: equal in "
                "distribution",
        .group = kDevices,
        .words = {"fast", "strict"}}},
      {o.interleave,
       {.name = "interleave",
        .help = "decode between two forwards of prompts, so that no path waits long for one",
        .group = kDevices}},
      {o.backend_dir,
       {.name = "backend-dir",
        .help = "folder of ggml's backend libraries; empty: where llama.cpp is",
        .group = kDevices,
        .takes = "a folder"}},
      {o.chat_template,
       {.name = "chat-template",
        .help = "Jinja chat template in place of the model's own",
        .group = kDevices,
        .takes = "a template",
        .file = true}},
  };
}

}  // namespace hyper

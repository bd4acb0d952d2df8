#include "src/capi/engine_options.h"

#include "src/engine/llama/rpc/address.h"
#include "src/report/member_reader.h"

namespace hyper {

Result<LlamaOptions> ParseEngineOptions(const std::string& text, const std::string& model_path) {
  MemberReader reader(text);
  LlamaOptions options;
  std::string rpc;
  options.model_path = model_path;
  reader.Take("ctx", options.context_cells);
  reader.Take("max-lanes", options.max_lanes);
  reader.Take("context-lanes", options.context_lanes);
  reader.Take("threads", options.threads);
  reader.TakeWord("determinism", options.strict, {{"strict", true}, {"fast", false}});
  reader.TakeWord("kv-type", options.kv_type,
                  {{"f32", KvType::kF32},
                   {"f16", KvType::kF16},
                   {"bf16", KvType::kBf16},
                   {"q8_0", KvType::kQ8_0},
                   {"q4_0", KvType::kQ4_0}});
  reader.TakeWord("kv", options.kv_layout,
                  {{"auto", KvLayout::kAuto},
                   {"unified", KvLayout::kUnified},
                   {"streams", KvLayout::kStreams}});
  reader.TakeWord("flash-attention", options.flash_attention,
                  {{"auto", Toggle::kAuto}, {"off", Toggle::kOff}, {"on", Toggle::kOn}});
  reader.Take("gpu-layers", options.gpu_layers);
  reader.Take("main-gpu", options.main_gpu);
  reader.Take("rpc", rpc);
  reader.Take("backend-dir", options.backend_dir);
  reader.Take("chat-template", options.chat_template);
  Status status = reader.Finish();
  if (!status) {
    return status.error();
  }
  options.rpc_servers = llama::SplitRpcServers(rpc);
  return options;
}

}  // namespace hyper

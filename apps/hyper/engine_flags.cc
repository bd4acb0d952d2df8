#include "apps/hyper/engine_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <utility>

#include "apps/hyper/bundled_model.h"
#include "apps/hyper/command.h"
#include "apps/hyper/lost_server.h"
#include "apps/hyper/parse_value.h"
#include "apps/hyper/printers/plan_text.h"
#include "apps/hyper/scripted_engine.h"
#include "hyper/llama_engine.h"
#include "hyper/remote_engine.h"
#include "src/engine/llama/cpu_load.h"
#include "src/engine/llama/rpc/address.h"

namespace hyper::app {
namespace {

constexpr std::array<std::pair<std::string_view, KvType>, 5> kKvTypes{{{"f16", KvType::kF16},
                                                                       {"f32", KvType::kF32},
                                                                       {"bf16", KvType::kBf16},
                                                                       {"q8_0", KvType::kQ8_0},
                                                                       {"q4_0", KvType::kQ4_0}}};
constexpr std::array<std::pair<std::string_view, KvLayout>, 3> kLayouts{
    {{"auto", KvLayout::kAuto}, {"unified", KvLayout::kUnified}, {"streams", KvLayout::kStreams}}};
constexpr int kScriptedContext = 4096;

// The values of the flags, parsed.
struct Numbers {
  int cells = 0;
  int threads = 0;
  int gpu_layers = 0;
  int main_gpu = 0;
  std::vector<float> tensor_split;
  std::vector<std::string> rpc_servers;
};

// Shares of the GPUs, such as "3,1"; empty: none.
Result<std::vector<float>> ParseSplit(const std::string& text) {
  std::vector<float> shares;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    double share = 0;
    const std::string range = "shares of the GPUs, numbers >= 0 such as 3,1";
    if (Status status = ParseValue("tensor-split", part, range, share); !status) {
      return status.error();
    }
    if (!(share >= 0) || !std::isfinite(share)) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--tensor-split is {}; it takes {}", text, range)};
    }
    shares.push_back(static_cast<float>(share));
  }
  return shares;
}

Result<Numbers> ParseNumbers(const EngineFlags& flags) {
  Numbers numbers;
  const std::string cells_range = "0 (automatic) or 1..2147483647 KV cells, one for each token";
  const std::string threads_range = "0 (all) or 1..1024 threads";
  const std::string layers_range = "-1 (all) or 0..65536 layers";
  const std::string gpu_range = "0..1024, the number of a GPU";
  for (const Status& status :
       {ParseValue("ctx", flags.cells, cells_range, numbers.cells),
        ParseValue("threads", flags.threads, threads_range, numbers.threads),
        ParseValue("gpu-layers", flags.gpu_layers, layers_range, numbers.gpu_layers),
        ParseValue("main-gpu", flags.main_gpu, gpu_range, numbers.main_gpu)}) {
    if (!status) {
      return status.error();
    }
  }
  const auto outside = [](const char* name, int value, const std::string& range) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--{} is {}, outside its range; it takes {}", name, value, range)};
  };
  if (numbers.cells < 0) {
    return outside("ctx", numbers.cells, cells_range);
  }
  if (numbers.threads < 0 || numbers.threads > 1024) {
    return outside("threads", numbers.threads, threads_range);
  }
  if (numbers.gpu_layers < -1 || numbers.gpu_layers > 65536) {
    return outside("gpu-layers", numbers.gpu_layers, layers_range);
  }
  if (numbers.main_gpu < 0 || numbers.main_gpu > 1024) {
    return outside("main-gpu", numbers.main_gpu, gpu_range);
  }
  Result<std::vector<float>> split = ParseSplit(flags.tensor_split);
  if (!split) {
    return split.error();
  }
  numbers.tensor_split = std::move(*split);
  numbers.rpc_servers = llama::SplitRpcServers(flags.rpc);
  if (Status status = llama::CheckRpcServers(numbers.rpc_servers); !status) {
    return status.error();
  }
  return numbers;
}

Status CheckWord(const char* name, const std::string& value, const std::string& words) {
  const bool one_word = value.find(',') == std::string::npos;
  if (one_word && ("," + words + ",").find("," + value + ",") != std::string::npos) {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("--{} '{}' is not known; it takes one of {}", name, value, words)};
}

LlamaOptions LlamaOptionsOf(const EngineFlags& flags, const Numbers& numbers, int lanes) {
  LlamaOptions options;
  options.model_path = flags.model;
  options.context_cells = numbers.cells;
  options.max_lanes = std::min(lanes, kMostLanes);
  options.threads = numbers.threads;
  options.strict = flags.determinism == "strict";
  options.interleave = flags.interleave;
  options.gpu_layers = numbers.gpu_layers;
  options.main_gpu = numbers.main_gpu;
  options.tensor_split = numbers.tensor_split;
  options.rpc_servers = numbers.rpc_servers;
  options.kv_layout = std::find_if(kLayouts.begin(), kLayouts.end(), [&flags](const auto& entry) {
                        return entry.first == flags.kv;
                      })->second;
  options.kv_type = std::find_if(kKvTypes.begin(), kKvTypes.end(), [&flags](const auto& entry) {
                      return entry.first == flags.kv_type;
                    })->second;
  return options;
}

}  // namespace

void EngineFlags::AddTo(CLI::App& app) {
  const char* group = "Model and engine";
  app.add_option("--model", model,
                 "GGUF file of the model [the bundled one]; of servers, the model's name there")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--engine", engine,
                 "llama: llama.cpp in this process; http://host:port/v1[,...]: servers with an "
                 "OpenAI API; scripted: made-up texts, no model [llama]")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--ctx,--kv-budget", cells,
                 "KV cells (tokens) that all paths share; 0: as the run may need [0]")
      ->type_name("N")
      ->group(group);
  app.add_option("--kv-type", kv_type,
                 "element type of the KV cache (f16 f32 bf16 q8_0 q4_0) [f16]")
      ->type_name("WORD")
      ->group(group);
  app.add_option("--kv", kv,
                 "KV cache: unified (shared by all paths), streams (a buffer each, needs "
                 "--determinism fast) or auto [auto]")
      ->type_name("WORD")
      ->group(group);
  app.add_option("--threads", threads, "CPU threads; 0: the allowed ones that are free [0]")
      ->type_name("N")
      ->group(group);
  app.add_option("--gpu-layers", gpu_layers, "layers on the GPU; -1: all [0; with --rpc all]")
      ->type_name("N")
      ->group(group);
  app.add_option("--tensor-split", tensor_split,
                 "shares of the servers of --rpc, then of the GPUs, such as 3,1 [by free memory]")
      ->type_name("LIST")
      ->group(group);
  app.add_option("--main-gpu", main_gpu, "the GPU that is used where only one is [0]")
      ->type_name("N")
      ->group(group);
  app.add_option("--rpc", rpc,
                 "host:port[,...]: the model's layers on these ggml-rpc-servers, in their order "
                 "[none]")
      ->type_name("LIST")
      ->group(group);
  app.add_option(
         "--determinism", determinism,
         "strict: equal seeds give equal bytes for any --threads; fast: equal in distribution [" +
             determinism + "]")
      ->type_name("WORD")
      ->group(group);
  remote.AddTo(app);
}

Status CheckEngineFlags(EngineFlags& flags) {
  if (!flags.rpc.empty() && flags.engine != "llama") {
    return Error{ErrorCode::kInvalidArgument,
                 "--rpc is for --engine llama; with --engine " + flags.engine + " leave it out"};
  }
  if (IsRemote(flags.engine)) {
    flags.determinism = "fast";  // a server batches as it likes
    Result<RemoteOptions> options = RemoteOptionsOf(flags.remote, flags.engine, flags.model);
    return options ? Status() : Status(options.error());
  }
  Result<Numbers> numbers = ParseNumbers(flags);
  if (!numbers) {
    return numbers.error();
  }
  for (const Status& status : {CheckWord("engine", flags.engine, "llama,scripted"),
                               CheckWord("determinism", flags.determinism, "strict,fast"),
                               CheckWord("kv", flags.kv, "auto,unified,streams"),
                               CheckWord("kv-type", flags.kv_type, "f16,f32,bf16,q8_0,q4_0")}) {
    if (!status) {
      return status;
    }
  }
  if (flags.kv == "streams" && flags.determinism == "strict") {
    return Error{ErrorCode::kInvalidArgument,
                 "--kv streams cannot keep equal bytes; add --determinism fast"};
  }
  if (flags.engine == "scripted") {
    flags.model.clear();
    return {};
  }
  if (flags.model.empty()) {
    Result<std::string> bundled = BundledModel();
    if (!bundled) {
      return bundled.error();
    }
    flags.model = *bundled;
  }
  return {};
}

Result<std::unique_ptr<Engine>> MakeEngine(const char* command, const EngineFlags& flags,
                                           int lanes) {
  if (IsRemote(flags.engine)) {
    Result<RemoteOptions> options = RemoteOptionsOf(flags.remote, flags.engine, flags.model);
    return options ? MakeRemoteEngine(*options) : Result<std::unique_ptr<Engine>>(options.error());
  }
  Result<Numbers> numbers = ParseNumbers(flags);
  if (!numbers) {
    return numbers.error();
  }
  if (flags.engine == "scripted") {
    const int context =
        numbers->cells > 0 ? std::min(numbers->cells, kScriptedContext) : kScriptedContext;
    return MakeScriptedEngine(numbers->cells, context);
  }
  const int allowed = llama::AllowedCpus();
  if (numbers->threads > allowed) {
    Warn(command, fmt::format("--threads {} is more than the {} CPUs that may be used; {} it is",
                              numbers->threads, allowed, allowed));
  }
  if (!numbers->rpc_servers.empty()) {
    EndWhenServerIsLost(command);
  }
  return MakeLlamaEngine(LlamaOptionsOf(flags, *numbers, lanes));
}

int PrintPlan(const char* command, const EngineFlags& flags, int lanes, bool as_json) {
  if (flags.engine != "llama") {
    return Complain(command, {ErrorCode::kInvalidArgument,
                              "--plan measures a model; leave --engine " + flags.engine + " out"});
  }
  const Result<Numbers> numbers = ParseNumbers(flags);
  if (!numbers) {
    return Complain(command, numbers.error());
  }
  const Result<MemoryPlan> plan = PlanLlamaMemory(LlamaOptionsOf(flags, *numbers, lanes));
  if (!plan) {
    return Complain(command, plan.error());
  }
  if (!PrintResult(command, as_json ? PlanJsonText(*plan) : PlanText(*plan, flags.kv_type))) {
    return kExitOutput;
  }
  const bool fits = plan->available_bytes < 0 || plan->total_bytes() <= plan->available_bytes;
  return fits ? kExitOk : ExitCodeOf({ErrorCode::kResourceExhausted, ""});
}

}  // namespace hyper::app

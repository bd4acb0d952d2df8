#include "apps/hyper/flags/engine_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/hyper/command.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/input/read_text.h"
#include "apps/hyper/input/secret.h"
#include "apps/hyper/lost_server.h"
#include "apps/hyper/models/bundled_model.h"
#include "apps/hyper/models/model_sources.h"
#include "apps/hyper/printers/plan_text.h"
#include "apps/hyper/scripted_engine.h"
#include "hyper/model_defaults.h"
#include "src/engine/llama/cpu_load.h"
#include "src/engine/llama/rpc/address.h"

namespace hyper::app {
namespace {

constexpr int kScriptedContext = 4096;

Result<std::string> ReadServerKey(const std::string& path) {
  if (!path.empty()) {
    return SecretFromFile(path);
  }
  return Trimmed(FromEnvironment({"HYPER_ENGINE_KEY", "OPENAI_API_KEY"}));
}

Status ReadServers(EngineFlags& flags) {
  RemoteOptions& remote = flags.remote;
  remote.urls.clear();
  for (size_t begin = 0; begin <= flags.engine.size();) {
    const size_t end = std::min(flags.engine.find(',', begin), flags.engine.size());
    if (end > begin) {
      remote.urls.push_back(flags.engine.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  remote.model = flags.model;
  Result<std::string> key = ReadServerKey(flags.api_key_file);
  if (!key) {
    return key.error();
  }
  remote.api_key = std::move(*key);
  return {};
}

}  // namespace

void AddServerFlags(CLI::App& app, EngineFlags& flags) {
  app.add_option("--engine-key-file", flags.api_key_file,
                 "file with the servers' API key [HYPER_ENGINE_KEY or OPENAI_API_KEY]")
      ->type_name("FILE")
      ->group("Servers");
  AddOptionFlags(app, OptionsOf(flags.remote), flags.given);
}

void EngineFlags::AddTo(CLI::App& app) {
  app.add_option(
         "-m,--model", model,
         "GGUF file of the model, or a name from 'hyper models list' [HYPER_MODEL, else the "
         "bundled one]; of servers, the model's name there")
      ->type_name("FILE")
      ->group("Model and engine");
  app.add_option("--engine", engine,
                 "llama: llama.cpp in this process; http://host:port/v1[,...]: servers with an "
                 "OpenAI API; scripted: random test text, no model [llama]")
      ->type_name("NAME")
      ->group("Model and engine");
  // A template serves either engine, and --max-lanes follows from the width.
  AddOptionFlags(app, OptionsOf(llama), given, {"max-lanes", "interleave", "chat-template"});
  AddServerFlags(app, *this);
}

void AddProfileFlag(CLI::App& app, EngineFlags& flags) {
  flags.profile = "auto";
  app.add_option("--profile", flags.profile,
                 "options by hyper calibrate, for --preset auto: auto (those that are kept for the "
                 "model's weights), none, or a file [auto]")
      ->type_name("FILE")
      ->group("Model and engine");
}

bool IsRemote(const std::string& engine) { return engine.find("://") != std::string::npos; }

Status CheckEngineFlags(EngineFlags& flags) {
  Status status = ApplyFlags(flags.given, OptionsOf(flags.llama));
  if (status) {
    status = ApplyFlags(flags.given, OptionsOf(flags.remote));
  }
  if (!status) {
    return status;
  }
  LlamaOptions& llama = flags.llama;
  if (!llama.rpc_servers.empty() && flags.engine != "llama") {
    return InvalidArgument("--rpc is for --engine llama; with --engine " + flags.engine +
                           " leave it out");
  }
  if (flags.engine != "llama" && flags.profile != "auto" && flags.profile != "none") {
    return InvalidArgument("--profile '" + flags.profile +
                           "' is for the weights of a model, and --engine " + flags.engine +
                           " does not show them; give its options as flags");
  }
  if (IsRemote(flags.engine)) {
    llama.strict = false;  // a server batches as it likes
    return ReadServers(flags);
  }
  if (flags.engine != "llama" && flags.engine != "scripted") {
    return InvalidArgument(
        fmt::format("--engine '{}' is not known; it takes llama, scripted or the URL of "
                    "a server",
                    flags.engine));
  }
  if (Status servers = llama::CheckRpcServers(llama.rpc_servers); !servers) {
    return servers;
  }
  if (llama.kv_layout == KvLayout::kStreams && llama.strict) {
    return InvalidArgument("--kv streams cannot keep equal bytes; add --determinism fast");
  }
  if (flags.engine == "scripted") {
    flags.model.clear();
    return {};
  }
  if (flags.model.empty()) {
    flags.model = FromEnvironment({"HYPER_MODEL"});
  }
  if (flags.model.empty()) {
    Result<std::string> bundled = BundledModel();
    if (!bundled) {
      return bundled.error();
    }
    flags.model = *bundled;
  }
  Result<std::string> model = FindModel(flags.model);
  if (!model) {
    return model.error();
  }
  flags.model = std::move(*model);
  llama.model_path = flags.model;
  Result<Profile> profile = FindProfile(flags.profile, flags.model);
  if (!profile) {
    return profile.error();
  }
  flags.calibrated = std::move(*profile);
  return {};
}

ModelInfo PeekModel(const EngineFlags& flags) {
  return flags.engine == "llama" ? ReadModelInfo(flags.model).value_or({}) : ModelInfo();
}

Result<std::unique_ptr<Engine>> MakeEngine(const char* command, const EngineFlags& flags,
                                           int lanes) {
  if (IsRemote(flags.engine)) {
    return MakeRemoteEngine(flags.remote);
  }
  const int cells = flags.llama.context_cells;
  if (flags.engine == "scripted") {
    return MakeScriptedEngine(cells,
                              cells > 0 ? std::min(cells, kScriptedContext) : kScriptedContext);
  }
  const int allowed = llama::AllowedCpus();
  if (flags.llama.threads > allowed) {
    Warn(command, fmt::format("--threads {} is more than the {} CPUs that may be used; using {}",
                              flags.llama.threads, allowed, allowed));
  }
  if (!flags.llama.rpc_servers.empty()) {
    EndWhenServerIsLost(command);
  }
  LlamaOptions options = flags.llama;
  options.max_lanes = std::min(lanes, kMostLanes);
  return MakeLlamaEngine(options);
}

int PrintPlan(const char* command, const EngineFlags& flags, int lanes, PathLength length,
              bool as_json) {
  if (flags.engine != "llama") {
    return Complain(command, InvalidArgument("--plan measures a model; leave --engine " +
                                             flags.engine + " out"));
  }
  LlamaOptions options = flags.llama;
  options.max_lanes = std::min(lanes, kMostLanes);
  const Result<MemoryPlan> plan = PlanLlamaMemory(options);
  if (!plan) {
    return Complain(command, plan.error());
  }
  const std::string kv_type = NameOf(options.kv_type);
  length.most = std::min(length.most, plan->model.context_train_tokens);
  if (!PrintResult(command,
                   as_json ? PlanJsonText(*plan, length) : PlanText(*plan, kv_type, length))) {
    return kExitOutput;
  }
  const bool fits = plan->available_bytes < 0 || plan->total_bytes() <= plan->available_bytes;
  return fits ? kExitOk : ExitCodeOf({ErrorCode::kResourceExhausted, ""});
}

}  // namespace hyper::app

// Which model runs, on what engine: flags that run and bench share.
#pragma once

#include <memory>
#include <string>

#include "apps/hyper/remote_flags.h"
#include "hyper/engine.h"
#include "hyper/result.h"

namespace CLI {
class App;
}

namespace hyper::app {

struct EngineFlags {
  std::string engine = "llama";  // "scripted": made-up texts; or URLs of servers
  std::string model;             // empty: the bundled model
  std::string determinism = "strict";
  std::string kv_type = "f16";
  std::string kv = "auto";       // layout of the KV cache
  std::string cells = "0";       // KV cells; 0: as many as the engine chooses
  std::string threads = "0";     // 0: the allowed ones that are free
  std::string gpu_layers = "0";  // -1: all
  std::string main_gpu = "0";
  std::string tensor_split;  // shares of the GPUs, such as 3,1
  bool interleave = false;   // no flag: a server decodes between two forwards of prompts
  std::string rpc;           // host:port[,...] of servers that carry layers
  RemoteFlags remote;

  // Adds the flags to `app`, which reads into this object.
  void AddTo(CLI::App& app);
};

// Checks the flags' values; resolves the model's path to `flags.model`. Cheap: loads nothing.
Status CheckEngineFlags(EngineFlags& flags);

// Prints the memory that the engine of checked flags would take, and what fits. Returns the exit
// code: 0, or 71 where it does not fit.
int PrintPlan(const char* command, const EngineFlags& flags, int lanes, bool as_json);

// Makes the engine of checked flags. `lanes`: lanes wanted at once, 0 leaves it to the engine.
// Warns, in the name of `command`, of more threads than CPUs. Errors: those of the engine.
Result<std::unique_ptr<Engine>> MakeEngine(const char* command, const EngineFlags& flags,
                                           int lanes);

}  // namespace hyper::app

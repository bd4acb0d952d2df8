// hyper serve: the OpenAI API and the page over one engine. Parse, build the objects in order, wait
// for a signal, end them in order.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "apps/hyper/bundled_model.h"
#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/engine_flags.h"
#include "apps/hyper/interrupt.h"
#include "apps/hyper/parse_value.h"
#include "apps/hyper/secret.h"
#include "apps/hyper/session_setup.h"
#include "hyper/method.h"
#include "src/server/http/http_server.h"

namespace hyper::app {
namespace {

constexpr const char* kServeCommand = "serve";
constexpr const char* kServeFooter = R"(Examples:
  hyper serve
  hyper serve --model qwen3.gguf --port 9000 --api-key-file key.txt
  hyper serve --store runs.db        # then also: hyper inspect runs.db run_3
  curl localhost:8080/v1/chat/completions -d '{"model": "tinymath:hyper",
    "messages": [{"role": "user", "content": "12 * (7 + 5) = ?"}]}'

The page is at http://127.0.0.1:8080/. Ctrl-C ends the server: it takes no more requests, waits for
those that run as --grace says, and cancels the rest. docs/server.md describes the API.
Exit codes are those of hyper run; 69 also where the port is taken.)";

// Flags as they are written, before they are checked.
struct ServeFlags {
  EngineFlags engine;
  std::string host = "127.0.0.1";
  std::string port = "8080";
  std::string api_key_file;
  std::string cors_origin;
  std::string name;
  std::string method = "hyper";
  std::string preset;
  std::string lanes = "0";
  std::string queue = "64";
  std::string prompt_cache = "8";
  std::string pools = "1";
  std::string keep = "100";
  std::string store;
  std::string store_runs = "10000";
  std::string store_age = "0";
  std::string connections = "256";
  std::string max_tokens = "32768";
  std::string plain_tokens = "2048";
  std::string time = "0";
  std::string grace = "10";
  bool verbose = false;
};

struct ServePlan {
  server::SchedulerOptions scheduler;
  server::HttpOptions http;
  server::ServerLimits limits;
  server::ArchiveOptions archive;  // no path: none
  int lanes = 0;
  double grace_s = 0;
};

void AddFlags(CLI::App& app, ServeFlags& flags) {
  const auto add = [&app](const char* name, std::string& value, const char* type,
                          const std::string& help, const char* group) {
    const std::string shown = value.empty() ? "" : " [" + value + "]";
    app.add_option(name, value, help + shown)->type_name(type)->group(group);
  };
  const char* network = "Network";
  add("--host", flags.host, "ADDRESS", "address to listen on", network);
  add("--port", flags.port, "N", "port to listen on; 0: any free one, which is printed", network);
  add("--api-key-file", flags.api_key_file, "FILE",
      "file with the key that clients must give; else the variable HYPER_API_KEY [none]", network);
  add("--cors-origin", flags.cors_origin, "ORIGIN",
      "origin of pages from elsewhere that may call; * is any [none]", network);
  add("--connections", flags.connections, "N", "connections served at once", network);
  const char* serving = "Serving";
  add("--name", flags.name, "NAME", "name of the model for clients [the file's]", serving);
  add("--method", flags.method, "NAME", "method where the model's name gives none", serving);
  add("--preset", flags.preset, "NAME", "paper or short [the model's]", serving);
  add("--lanes", flags.lanes, "N", "paths that all requests may decode at once; 0: automatic",
      serving);
  add("--queue", flags.queue, "N", "requests that may wait; beyond, clients get 429", serving);
  add("--pools", flags.pools, "N",
      "pools that share the KV cells, each with its part; 1: each has what its paths may need",
      serving);
  add("--prompt-cache", flags.prompt_cache, "N",
      "prompts whose KV is kept for requests that begin alike, while there is room", serving);
  add("--keep", flags.keep, "N", "finished runs that are kept in memory for the page", serving);
  add("--store", flags.store, "FILE",
      "also keep finished runs in this study, which hyper inspect and export read [none]", serving);
  add("--store-max-runs", flags.store_runs, "N", "runs that the study keeps, the newest", serving);
  add("--store-max-age", flags.store_age, "DURATION", "age of runs that it keeps; 0: any", serving);
  add("--max-tokens", flags.max_tokens, "N", "tokens of one path at most", serving);
  add("--plain-tokens", flags.plain_tokens, "N",
      "tokens of plain decoding where a request gives no limit", serving);
  add("--time", flags.time, "DURATION", "time of one request at most; 0: no limit", serving);
  add("--grace", flags.grace, "DURATION", "time to finish running requests at the end", serving);
  app.add_flag("--verbose", flags.verbose, "print a line for each request to stderr")
      ->group(serving);
  flags.engine.determinism = "fast";
  flags.engine.interleave = true;
  flags.engine.AddTo(app);
}

Status ParseCount(const char* name, const std::string& text, int lowest, int highest, int& value) {
  const std::string range = fmt::format("{}..{}", lowest, highest);
  Status status = ParseValue(name, text, range, value);
  if (status && (value < lowest || value > highest)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--{} is {}, outside its range; it takes {}", name, value, range)};
  }
  return status;
}

// A duration, or 0 for none.
Result<double> ParseLimit(const char* name, const std::string& text) {
  return text == "0" ? Result<double>(0.0) : ParseDuration(name, text);
}

Result<std::string> ReadOwnKey(const std::string& path) {
  if (path.empty()) return FromEnvironment({"HYPER_API_KEY"});
  Result<std::string> key = SecretFromFile(path);
  if (key && key->empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--api-key-file {} is empty; it takes a file with a key", path)};
  }
  return key;
}

Status CheckMethod(const std::string& name) {
  if (name == server::kPlainMethod) {
    return {};
  }
  MethodOptions options;
  const Status status = ApplyMethodDefaults(name, options);
  return status ? status : Status(Error{ErrorCode::kInvalidArgument, status.error().message});
}

Result<ServePlan> PlanOf(const ServeFlags& flags) {
  constexpr int kMost = 1 << 20;
  ServePlan plan;
  int store_runs = 0;
  plan.http.host = flags.host;
  plan.http.cors_origin = flags.cors_origin;
  plan.limits.default_method = flags.method;
  for (const Status& status :
       {ParseCount("port", flags.port, 0, 65535, plan.http.port),
        ParseCount("lanes", flags.lanes, 0, 4096, plan.lanes),
        ParseCount("queue", flags.queue, 1, kMost, plan.scheduler.most_waiting),
        ParseCount("pools", flags.pools, 1, 4096, plan.scheduler.pools),
        ParseCount("prompt-cache", flags.prompt_cache, 0, 4096, plan.scheduler.most_prompts),
        ParseCount("keep", flags.keep, 0, kMost, plan.scheduler.most_kept),
        ParseCount("store-max-runs", flags.store_runs, 1, 1 << 30, store_runs),
        ParseCount("connections", flags.connections, 1, 4096, plan.http.most_connections),
        ParseCount("max-tokens", flags.max_tokens, 1, kMost, plan.limits.most_tokens),
        ParseCount("plain-tokens", flags.plain_tokens, 1, kMost, plan.limits.plain_tokens),
        CheckMethod(flags.method)}) {
    if (!status) {
      return status.error();
    }
  }
  const Result<double> time = ParseLimit("time", flags.time);
  const Result<double> grace = ParseLimit("grace", flags.grace);
  const Result<double> store_age = ParseLimit("store-max-age", flags.store_age);
  Result<std::string> key = ReadOwnKey(flags.api_key_file);
  for (const Status& status :
       {time ? Status() : Status(time.error()), grace ? Status() : Status(grace.error()),
        store_age ? Status() : Status(store_age.error()), key ? Status() : Status(key.error())}) {
    if (!status) {
      return status.error();
    }
  }
  plan.limits.most_time_s = *time;
  plan.grace_s = *grace;
  plan.archive.path = flags.store;
  plan.archive.engine = fmt::format("{} kv={}", flags.engine.engine, flags.engine.kv_type);
  plan.archive.version = HYPER_VERSION;
  plan.archive.most_runs = store_runs;
  plan.archive.most_age_s = *store_age;
  plan.http.api_key = std::move(*key);
  if (flags.verbose) {
    plan.http.log = [](const std::string& method, const std::string& path, int status) {
      Tell(fmt::format("{} {} {}\n", OneLine(method), OneLine(path), status));
    };
  }
  return plan;
}

// "tinymath" for the bundled model, else the file's name without its ending.
std::string NameOf(const ServeFlags& flags) {
  if (!flags.name.empty()) {
    return flags.name;
  }
  if (flags.engine.model.empty()) {
    return flags.engine.engine;
  }
  const std::string stem = std::filesystem::path(flags.engine.model).stem().string();
  return stem.rfind("tinymath", 0) == 0 ? "tinymath" : stem;
}

void Describe(const ServeFlags& flags, const Engine& engine, server::ServerLimits& limits) {
  limits.model_name = NameOf(flags);
  limits.preset =
      flags.preset.empty() ? PresetFor(engine.model().preset, flags.engine.model) : flags.preset;
  limits.vocab_size = engine.model().vocab_size;
  limits.most_lanes = engine.capabilities().max_lanes;
  limits.routing = engine.capabilities().routing;
  for (const auto& [name, value] : ModelSampling(flags.engine)) {
    limits.sampling[name] = std::strtod(value.c_str(), nullptr);
  }
}

int Serve(const ServeFlags& flags, ServePlan plan) {
  const InterruptGuard interrupt;
  EngineFlags engine_flags = flags.engine;
  engine_flags.remote.max_lanes = plan.lanes;
  Result<std::unique_ptr<Engine>> engine = MakeEngine(kServeCommand, engine_flags, plan.lanes);
  if (!engine) {
    return Complain(kServeCommand, engine.error());
  }
  Describe(flags, **engine, plan.limits);
  if (Result<MethodOptions> preset = Preset(plan.limits.preset); !preset) {
    return Complain(kServeCommand, preset.error());
  }
  std::unique_ptr<server::RunArchive> archive;
  if (!plan.archive.path.empty()) {
    Result<std::unique_ptr<server::RunArchive>> opened = server::RunArchive::Open(plan.archive);
    if (!opened) {
      return Complain(kServeCommand, opened.error());
    }
    archive = std::move(*opened);
    plan.scheduler.archive = archive.get();
  }
  server::Scheduler scheduler(**engine, plan.scheduler);
  Result<std::unique_ptr<server::HttpServer>> server =
      server::HttpServer::Listen(scheduler, plan.limits, plan.http);
  if (!server) {
    return Complain(kServeCommand, server.error());
  }
  if (!PrintResult(kServeCommand,
                   fmt::format("hyper serves {} at http://{}:{}/\n", plan.limits.model_name,
                               plan.http.host, (*server)->port()))) {
    return kExitOutput;
  }
  while (!interrupt.interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  Tell("hyper serve: ending; a second Ctrl-C ends at once\n");
  scheduler.Shutdown(plan.grace_s);
  (*server)->Stop();
  if (archive != nullptr) {
    archive->Flush();
    if (archive->lost() > 0) {
      Tell(fmt::format("hyper serve: {} runs could not be stored: {}\n", archive->lost(),
                       OneLine(archive->last_error())));
    }
  }
  return kExitOk;
}

}  // namespace

int ServeCommand(int argc, const char* const* argv) {
  ServeFlags flags;
  CLI::App app("Serves the OpenAI API, every client with HyPER, and a page that shows the pool.");
  SetUpParser(app, kServeCommand, kServeFooter);
  AddFlags(app, flags);
  if (std::optional<int> exit_code = ParseCommandLine(app, kServeCommand, argc, argv)) {
    return *exit_code;
  }
  if (Status status = CheckEngineFlags(flags.engine); !status) {
    return Complain(kServeCommand, status.error());
  }
  Result<ServePlan> plan = PlanOf(flags);
  if (!plan) {
    return Complain(kServeCommand, plan.error());
  }
  return Serve(flags, std::move(*plan));
}

}  // namespace hyper::app

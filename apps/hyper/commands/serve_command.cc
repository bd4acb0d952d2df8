// hyper serve: the OpenAI API and the page over one engine. Parse, build the objects in order, wait
// for a signal, end them in order.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/engine_flags.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/input/client_keys.h"
#include "apps/hyper/input/secret.h"
#include "apps/hyper/interrupt.h"
#include "hyper/ask.h"
#include "hyper/llama_engine.h"
#include "src/server/http/http_server.h"

namespace hyper::app {
namespace {

constexpr const char* kServeCommand = "serve";
constexpr const char* kServeFooter = R"(Examples:
  hyper serve
  hyper serve --model qwen3.gguf --port 9000 --api-key-file key.txt
  hyper serve --store runs.db        # then also: hyper inspect runs.db RUN_ID
  curl localhost:8080/v1/chat/completions -d '{"model": "tinymath:hyper",
    "messages": [{"role": "user",
                  "content": "Solve 5x+43=173 for x."}]}'

The page is at http://127.0.0.1:8080/. Ctrl-C ends the server: it takes no more requests, waits for
those that run as --grace says, and cancels the rest. docs/server.md describes the API.
Exit codes are those of hyper run; 69 also if the port is taken.)";

constexpr auto kServeEveryday = std::to_array<EverydayOption>({
    {"--host"},
    {"--port", "port to listen on; 0: any free one [8080]"},
    {"--api-key-file", "file with the key of clients [HYPER_API_KEY]"},
    {"--keys-file", "file of several keys with limits"},
    {"--name", "name of the model for clients [the file's]"},
    {"--method"},
    {"--preset", "auto, paper or short [auto]"},
    {"--lanes", "paths decoded at once, of all requests [automatic]"},
    {"--queue-mb"},
    {"--store", "also keep all runs in this study [none]"},
    {"--max-tokens"},
    {"--time"},
    {"--grace"},
    {"--verbose"},
    kEverydayModel,
    kEverydayEngine,
    {"--gpu-layers"},
    {"--kv-budget", "KV cells (tokens) that all paths share [automatic]"},
    {"--threads"},
});

struct ServeFlags {
  EngineFlags engine;
  server::BookOptions book;
  server::SchedulerOptions scheduler;
  server::HttpOptions http;
  server::ServerLimits limits;
  server::ArchiveOptions archive;  // no path: none
  std::string api_key_file;
  std::string keys_file;
  std::string name;
  int lanes = 0;
  int queue_mb = 256;
  double grace_s = 10;
  bool without_key = false;
  bool verbose = false;
};

constexpr const char* kNetwork = "Network";
constexpr const char* kServing = "Serving";
constexpr int kMost = 1 << 20;

std::vector<Option> NetworkOptions(ServeFlags& flags) {
  return {
      {flags.http.host, {.name = "host", .help = "address to listen on", .group = kNetwork}},
      {flags.http.port,
       {.name = "port",
        .help = "port to listen on; 0: any free one, which is printed",
        .bounds = Between(0, 65535),
        .group = kNetwork}},
      {flags.api_key_file,
       {.name = "api-key-file",
        .help = "file with the key that clients must give; else the variable HYPER_API_KEY",
        .group = kNetwork}},
      {flags.keys_file,
       {.name = "keys-file",
        .help = "file with the keys of several clients, their limits and what they see",
        .group = kNetwork}},
      {flags.http.allowed_hosts,
       {.name = "allowed-host",
        .help = "names by which clients call this server, as behind a proxy; empty: those of the "
                "loopback there, elsewhere any",
        .group = kNetwork}},
      {flags.http.cors_origin,
       {.name = "cors-origin",
        .help = "origin of other sites' pages that may call; *: any",
        .group = kNetwork}},
      {flags.http.most_connections,
       {.name = "connections",
        .help = "connections served at once",
        .bounds = Between(1, 4096),
        .group = kNetwork}},
      {flags.http.most_per_address,
       {.name = "connections-per-address",
        .help = "of these, connections of one client's address; 0: all on the loopback, half of "
                "them elsewhere",
        .bounds = Between(0, 4096),
        .group = kNetwork}},
  };
}

// What is decoded, and how much at once.
std::vector<Option> PoolOptions(ServeFlags& flags) {
  return {
      {flags.name,
       {.name = "name",
        .help = "name of the model for clients; empty: the file's",
        .group = kServing}},
      {flags.limits.plain_names,
       {.name = "plain-name",
        .help = "other names of the model, for plain decoding: for clients that ask for titles and "
                "tags",
        .group = kServing}},
      {flags.limits.default_method,
       {.name = "method", .help = "method if the model's name gives none", .group = kServing}},
      {flags.limits.preset,
       {.name = "preset", .help = "auto, paper or short; empty: auto", .group = kServing}},
      {flags.lanes,
       {.name = "lanes",
        .help = "paths that all requests may decode at once; 0: automatic",
        .bounds = Between(0, 4096),
        .group = kServing}},
      {flags.scheduler.plain_lanes,
       {.name = "plain-lanes",
        .help =
            "lanes beside --lanes, and with them a quarter of the KV cells, that pools leave to "
            "plain decoding; none for a remote engine with --lanes",
        .bounds = Between(0, 4096),
        .group = kServing}},
      {flags.queue_mb,
       {.name = "queue-mb",
        .help = "memory of requests that wait, in MiB; further ones get a 429",
        .bounds = Between(1, kMost),
        .group = kServing}},
      {flags.scheduler.pools,
       {.name = "pools",
        .help = "pools that share the KV cells, each with its part; 1: each has what its paths may "
                "need",
        .bounds = Between(1, 4096),
        .group = kServing}},
      {flags.scheduler.most_prompts,
       {.name = "prompt-cache",
        .help =
            "prompts whose KV is kept for requests that begin in the same way, while there is room",
        .bounds = Between(0, 4096),
        .group = kServing}},
  };
}

// Finished runs.
std::vector<Option> KeptOptions(ServeFlags& flags) {
  return {
      {flags.book.most_kept,
       {.name = "keep",
        .help = "finished runs that are kept in memory for the page",
        .bounds = Between(0, kMost),
        .group = kServing}},
      {flags.archive.path,
       {.name = "store",
        .help = "also keep all runs, from their start, in this study, which hyper inspect and "
                "export read",
        .group = kServing}},
      {flags.archive.most_runs,
       {.name = "store-max-runs",
        .help = "runs that the study keeps, the newest",
        .bounds = Between(1, 1 << 30),
        .group = kServing}},
      {flags.archive.most_age_s,
       {.name = "store-max-age",
        .help = "age of runs that it keeps; 0: any",
        .bounds = From(0),
        .group = kServing,
        .seconds = true}},
  };
}

std::vector<Option> LimitOptions(ServeFlags& flags) {
  return {
      {flags.limits.most_tokens,
       {.name = "max-tokens",
        .help = "tokens of one path at most",
        .bounds = Between(1, kMost),
        .group = kServing}},
      {flags.limits.plain_tokens,
       {.name = "plain-tokens",
        .help = "tokens of plain decoding if a request gives no limit",
        .bounds = Between(1, kMost),
        .group = kServing}},
      {flags.limits.most_time_s,
       {.name = "time",
        .help = "time of one request at most; 0: no limit",
        .bounds = From(0),
        .group = kServing,
        .seconds = true}},
      {flags.grace_s,
       {.name = "grace",
        .help = "time to finish running requests at the end",
        .bounds = From(0),
        .group = kServing,
        .seconds = true}},
  };
}

std::vector<Option> OwnOptions(ServeFlags& flags) {
  std::vector<Option> all;
  for (const std::vector<Option>& part :
       {NetworkOptions(flags), PoolOptions(flags), KeptOptions(flags), LimitOptions(flags)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Result<std::string> ReadOwnKey(const std::string& path) {
  if (path.empty()) {
    return FromEnvironment({"HYPER_API_KEY"});
  }
  Result<std::string> key = SecretFromFile(path);
  if (key && key->empty()) {
    return InvalidArgument(
        fmt::format("--api-key-file {} is empty; it takes a file with a key", path));
  }
  return key;
}

// A method and a preset that there are; the model's own does not matter here.
Status CheckMethod(const server::ServerLimits& limits) {
  const bool plain = limits.default_method == server::kPlainMethod;
  const Result<RunPlan> plan =
      ResolveRun({plain ? server::kPlainPlan : limits.default_method, limits.preset, {}, {}}, {});
  return plan ? Status() : Status(InvalidArgument(plan.error().message));
}

// Reads what was given, and refuses what no model could make valid.
Status Check(const OptionValues& given, ServeFlags& flags) {
  for (const Status& status : {ApplyFlags(given, OwnOptions(flags)), CheckEngineFlags(flags.engine),
                               CheckMethod(flags.limits)}) {
    if (!status) {
      return status;
    }
  }
  Result<std::string> key = ReadOwnKey(flags.api_key_file);
  if (!key) {
    return key.error();
  }
  if (!flags.keys_file.empty()) {
    Result<std::vector<server::ClientKey>> keys = ReadClientKeys(flags.keys_file);
    if (!keys) {
      return keys.error();
    }
    flags.http.keys = std::move(*keys);
  }
  if (!key->empty()) {
    flags.http.keys.push_back(server::KeyOf(*key));
  }
  const bool loopback = server::IsLoopback(flags.http.host);
  if (flags.http.keys.empty() && !flags.without_key && !loopback) {
    return InvalidArgument(
        fmt::format("--host {} lets other machines in, and there is no key; give --api-key-file, "
                    "--keys-file or HYPER_API_KEY, or --without-key if anyone may use the server",
                    flags.http.host));
  }
  if (flags.http.most_per_address == 0 && !loopback) {
    flags.http.most_per_address = std::max(1, flags.http.most_connections / 2);
  }
  flags.archive.engine =
      fmt::format("{} kv={}", flags.engine.engine, NameOf(flags.engine.llama.kv_type));
  flags.archive.version = HYPER_VERSION;
  if (flags.verbose) {
    flags.http.log = [](const std::string& line) { Tell(line + "\n"); };
  }
  return {};
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

int Serve(ServeFlags flags) {
  const InterruptGuard interrupt;
  if (IsRemote(flags.engine.engine) && flags.lanes > 0) {
    flags.scheduler.plain_lanes = 0;  // the server behind takes no more than that
  }
  const int plain = flags.scheduler.plain_lanes;
  const int lanes = flags.lanes > 0 ? flags.lanes : kDefaultLanes;
  flags.engine.remote.max_lanes =
      (flags.lanes > 0 ? flags.lanes : flags.engine.remote.max_lanes) + plain;
  flags.scheduler.waiting_bytes = static_cast<size_t>(flags.queue_mb) << 20U;
  Result<std::unique_ptr<Engine>> engine = MakeEngine(kServeCommand, flags.engine, lanes + plain);
  if (!engine) {
    return Complain(kServeCommand, engine.error());
  }
  server::ServerLimits& limits = flags.limits;
  limits.model_name = NameOf(flags);
  limits.model = (*engine)->model();
  limits.profile = flags.engine.calibrated.options;
  limits.most_lanes = std::max(1, (*engine)->capabilities().max_lanes - plain);
  limits.routing = (*engine)->capabilities().routing;
  std::unique_ptr<server::RunArchive> archive;
  flags.archive.on_failure = [](const std::string& reason) {
    Tell(fmt::format("hyper serve: runs cannot be stored: {}\n", OneLine(reason)));
  };
  if (!flags.archive.path.empty()) {
    Result<std::unique_ptr<server::RunArchive>> opened = server::RunArchive::Open(flags.archive);
    if (!opened) {
      return Complain(kServeCommand, opened.error());
    }
    archive = std::move(*opened);
    flags.book.archive = archive.get();
  }
  server::RunBook book(flags.book);
  server::Scheduler scheduler(**engine, book, flags.scheduler);
  Result<std::unique_ptr<server::HttpServer>> server =
      server::HttpServer::Listen(scheduler, flags.limits, flags.http);
  if (!server) {
    return Complain(kServeCommand, server.error());
  }
  if (!PrintResult(kServeCommand,
                   fmt::format("hyper serves {} at http://{}:{}/\n", flags.limits.model_name,
                               flags.http.host, (*server)->port()))) {
    return kExitOutput;
  }
  while (!interrupt.interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  Tell("hyper serve: ending; a second Ctrl-C ends at once\n");
  scheduler.Shutdown(flags.grace_s);
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
  flags.scheduler.plain_lanes = 16;  // before its default goes into the help
  CLI::App app("Serves HyPER through the OpenAI API, and a page that shows the pool.");
  SetUpParser(app, kServeCommand, kServeFooter);
  OptionValues given;
  AddOptionFlags(app, OwnOptions(flags), given);
  app.add_flag("--without-key", flags.without_key,
               "let clients on other machines in without a key; --host refuses it otherwise")
      ->group(kNetwork);
  app.add_flag("--verbose", flags.verbose, "print a line of JSON for each request to stderr")
      ->group("Serving");
  flags.engine.llama.strict = false;
  flags.engine.llama.interleave = true;
  flags.engine.AddTo(app);
  AddProfileFlag(app, flags.engine);
  const std::vector<EverydayOption> everyday =
      WithBriefHelp(kServeEveryday, OptionsOf(flags.engine.llama));
  if (std::optional<int> exit_code = ParseCommandLine(app, kServeCommand, argc, argv, everyday)) {
    return *exit_code;
  }
  if (Status status = Check(given, flags); !status) {
    return Complain(kServeCommand, status.error());
  }
  return Serve(std::move(flags));
}

}  // namespace hyper::app

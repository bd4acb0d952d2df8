// hyper serve: the OpenAI API and the page over one engine. Parse, build the objects in order, wait
// for a signal, end them in order.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/engine_flags.h"
#include "apps/hyper/flags/models_file.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/flags/serve_flags.h"
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
    {"--models", "file of several models, loaded on demand [none]"},
    {"--method"},
    {"--preset", "auto, paper or short [auto]"},
    {"--lanes", "paths decoded at once, of all requests [automatic]"},
    {"--queue-mb", "MiB of requests that wait; more get a 429 [256]"},
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

// The option that was given and is for one model only; empty: none.
std::string GivenForOne(const ServeFlags& flags) {
  return !flags.engine.model.empty()         ? "model"
         : flags.engine.engine != "llama"    ? "engine"
         : !flags.name.empty()               ? "name"
         : !flags.limits.plain_names.empty() ? "plain-name"
                                             : "";
}

// The one model, or the several of a file.
Status CheckModels(const OptionValues& given, ServeFlags& flags) {
  if (flags.models_file.empty()) {
    for (const char* option : {"most-models", "idle-unload", "load-wait"}) {
      if (Given(given, option)) {
        return InvalidArgument(fmt::format(
            "--{} is for the models of --models; leave it out, or give --models FILE", option));
      }
    }
    return CheckEngineFlags(flags.engine);
  }
  const EngineFlags& engine = flags.engine;
  if (const std::string option = GivenForOne(flags); !option.empty()) {
    return InvalidArgument(fmt::format(
        "--{} is for one model, and --models {} has several; {}", option, flags.models_file,
        option == "name" ? "leave it out" : "write it into their sections"));
  }
  Result<std::vector<ModelSection>> models = ReadModels(flags.models_file, engine);
  if (!models) {
    return models.error();
  }
  flags.models = std::move(*models);
  return {};
}

std::string EngineWords(const EngineFlags& engine) {
  return fmt::format("{} kv={}", engine.engine, NameOf(engine.llama.kv_type));
}

// What the store says of the engines of runs.
std::string EngineWords(const ServeFlags& flags) {
  if (flags.models.empty()) {
    return EngineWords(flags.engine);
  }
  std::vector<std::string> all;
  for (const ModelSection& model : flags.models) {
    all.push_back(model.name + ": " + EngineWords(model.engine));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

// Reads what was given, and refuses what no model could make valid.
Status Check(const OptionValues& given, ServeFlags& flags) {
  for (const Status& status : {ApplyFlags(given, ServeOptions(flags)), CheckModels(given, flags),
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
  flags.archive.engine = EngineWords(flags);
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

// Those of the scheduler of that engine.
server::SchedulerOptions SchedulerOf(const EngineFlags& engine, const ServeFlags& flags) {
  server::SchedulerOptions options = flags.scheduler;
  if (IsRemote(engine.engine) && flags.lanes > 0) {
    options.plain_lanes = 0;  // the server behind takes no more than that
  }
  options.waiting_bytes = static_cast<size_t>(flags.queue_mb) << 20U;
  return options;
}

Result<std::unique_ptr<Engine>> OpenEngine(EngineFlags engine, const ServeFlags& flags) {
  const int plain = SchedulerOf(engine, flags).plain_lanes;
  engine.remote.max_lanes = (flags.lanes > 0 ? flags.lanes : engine.remote.max_lanes) + plain;
  return MakeEngine(kServeCommand, engine, (flags.lanes > 0 ? flags.lanes : kDefaultLanes) + plain);
}

// None where runs are not stored.
Result<std::unique_ptr<server::RunArchive>> OpenArchive(ServeFlags& flags) {
  flags.archive.on_failure = [](const std::string& reason) {
    Tell(fmt::format("hyper serve: runs cannot be stored: {}\n", OneLine(reason)));
  };
  if (flags.archive.path.empty()) {
    return std::unique_ptr<server::RunArchive>();
  }
  return server::RunArchive::Open(flags.archive);
}

using Listening = Result<std::unique_ptr<server::HttpServer>>;

// Says where it serves `models`, waits for a signal, and ends all in order; the exit code.
int Await(const Listening& server, const std::string& models, const ServeFlags& flags,
          const InterruptGuard& interrupt, const std::function<void(double grace_s)>& shut_down) {
  if (!server) {
    return Complain(kServeCommand, server.error());
  }
  if (!PrintResult(kServeCommand, fmt::format("hyper serves {} at http://{}:{}/\n", models,
                                              flags.http.host, (*server)->port()))) {
    return kExitOutput;
  }
  while (!interrupt.interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  Tell("hyper serve: ending; a second Ctrl-C ends at once\n");
  shut_down(flags.grace_s);
  (*server)->Stop();
  if (server::RunArchive* archive = flags.book.archive) {
    archive->Flush();
    if (archive->lost() > 0) {
      Tell(fmt::format("hyper serve: {} runs could not be stored: {}\n", archive->lost(),
                       OneLine(archive->last_error())));
    }
  }
  return kExitOk;
}

int ServeOne(ServeFlags flags, const InterruptGuard& interrupt) {
  Result<std::unique_ptr<Engine>> engine = OpenEngine(flags.engine, flags);
  if (!engine) {
    return Complain(kServeCommand, engine.error());
  }
  server::ServerLimits& limits = flags.limits;
  limits.model_name = NameOf(flags);
  limits.profile = flags.engine.calibrated.options;
  const server::SchedulerOptions options = SchedulerOf(flags.engine, flags);
  server::SetEngine(**engine, options, limits);
  const Result<std::unique_ptr<server::RunArchive>> archive = OpenArchive(flags);
  if (!archive) {
    return Complain(kServeCommand, archive.error());
  }
  flags.book.archive = archive->get();
  server::RunBook book(flags.book);
  server::Scheduler scheduler(**engine, book, options);
  const Listening server = server::HttpServer::Listen(scheduler, limits, flags.http);
  return Await(server, limits.model_name, flags, interrupt,
               [&scheduler](double grace_s) { scheduler.Shutdown(grace_s); });
}

int ServeSeveral(ServeFlags flags, const InterruptGuard& interrupt) {
  std::vector<server::ServedModel> models;
  std::vector<std::string> names;
  for (const ModelSection& section : flags.models) {
    server::ServerLimits limits = flags.limits;
    limits.model_name = section.name;
    limits.plain_names = section.plain_names;
    limits.model = PeekModel(section.engine);
    limits.profile = section.engine.calibrated.options;
    models.push_back({std::move(limits), SchedulerOf(section.engine, flags),
                      [&flags, &section] { return OpenEngine(section.engine, flags); }});
    names.push_back(section.name);
  }
  const Result<std::unique_ptr<server::RunArchive>> archive = OpenArchive(flags);
  if (!archive) {
    return Complain(kServeCommand, archive.error());
  }
  flags.book.archive = archive->get();
  flags.host.on_failure = [](const std::string& name, const std::string& reason) {
    Tell(fmt::format("hyper serve: model '{}' cannot be loaded: {}\n", name, OneLine(reason)));
  };
  server::RunBook book(flags.book);
  server::ModelHost host(book, std::move(models), flags.host);
  const Listening server = server::HttpServer::Listen(host, flags.http);
  return Await(server, fmt::format("{}", fmt::join(names, ", ")), flags, interrupt,
               [&host](double grace_s) { host.Shutdown(grace_s); });
}

int Serve(ServeFlags flags) {
  const InterruptGuard interrupt;
  return flags.models.empty() ? ServeOne(std::move(flags), interrupt)
                              : ServeSeveral(std::move(flags), interrupt);
}

}  // namespace

int ServeCommand(int argc, const char* const* argv) {
  ServeFlags flags;
  flags.scheduler.plain_lanes = 16;  // before its default goes into the help
  CLI::App app("Serves HyPER through the OpenAI API, and a page that shows the pool.");
  SetUpParser(app, kServeCommand, kServeFooter);
  OptionValues given;
  AddOptionFlags(app, ServeOptions(flags), given);
  app.add_flag("--without-key", flags.without_key,
               "let clients on other machines in without a key; --host refuses it otherwise")
      ->group(kNetwork);
  app.add_flag("--verbose", flags.verbose, "print a line of JSON for each request to stderr")
      ->group(kServing);
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

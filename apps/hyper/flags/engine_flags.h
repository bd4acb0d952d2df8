// The flags that choose and shape the engine, shared by all commands that decode: those of the
// option tables of both engines, and what only a command line has.
#pragma once

#include <memory>
#include <string>

#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/models/profile.h"
#include "apps/hyper/printers/plan_text.h"
#include "hyper/engine.h"
#include "hyper/llama_engine.h"
#include "hyper/option.h"
#include "hyper/remote_engine.h"
#include "hyper/result.h"

namespace CLI {
class App;
}

namespace hyper::app {

// What the short help of a command says of its engine.
inline constexpr EverydayOption kEverydayModel{"--model",
                                               "GGUF file, or a name of 'models list' [bundled]"};
inline constexpr EverydayOption kEverydayEngine{"--engine",
                                                "llama, or the URL of a server [llama]"};

struct EngineFlags {
  std::string engine = "llama";  // "scripted": made-up texts; or URLs of servers
  std::string model;             // empty: the bundled model
  std::string api_key_file;      // of the servers; empty: a variable
  std::string profile = "none";  // auto, none or a file; see AddProfileFlag
  Profile calibrated = {};       // what that came to
  OptionValues given;            // flags of the tables, as they were written
  LlamaOptions llama;            // defaults before CheckEngineFlags, then with what was given
  RemoteOptions remote;          // the same

  // Adds the flags to `app`, which reads into this object.
  void AddTo(CLI::App& app);
};

// The flag of the model's profile, for commands that know preset `auto`; else there is none.
void AddProfileFlag(CLI::App& app, EngineFlags& flags);

// The flags of servers alone, for commands that know no other engine.
void AddServerFlags(CLI::App& app, EngineFlags& flags);

// Whether `engine` names servers.
bool IsRemote(const std::string& engine);

// Reads the given flags into `llama` and `remote`, fills in the bundled model or the file of a
// model that is given by name, and refuses values that no model could make valid. Errors:
// kInvalidArgument, kNotFound (no bundled model, or none of that name).
Status CheckEngineFlags(EngineFlags& flags);

// What is known of the model before it is loaded: its file's header. Of other engines, and of files
// that the engine will refuse with its own words, nothing.
ModelInfo PeekModel(const EngineFlags& flags);

// Prints the memory that MakeEngine would take; returns the exit code: 71 where it would not fit.
int PrintPlan(const char* command, const EngineFlags& flags, int lanes, PathLength length,
              bool as_json);

// The engine, made for `lanes` lanes and routes in use at once. Flags must have been checked.
Result<std::unique_ptr<Engine>> MakeEngine(const char* command, const EngineFlags& flags,
                                           int lanes);

}  // namespace hyper::app

// Flags of `hyper run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/hyper/engine_flags.h"
#include "apps/hyper/option_flags.h"
#include "hyper/extract.h"
#include "hyper/result.h"
#include "hyper/session.h"

namespace hyper::app {

inline constexpr const char* kRunCommand = "run";

struct RunFlags {
  EngineFlags engine;
  OptionFlags options;
  std::string question;  // argument; "-" is standard input
  std::string file;
  std::string instruction;
  bool has_instruction = false;
  std::string system;
  std::string method = "hyper";
  std::string preset;  // empty: chosen by the model
  std::optional<uint64_t> seed;
  SessionLimits limits;
  ExtractOptions extract;
  bool plan = false;  // print what memory the run would take, and no more
  bool json = false;
  bool timing = false;
  std::string trace;
  std::string live = "auto";
};

// Parses and checks all that can be known before the model is loaded. Returns an exit code where
// the program is done: --help, or an error, which has been printed.
std::optional<int> ParseRunFlags(int argc, const char* const* argv, RunFlags* flags);

}  // namespace hyper::app

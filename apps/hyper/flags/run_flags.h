// Flags of `hyper run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/hyper/flags/engine_flags.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/printers/live_view.h"
#include "hyper/ask.h"
#include "hyper/extract.h"
#include "hyper/result.h"
#include "hyper/session.h"

namespace hyper::app {

inline constexpr const char* kRunCommand = "run";

struct RunFlags {
  EngineFlags engine;
  RunRequest request;    // method, preset and its options
  std::string question;  // argument; "-" is standard input
  std::string file;
  std::string instruction;
  bool has_instruction = false;
  std::string system;
  uint64_t seed = 0;
  bool seed_given = false;  // else it is drawn
  SessionLimits limits;
  ExtractOptions extract;
  bool plan = false;  // print what memory the run would take, and no more
  bool json = false;
  bool timing = false;
  std::string trace;
  LiveWhen live = LiveWhen::kAuto;
};

// Parses and checks all that can be known before the model is loaded. Returns an exit code where
// the program is done: --help, or an error, which has been printed.
std::optional<int> ParseRunFlags(int argc, const char* const* argv, RunFlags* flags);

}  // namespace hyper::app

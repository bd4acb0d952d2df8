// Flags of `hyper run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/hyper/flags/engine_flags.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/printers/live_view.h"
#include "apps/hyper/printers/run_text.h"
#include "hyper/ask.h"
#include "hyper/extract.h"
#include "hyper/result.h"
#include "hyper/session.h"

namespace hyper::app {

inline constexpr const char* kRunCommand = "run";
inline constexpr const char* kChatCommand = "chat";
inline constexpr const char* kAgainCommand = "again";

// The options of the question and its method, and those of the program.
struct RunFlags : AskOptions {
  EngineFlags engine;
  std::string question;  // argument; "-" is standard input
  std::string file;
  std::string questions;  // a file of many questions
  std::string output;     // where the result goes; empty: stdout
  bool log = true;        // keep the run in the user's log
  // What was given, as "--name=value", but for the question, files of this run and the seed.
  std::vector<std::string> arguments;
  bool has_instruction = false;  // else the program adds its own
  bool seed_given = false;       // else it is drawn
  bool plan = false;             // print what memory the run would take, and no more
  Detail detail = Detail::kResult;
  std::string show;     // whose texts; empty: the winner's, folded
  bool stream = false;  // print the leading path's text as it grows
  bool json = false;
  bool timing = false;
  std::string trace;
  LiveWhen live = LiveWhen::kAuto;
};

// Parses and checks all that can be known before the model is loaded. Returns an exit code where
// the program is done: --help, or an error, which has been printed.
std::optional<int> ParseRunFlags(int argc, const char* const* argv, RunFlags* flags);

// The same for `hyper chat`, which takes no question.
std::optional<int> ParseChatFlags(int argc, const char* const* argv, RunFlags* flags);

// Reads what `hyper again` is to change: the options of a run as RunFlags::arguments has them, a
// seed with them, unchecked; `id` is the run's, or empty.
std::optional<int> ParseAgainFlags(int argc, const char* const* argv, std::string* id,
                                   std::vector<std::string>* changes);

}  // namespace hyper::app

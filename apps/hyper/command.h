// The subcommands of the program and what all of them share: exit codes and how they complain.
#pragma once

#include <string>
#include <utility>

#include "hyper/result.h"
#include "src/base/utf8.h"

namespace hyper::app {

// Exit codes; those above 63 follow sysexits.h. Shown by `hyper --help`.
inline constexpr int kExitOk = 0;             // done; a vote without an answer is an answer too
inline constexpr int kExitUsage = 64;         // a flag or value that is not valid
inline constexpr int kExitData = 65;          // a file is broken
inline constexpr int kExitNoInput = 66;       // a file that does not exist or cannot be read
inline constexpr int kExitUnavailable = 69;   // the model or engine lacks what is asked for
inline constexpr int kExitSoftware = 70;      // a bug
inline constexpr int kExitResources = 71;     // memory, KV cells or lanes ran out
inline constexpr int kExitOutput = 74;        // an output file cannot be written
inline constexpr int kExitInterrupted = 130;  // Ctrl-C; the vote so far was printed

// A subcommand. `run` gets the arguments from the command's name on and returns the exit code.
struct Command {
  const char* name;
  const char* summary;
  int (*run)(int argc, const char* const* argv);
};

int RunCommand(int argc, const char* const* argv);
int BenchCommand(int argc, const char* const* argv);
int EqualCommand(int argc, const char* const* argv);
int ExtractCommand(int argc, const char* const* argv);
int PlanCommand(int argc, const char* const* argv);
int ProbeCommand(int argc, const char* const* argv);
int CalibrateCommand(int argc, const char* const* argv);
int EvalCommand(int argc, const char* const* argv);
int SweepCommand(int argc, const char* const* argv);
int ServeCommand(int argc, const char* const* argv);
int InspectCommand(int argc, const char* const* argv);
int GradeCommand(int argc, const char* const* argv);
int CompareCommand(int argc, const char* const* argv);
int FiguresCommand(int argc, const char* const* argv);
int MergeCommand(int argc, const char* const* argv);
int ReportCommand(int argc, const char* const* argv);
int ExportCommand(int argc, const char* const* argv);
int ImportCommand(int argc, const char* const* argv);
int ChatCommand(int argc, const char* const* argv);
int AgainCommand(int argc, const char* const* argv);
int LogCommand(int argc, const char* const* argv);
int HelpCommand(int argc, const char* const* argv);
int CompleteCommand(int argc, const char* const* argv);

// Exit code of an error.
int ExitCodeOf(const Error& error);

// Writes `text` to stderr. Where that fails there is nobody to tell, and the work goes on.
void Tell(const std::string& text);

// Prints "hyper COMMAND: MESSAGE" as one line to stderr, control characters escaped; returns the
// exit code of the error.
int Complain(const char* command, const Error& error);

// As Complain, for what does not end the run: "hyper COMMAND: warning: TEXT".
void Warn(const char* command, const std::string& text);

// Writes `text` to stdout and flushes it. False where it cannot be written: after a complaint, but
// for a reader that has gone, who has what it wanted.
bool PrintResult(const char* command, const std::string& text);

using base::OneLine;

// `value` with two decimals, "-" where it is not finite.
std::string ShortNumber(double value);

}  // namespace hyper::app

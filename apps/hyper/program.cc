#include "apps/hyper/program.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/command_table.h"
#include "apps/hyper/plugin.h"
#include "src/report/nearest.h"

namespace hyper::app {
namespace {

int PrintText(const std::string& text) { return PrintResult("", text) ? kExitOk : kExitOutput; }

int Dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h") {
    return PrintText(ProgramHelp());
  }
  if (name == "--version") {
    return PrintText(std::string("hyper ") + HYPER_VERSION + "\n");
  }
  if (const Command* command = FindCommand(name)) {
    return command->run(argc - 1, argv + 1);
  }
  if (name.empty()) {
    Tell(ProgramHelp());
    return kExitUsage;
  }
  const std::string line = OneLine(std::string(name));
  const std::vector<std::string> methods = MethodNames();
  const bool topic =
      name == "methods" || std::find(methods.begin(), methods.end(), name) != methods.end();
  Tell("hyper: command '" + line + "' is not known" + DidYouMean(name, CommandNames()) +
       (topic ? "; try 'hyper help " + line + "'\n" : "; hyper --help lists the commands\n"));
  return kExitUsage;
}

}  // namespace

int RunProgram(int argc, const char* const* argv) {
  // A reader that goes away is a write error like any other.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const Result<std::vector<const char*>> arguments = LoadPlugins(argc, argv);
    if (!arguments) {
      Tell("hyper: " + OneLine(arguments.error().message) + "\n");
      return ExitCodeOf(arguments.error());
    }
    return Dispatch(static_cast<int>(arguments->size()), arguments->data());
  } catch (const std::exception& failure) {
    Tell("hyper: " + OneLine(failure.what()) +
         "; this is a bug or memory ran out, please report it\n");
    return kExitSoftware;
  }
}

}  // namespace hyper::app

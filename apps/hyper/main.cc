// hyper: answers hard questions with a pool of reasoning paths. Each subcommand is a file here.
#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/command_table.h"
#include "src/report/nearest.h"

namespace {

using hyper::app::Tell;

int Print(const std::string& text) {
  return hyper::app::PrintResult("", text) ? hyper::app::kExitOk : hyper::app::kExitOutput;
}

int Dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h") {
    return Print(hyper::app::ProgramHelp());
  }
  if (name == "--version") {
    return Print(std::string("hyper ") + HYPER_VERSION + "\n");
  }
  if (const hyper::app::Command* command = hyper::app::FindCommand(name)) {
    return command->run(argc - 1, argv + 1);
  }
  if (name.empty()) {
    Tell(hyper::app::ProgramHelp());
    return hyper::app::kExitUsage;
  }
  const std::string line = hyper::app::OneLine(std::string(name));
  const std::vector<std::string> methods = hyper::MethodNames();
  const bool topic =
      name == "methods" || std::find(methods.begin(), methods.end(), name) != methods.end();
  Tell("hyper: command '" + line + "' is not known" +
       hyper::DidYouMean(name, hyper::app::CommandNames()) +
       (topic ? "; try 'hyper help " + line + "'\n" : "; hyper --help lists the commands\n"));
  return hyper::app::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away is a write error like any other.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return Dispatch(argc, argv);
  } catch (const std::exception& failure) {
    Tell("hyper: " + hyper::app::OneLine(failure.what()) +
         "; this is a bug or memory ran out, please report it\n");
    return hyper::app::kExitSoftware;
  }
}

// hyper: answers hard questions with a pool of reasoning paths. Each subcommand is a file here.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/data_command.h"

namespace {

using hyper::app::Command;

constexpr std::array kCommands{
    Command{"run", "answer a question", hyper::app::RunCommand},
    Command{"serve", "serve the OpenAI API and a page that shows the pool",
            hyper::app::ServeCommand},
    Command{"eval", "compare methods over a suite of questions, resumable",
            hyper::app::EvalCommand},
    Command{"inspect", "explain an answer of a study", hyper::app::InspectCommand},
    Command{"compare", "test two rows of studies against each other", hyper::app::CompareCommand},
    Command{"grade", "grade the answers of a study again", hyper::app::GradeCommand},
    Command{"export", "print a study as JSON lines or CSV", hyper::app::ExportCommand},
    Command{"data", "fetch the questions of a suite", hyper::app::DataCommand},
    Command{"bench", "measure tokens/s of plain decoding and where the time goes",
            hyper::app::BenchCommand},
    Command{"equal", "tell whether two mathematical answers are equal", hyper::app::EqualCommand},
    Command{"probe", "find out what a server with an OpenAI API can do", hyper::app::ProbeCommand},
    Command{"extract", "read the answer out of a generated text", hyper::app::ExtractCommand},
};

std::string Help() {
  std::string text = fmt::format(
      "hyper {}: test-time scaling of language models (HyPER)\n\n"
      "usage: hyper COMMAND [ARGUMENTS]; hyper COMMAND --help tells more\n\ncommands:\n",
      HYPER_VERSION);
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  return text +
         "\nexit codes:\n"
         "  0    done (also when no path had an answer)\n"
         "  64   a flag or value is not valid\n"
         "  65   a file is broken\n"
         "  66   a file does not exist or cannot be read\n"
         "  69   the model or engine cannot do what is asked\n"
         "  70   a bug in hyper\n"
         "  71   out of memory, KV cells or lanes\n"
         "  74   an output file could not be written\n"
         "  75   a server of --rpc went away; the same command may be given again\n"
         "  130  interrupted; the best vote so far was printed\n";
}

int Print(const std::string& text) {
  return hyper::app::PrintResult("", text) ? hyper::app::kExitOk : hyper::app::kExitOutput;
}

int Dispatch(int argc, const char* const* argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h" || name == "help") {
    return Print(Help());
  }
  if (name == "--version") {
    return Print(fmt::format("hyper {}\n", HYPER_VERSION));
  }
  for (const Command& command : kCommands) {
    if (name == command.name) {
      return command.run(argc - 1, argv + 1);
    }
  }
  if (name.empty()) {
    hyper::app::Tell(Help());
    return hyper::app::kExitUsage;
  }
  hyper::app::Tell(
      fmt::format("hyper: command '{}' is not known; hyper --help lists the commands\n",
                  hyper::app::OneLine(std::string(name))));
  return hyper::app::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away is a write error like any other.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return Dispatch(argc, argv);
  } catch (const std::exception& failure) {
    hyper::app::Tell(fmt::format("hyper: {}; this is a bug or memory ran out, please report it\n",
                                 hyper::app::OneLine(failure.what())));
    return hyper::app::kExitSoftware;
  }
}

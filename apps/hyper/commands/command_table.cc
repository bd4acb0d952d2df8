#include "apps/hyper/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/hyper/commands/data_command.h"
#include "apps/hyper/commands/models_command.h"

namespace hyper::app {
namespace {

constexpr std::array kCommands{
    Command{"run", "answer a question, or many from a file", RunCommand},
    Command{"chat", "answer questions in turn, with the conversation so far", ChatCommand},
    Command{"again", "repeat a run, with the same or other options", AgainCommand},
    Command{"log", "list the runs so far, or explain one", LogCommand},
    Command{"serve", "serve the OpenAI API and a page that shows the pool", ServeCommand},
    Command{"eval", "compare methods over a suite of questions, resumable", EvalCommand},
    Command{"sweep", "try values of options over a suite, resumable", SweepCommand},
    Command{"calibrate", "choose options that fit a model, by replaying its paths",
            CalibrateCommand},
    Command{"inspect", "explain an answer of a study", InspectCommand},
    Command{"compare", "test two rows of studies against each other", CompareCommand},
    Command{"grade", "grade the answers of a study again", GradeCommand},
    Command{"merge", "make one study of the parts of one", MergeCommand},
    Command{"figures", "draw the figures of a study, with their numbers", FiguresCommand},
    Command{"report", "write studies as one page of tables and figures", ReportCommand},
    Command{"export", "print a study as JSON lines or CSV", ExportCommand},
    Command{"import", "make a study of pools that others have published", ImportCommand},
    Command{"data", "fetch the questions of a suite", DataCommand},
    Command{"models", "list known models, and fetch one by its name", ModelsCommand},
    Command{"bench", "measure tokens/s of plain decoding and where the time goes", BenchCommand},
    Command{"equal", "tell whether two mathematical answers are equal", EqualCommand},
    Command{"probe", "find out what a server with an OpenAI API can do", ProbeCommand},
    Command{"plan", "simulate how much a number of servers would answer", PlanCommand},
    Command{"extract", "read the answer from a generated text", ExtractCommand},
    Command{"help", "explain a command or a method; 'help methods' lists those", HelpCommand},
    Command{"complete", "print a shell's completions, or write man pages", CompleteCommand},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

const Command* FindCommand(std::string_view name) {
  const auto at = std::find_if(kCommands.begin(), kCommands.end(),
                               [name](const Command& command) { return name == command.name; });
  return at == kCommands.end() ? nullptr : &*at;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands) {
    names.emplace_back(command.name);
  }
  return names;
}

std::string ProgramHelp() {
  std::string text = fmt::format(
      "hyper {}: test-time scaling of language models (HyPER)\n\n"
      "usage: hyper COMMAND [ARGUMENTS]; hyper COMMAND --help explains one\n\ncommands:\n",
      HYPER_VERSION);
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  return text +
         "\nbefore or after each command:\n"
         "  --plugin FILE  add methods of your own, from a .so or .py (docs/your-own-method.md)\n"
         "\nenvironment:\n"
         "  HYPER_MODEL  the model to use where --model is not given\n"
         "  HYPER_HUB    fetch models and questions from another hub\n"
         "  NO_COLOR     no colours\n"
         "~/.config/hyper/config.toml holds options, such as: model = \"qwen3.gguf\"\n"
         "\nexit codes:\n"
         "  0    done (also when no path had an answer)\n"
         "  64   a flag or value is not valid\n"
         "  65   a file is broken\n"
         "  66   a file does not exist or cannot be read\n"
         "  69   the model or engine cannot do what is asked\n"
         "  70   a bug in hyper\n"
         "  71   out of memory, KV cells or lanes\n"
         "  74   an output file could not be written\n"
         "  75   a server of --rpc was lost; give the same command again\n"
         "  130  interrupted; the vote so far, if any, was printed\n";
}

}  // namespace hyper::app

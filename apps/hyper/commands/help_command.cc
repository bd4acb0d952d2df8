// hyper help: a command or a method explained.
#include <string>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/command_table.h"
#include "apps/hyper/printers/help_text.h"
#include "src/report/nearest.h"

namespace hyper::app {
namespace {

constexpr const char* kHelpCommand = "help";

int Print(const std::string& text) {
  return PrintResult(kHelpCommand, text) ? kExitOk : kExitOutput;
}

}  // namespace

int HelpCommand(int argc, const char* const* argv) {
  const std::string topic = argc > 1 ? argv[1] : "";
  if (topic == "--help" || topic == "-h") {
    return Print(
        "usage: hyper help [COMMAND|METHOD|methods]\n\nExamples:\n  hyper help run\n"
        "  hyper help deepconf\n  hyper help methods\n");
  }
  if (topic.empty()) {
    return Print(ProgramHelp());
  }
  if (topic == "methods") {
    return Print(MethodList());
  }
  if (const Command* command = FindCommand(topic)) {
    const char* const arguments[] = {command->name, "--help"};
    return command->run(2, arguments);
  }
  const Result<std::string> text = MethodHelp(topic);
  if (text) {
    return Print(*text);
  }
  const std::string command = DidYouMean(topic, CommandNames());
  return Complain(
      kHelpCommand,
      InvalidArgument("'" + topic + "' is neither a command nor a method" +
                      (command.empty() ? DidYouMean(topic, MethodNames()) : command) +
                      "; 'hyper --help' lists the commands, 'hyper help methods' the methods"));
}

}  // namespace hyper::app

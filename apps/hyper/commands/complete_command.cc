// hyper complete: completion scripts and manual pages, made from the parsers of all commands.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/commands/command_table.h"
#include "apps/hyper/printers/shell_text.h"
#include "apps/hyper/write_text.h"
#include "src/report/nearest.h"

namespace hyper::app {
namespace {

constexpr const char* kCompleteCommand = "complete";
constexpr const char* kCompleteFooter = R"(Examples:
  hyper complete bash > ~/.local/share/bash-completion/completions/hyper
  hyper complete zsh > ~/.zfunc/_hyper
  hyper complete fish > ~/.config/fish/completions/hyper.fish
  hyper complete --all-into share

make install puts all of it where shells and man look. Exit codes are those of hyper run.)";

// All commands with their options; what they would do is left undone.
std::vector<ListedCommand> ListAll() {
  std::vector<ListedCommand> commands;
  for (const Command& command : Commands()) {
    ListedCommand listed;
    if (std::string(command.name) == "help") {
      listed.words = CommandNames();
      const std::vector<std::string> methods = MethodNames();
      listed.words.insert(listed.words.end(), methods.begin(), methods.end());
    } else {
      listed = ListOptions(command);
    }
    listed.name = command.name;
    listed.summary = command.summary;
    commands.push_back(std::move(listed));
  }
  return commands;
}

// Writes everything below `folder`, as it lies in share/ of an installation.
Status WriteAll(const std::string& folder, const std::vector<ListedCommand>& commands) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"bash-completion/completions/hyper", BashCompletion(commands)},
      {"zsh/site-functions/_hyper", ZshCompletion(commands)},
      {"fish/vendor_completions.d/hyper.fish", FishCompletion(commands)},
      {"man/man1/hyper.1", ProgramManual(commands, ProgramHelp())}};
  for (const ListedCommand& command : commands) {
    files.emplace_back("man/man1/hyper-" + command.name + ".1", CommandManual(command));
  }
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (Status status = WriteText(path, text); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

int CompleteCommand(int argc, const char* const* argv) {
  std::string shell;
  std::string folder;
  CLI::App app("Prints the completions of a shell, or writes those of all and the man pages.");
  SetUpParser(app, kCompleteCommand, kCompleteFooter);
  app.add_option("SHELL", shell, "bash, zsh or fish")->type_name("")->option_text("bash zsh fish");
  app.add_option("--all-into", folder, "write completions and man pages below this folder")
      ->type_name("FOLDER");
  if (const std::optional<int> done = ParseCommandLine(app, kCompleteCommand, argc, argv)) {
    return *done;
  }
  const std::vector<ListedCommand> commands = ListAll();
  if (!folder.empty()) {
    const Status status = WriteAll(folder, commands);
    return status ? kExitOk : Complain(kCompleteCommand, status.error());
  }
  std::string text;
  if (shell == "bash") {
    text = BashCompletion(commands);
  } else if (shell == "zsh") {
    text = ZshCompletion(commands);
  } else if (shell == "fish") {
    text = FishCompletion(commands);
  } else {
    return Complain(
        kCompleteCommand,
        InvalidArgument(fmt::format("shell '{}' is not known; it takes bash, zsh or fish", shell)));
  }
  return PrintResult(kCompleteCommand, text) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app

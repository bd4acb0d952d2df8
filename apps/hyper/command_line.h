// Command lines of the subcommands through CLI11: help in layers, errors in one line.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

#include "apps/hyper/command.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/printers/shell_text.h"

namespace hyper::app {

// Sets name, help layout (80 columns) and `footer` (examples) of a subcommand's parser.
void SetUpParser(CLI::App& app, const char* command, const std::string& footer);

// Where options may stand beside the command line: $XDG_CONFIG_HOME/hyper/config.toml, else
// ~/.config/hyper/config.toml; empty where neither is set.
std::string ConfigFile();

// Parses; what the command line does not give is taken from --config, else from ConfigFile where
// that exists: a key is the name of an option, at the top for all commands that have it, below
// [COMMAND] for one. Returns an exit code where the program is done: after --help, or after an
// error, which is printed with the way to the help and the option that may have been meant.
//   everyday  the options that --help shows, in the order in which they were added; all others are
//             left to --help-all. Empty: --help shows all
std::optional<int> ParseCommandLine(CLI::App& app, const char* command, int argc,
                                    const char* const* argv,
                                    std::span<const EverydayOption> everyday = {});

// The options of a command, as its parser has them; the command does nothing else.
ListedCommand ListOptions(const Command& command);

}  // namespace hyper::app

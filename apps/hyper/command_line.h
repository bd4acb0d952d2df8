// Command lines of the subcommands through CLI11, with errors in one line.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace hyper::app {

// Sets name, help layout and `footer` (examples) of a subcommand's parser.
void SetUpParser(CLI::App& app, const char* command, const std::string& footer);

// Parses; returns an exit code where the program is done: after --help, or after an error, which
// is printed with the way to the help.
std::optional<int> ParseCommandLine(CLI::App& app, const char* command, int argc,
                                    const char* const* argv);

}  // namespace hyper::app

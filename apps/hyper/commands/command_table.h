// The subcommands by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/hyper/command.h"

namespace hyper::app {

// All of them, in the order of the help.
std::span<const Command> Commands();

// Null where there is none of that name.
const Command* FindCommand(std::string_view name);

std::vector<std::string> CommandNames();

// What `hyper --help` prints.
std::string ProgramHelp();

}  // namespace hyper::app

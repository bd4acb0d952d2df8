// What shells and manuals know of the program, made from its parsers.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace hyper::app {

// An option as its parser has it.
struct ListedOption {
  std::string long_name;   // without dashes
  std::string short_name;  // one character, or empty
  std::string value;       // what it takes, such as "N"; empty: a flag
  std::string help;
  std::string group;
  std::vector<std::string> words;             // that it takes; empty: anything
  std::vector<std::string> other_names = {};  // further long names
  bool of_subcommand = false;
};

// An argument that stands by its place.
struct ListedArgument {
  std::string name;
  std::string help;
};

struct ListedCommand {
  std::string name;
  std::string summary;  // one line
  std::string footer;   // examples and remarks
  std::vector<ListedOption> options;
  std::vector<ListedArgument> arguments = {};
  std::vector<std::string> words = {};  // that may follow the command's name; empty: anything
};

// Completion scripts. Pure.
std::string BashCompletion(std::span<const ListedCommand> commands);
std::string ZshCompletion(std::span<const ListedCommand> commands);
std::string FishCompletion(std::span<const ListedCommand> commands);

// The manual page of a command, hyper-NAME(1), and that of the program, hyper(1). Pure.
std::string CommandManual(const ListedCommand& command);
std::string ProgramManual(std::span<const ListedCommand> commands, const std::string& help);

}  // namespace hyper::app

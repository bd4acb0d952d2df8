// The config file: options in TOML, read with the line of each, so that what is wrong can be found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"

namespace hyper::app {

// One "name = value".
struct ConfigEntry {
  std::string section;  // the command it is for; empty: all
  std::string name;
  std::vector<std::string> values;  // one; of an array any number
  bool is_array = false;
  int line = 0;  // from 1

  // As it is shown to a user: "width = 3", "rpc = [a, b]".
  std::string Text() const;
};

// Reads the part of TOML that options need: "name = value" below [section] or at the top, a value
// being a number, true, false, a text in single or double quotes, or an array of these. A word
// without quotes is a text too. "section.name = value" is an entry of the section. Errors:
// kInvalidArgument, beginning with the line's number. Pure.
Result<std::vector<ConfigEntry>> ParseConfig(std::string_view text);

// A "[name]".
struct ConfigSection {
  std::string name;
  int line = 0;  // from 1
};

// The sections of such a text in their order, those without an entry too. Errors: as ParseConfig.
Result<std::vector<ConfigSection>> ParseSections(std::string_view text);

// Remembers an entry of `file` that a command goes by, for ConfigOrigin.
void UseConfig(const std::string& file, ConfigEntry entry);

// Where the option that an error message names was set, as " (FILE:3: width = 0)"; empty where it
// comes from the command line or the message names none.
std::string ConfigOrigin(std::string_view message);

}  // namespace hyper::app

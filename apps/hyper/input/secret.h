// What comes from the environment or a file: keys above all, which the command line would show to
// other users of the machine.
#pragma once

#include <initializer_list>
#include <string>

#include "hyper/result.h"

namespace hyper::app {

// The first of these environment variables that holds something; empty where none does.
std::string FromEnvironment(std::initializer_list<const char*> names);

// The program's folder in the one that the variable names, else in `below_home` of HOME; empty
// where neither variable is set.
std::string UserFolder(const char* variable, const std::string& below_home);

// Where the program keeps what belongs to the user: $XDG_DATA_HOME/hyper, else
// ~/.local/share/hyper; empty where neither is set.
std::string DataFolder();

// What the file holds, trimmed. Errors: as ReadText.
Result<std::string> SecretFromFile(const std::string& path);

}  // namespace hyper::app

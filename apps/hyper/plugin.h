// Plugins of the program: methods, graders, suites and tables of your own, which
// `hyper --plugin FILE` adds to every command.
#pragma once

#include <vector>

#include "hyper/result.h"

namespace hyper::app {

// Loads each FILE of `--plugin FILE` among the arguments, and returns the other arguments. A FILE
// that ends in .py is for Python: the program goes on as `python3 -m hyper_decode`
// (HYPER_PYTHON: another interpreter) with the same arguments.
// Errors: kInvalidArgument (no FILE, or no plugin of this version), kNotFound (no such file),
// kUnavailable (no Python), those of the plugin.
Result<std::vector<const char*>> LoadPlugins(int argc, const char* const* argv);

}  // namespace hyper::app

// The program as a function.
#pragma once

namespace hyper::app {

// Runs the command that the arguments name, after the plugins of `--plugin`; `argv[0]` is the
// program's own name. Returns the exit code.
int RunProgram(int argc, const char* const* argv);

}  // namespace hyper::app

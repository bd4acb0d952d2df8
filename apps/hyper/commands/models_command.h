// The subcommand `models`.
#pragma once

namespace hyper::app {

// As RunCommand and the others of command.h.
int ModelsCommand(int argc, const char* const* argv);

}  // namespace hyper::app

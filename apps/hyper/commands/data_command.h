// The subcommand `data`.
#pragma once

namespace hyper::app {

// As RunCommand and the others of command.h.
int DataCommand(int argc, const char* const* argv);

}  // namespace hyper::app

// Draws figures with gnuplot, which is run as a program of its own.
#pragma once

#include <string>

#include "hyper/result.h"

namespace hyper::app {

// Runs gnuplot on a script of src/eval/figures/figure.h. What it prints goes to stderr.
//   folder  where the picture is written; ends in a slash
// Errors: kUnavailable (there is no gnuplot on the PATH; the message says what to install),
// kInternal (it failed on the script).
Status RunGnuplot(const std::string& script, const std::string& format, const std::string& folder);

}  // namespace hyper::app

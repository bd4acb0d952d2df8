// hyper eval --pool: methods over stored traces.
#pragma once

#include "apps/hyper/flags/eval_flags.h"

namespace hyper::app {

// Runs it and prints the tables; returns the exit code, errors having been printed.
int EvaluatePool(const EvalFlags& flags);

}  // namespace hyper::app

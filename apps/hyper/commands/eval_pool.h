// hyper eval --pool: methods over stored traces.
#pragma once

#include <string>

#include "apps/hyper/flags/eval_flags.h"
#include "hyper/result.h"
#include "src/eval/run/trace_pool.h"

namespace hyper::app {

// Stored traces, FILE or FILE:ROW: a study, or what eval::ParsePool reads.
// Errors: those of the file and of the pool.
Result<eval::TracePool> LoadPool(const std::string& argument);

// Runs it and prints the tables; returns the exit code, errors having been printed.
int EvaluatePool(const EvalFlags& flags);

}  // namespace hyper::app

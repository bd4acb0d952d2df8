// Changes of a live run: what a command does to its session. Recorded as notices.
#pragma once

#include "hyper/engine.h"
#include "src/server/api/run_command.h"
#include "src/server/scheduler/live_run.h"

namespace hyper::server {

// `number` tells it from all other commands, so that no two draw alike. On the scheduler's thread,
// between two steps; the session has started where the command is about its paths.
//   free_lanes  that it may reserve beyond its own
Steered Steer(Engine& engine, LiveRun& run, const RunCommand& command, int number, int free_lanes);

}  // namespace hyper::server

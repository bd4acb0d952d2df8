// /v1/runs: the runs that are kept, their records, and control of live ones.
#pragma once

#include "src/server/routes.h"
#include "src/server/scheduler.h"

namespace hyper {

void AddRunRoutes(Routes& routes, Scheduler& scheduler, double heartbeat_s);

}  // namespace hyper

// /v1/runs: the runs that are kept, their records, and control of live ones.
#pragma once

#include "src/server/http/routes.h"
#include "src/server/scheduler/scheduler.h"

namespace hyper::server {

void AddRunRoutes(Routes& routes, Scheduler& scheduler, double heartbeat_s);

}  // namespace hyper::server

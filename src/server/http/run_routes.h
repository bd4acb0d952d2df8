// /v1/runs: the runs that are kept, and their records.
#pragma once

#include "src/server/http/clients.h"
#include "src/server/http/routes.h"
#include "src/server/scheduler/scheduler.h"

namespace hyper::server {

// `scheduler` and `clients` must outlive the routes.
void AddRunRoutes(Routes& routes, Scheduler& scheduler, double heartbeat_s);

}  // namespace hyper::server

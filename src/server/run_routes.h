// /v1/runs: the runs that are kept, their records, and control of live ones.
#pragma once

#include <cpp-httplib/httplib.h>

#include "src/server/scheduler.h"

namespace hyper {

void AddRunRoutes(httplib::Server& server, Scheduler& scheduler, double heartbeat_s);

}  // namespace hyper

// /v1/runs: the runs that are kept, and their records.
#pragma once

#include "src/server/http/clients.h"
#include "src/server/http/routes.h"
#include "src/server/models/model_host.h"

namespace hyper::server {

// `host` must outlive the routes.
void AddRunRoutes(Routes& routes, ModelHost& host, double heartbeat_s);

}  // namespace hyper::server

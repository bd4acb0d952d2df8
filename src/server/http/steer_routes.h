// Changes of live runs: cancel them, prune, fork and extend their paths.
#pragma once

#include "src/server/api/request_json.h"
#include "src/server/http/clients.h"
#include "src/server/http/routes.h"
#include "src/server/models/model_host.h"

namespace hyper::server {

// All of them must outlive the routes.
void AddSteerRoutes(Routes& routes, ModelHost& host);

}  // namespace hyper::server

// /tokenize, /detokenize and /apply-template, as llama-server has them.
#pragma once

#include "src/server/api/request_json.h"
#include "src/server/http/routes.h"
#include "src/server/scheduler/scheduler.h"

namespace hyper::server {

// `scheduler` and `limits` must outlive the routes.
void AddTextRoutes(Routes& routes, Scheduler& scheduler, const ServerLimits& limits);

}  // namespace hyper::server

// /v1/models: the models that are served, and with each method.
#pragma once

#include "src/report/json.h"
#include "src/server/http/routes.h"
#include "src/server/models/model_host.h"

namespace hyper::server {

// `host` must outlive the routes.
void AddModelRoutes(Routes& routes, const ModelHost& host);

// The limits that the description of the API tells: of several models the widest.
ServerLimits DescribedLimits(const ModelHost& host);

}  // namespace hyper::server

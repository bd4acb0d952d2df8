// /tokenize, /detokenize and /apply-template, as llama-server has them.
#pragma once

#include "src/server/api/request_json.h"
#include "src/server/http/routes.h"
#include "src/server/models/model_host.h"

namespace hyper::server {

// `host` must outlive the routes.
void AddTextRoutes(Routes& routes, ModelHost& host);

}  // namespace hyper::server

// The OpenAPI description of the server: openapi.json, with what depends on options and limits.
#pragma once

#include "src/report/json.h"
#include "src/server/api/request_json.h"

namespace hyper::server {

// The body of /openapi.json: the embedded file, with every option of a method as a property of
// "hyper", and the limits of this server. Pure.
Json ApiDescription(const ServerLimits& limits);

}  // namespace hyper::server

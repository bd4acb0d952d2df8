// How a request is answered: the method behind the model's name, and the options of "hyper".
#pragma once

#include "src/server/api/field_reader.h"
#include "src/server/api/request_json.h"
#include "src/server/api/served_run.h"

namespace hyper::server {

// "model": the served name, or that name, a colon and a method; anything else is a 404.
void ReadModel(FieldReader& fields, const ServerLimits& limits, ApiRequest& api, ServedRun& run);

// "hyper": {"keep-reasoning": true}, which is needed before all else; ReadHyper checks its type.
bool KeepsReasoning(FieldReader& fields);

// "hyper": the request's own options, on top of preset and method. What is wrong with an option
// is said of "hyper.NAME".
void ReadHyper(FieldReader& fields, const ServerLimits& limits, ServedRun& run);

}  // namespace hyper::server

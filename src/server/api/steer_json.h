// Bodies of the requests that change live runs.
#pragma once

#include <string>
#include <variant>

#include "src/server/api/request_json.h"
#include "src/server/api/run_command.h"

namespace hyper::server {

// The command of that kind with what `body` says; an empty body is an empty object. Paths that an
// address names are left out. Pure.
std::variant<RunCommand, ApiError> ParseCommand(RunCommand::Kind kind, const std::string& body,
                                                const ServerLimits& limits);

}  // namespace hyper::server

// Forks of runs that have ended: each is a run of its own.
#pragma once

#include <cpp-httplib/httplib.h>

#include <optional>
#include <string>
#include <vector>

#include "hyper/types.h"
#include "src/report/json.h"
#include "src/server/api/request_json.h"
#include "src/server/api/run_command.h"
#include "src/server/models/model_host.h"

namespace hyper::server {

// The first `count` tokens of a path, inherited ones included, by the records of its run; nothing
// where some of them have no record. Pure.
std::optional<std::vector<Token>> FirstTokensOf(const std::vector<Json>& records, int path,
                                                int count);

// Opens a pool of `command.count` paths that goes on from the first `command.at` tokens of a path
// of a run that has ended, behind `command.text`, and sends its id and the numbers of its paths.
// Waits for the model of that run where it is not loaded.
void ForkEnded(ModelHost& host, const Client& client, const std::string& id,
               const RunCommand& command, httplib::Response& response);

}  // namespace hyper::server

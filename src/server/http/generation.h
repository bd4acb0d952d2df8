// From a parsed request to its reply over HTTP: submits the runs, waits or streams, and gives the
// runs up when the client leaves.
#pragma once

#include <cpp-httplib/httplib.h>

#include <cstdint>
#include <memory>
#include <string>

#include "src/server/api/client.h"
#include "src/server/api/reply_format.h"
#include "src/server/api/request_json.h"
#include "src/server/models/model_host.h"

namespace hyper::server {

using ParseRequest = ParsedRequest (*)(const std::string& body, const ServerLimits& limits);
using MakeFormat = std::unique_ptr<ReplyFormat> (*)(const ApiRequest& request,
                                                    const std::string& id, int64_t created_s);

// Blocks until the reply is known, for a stream until its first event is. For handlers of a
// PatientServer.
void Generate(const ModelLease& model, const Client& client, ParsedRequest parsed,
              MakeFormat format, double heartbeat_s, httplib::Response& response);

}  // namespace hyper::server

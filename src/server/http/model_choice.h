// The model of a request: by the body's `model`, checked before anything is loaded for it.
#pragma once

#include <cpp-httplib/httplib.h>

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "src/server/api/request_json.h"
#include "src/server/models/model_host.h"

namespace hyper::server {

// What is wrong with a request by the limits of a model; nothing: it may be served.
using CheckRequest = std::function<std::optional<ApiError>(const ServerLimits& limits)>;

// Waits for the model that `body` names. Nothing, after a reply, where there is no such model, what
// is asked of it is wrong, or it does not come. For handlers of a PatientServer.
std::optional<ModelLease> ModelFor(ModelHost& host, const std::string& body,
                                   const CheckRequest& check, httplib::Response& response);
// The same, of a model that is known.
std::optional<ModelLease> AwaitModel(ModelHost& host, size_t model, httplib::Response& response);

// The model of a run that is in memory or stored; nothing: it is served no longer.
std::optional<size_t> ModelOf(const ModelHost& host, const RunOverview& run);
// That model, where it is loaded, as it is while the run is live.
std::optional<ModelLease> LoadedModelOf(ModelHost& host, const RunOverview& run);

template <class Parsed>
std::optional<ApiError> ErrorOf(const std::variant<Parsed, ApiError>& parsed) {
  const auto* error = std::get_if<ApiError>(&parsed);
  return error != nullptr ? std::optional(*error) : std::nullopt;
}

}  // namespace hyper::server

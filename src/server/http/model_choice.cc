#include "src/server/http/model_choice.h"

#include <utility>

#include "src/server/api/body_json.h"
#include "src/server/http/client_stream.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

// The body's `model`; empty where there is none, or the body is none that could be read.
std::string NameIn(const std::string& body) {
  const std::variant<Json, ApiError> json = ParseBody(body);
  const auto* fields = std::get_if<Json>(&json);
  const auto name = fields != nullptr ? fields->find("model") : Json::const_iterator();
  return fields != nullptr && name != fields->end() && name->is_string() ? name->get<std::string>()
                                                                         : "";
}

}  // namespace

std::optional<ModelLease> ModelFor(ModelHost& host, const std::string& body,
                                   const CheckRequest& check, httplib::Response& response) {
  if (!host.on_demand()) {  // whoever parses the request looks at the name too
    return AwaitModel(host, 0, response);
  }
  const std::string name = NameIn(body);
  const std::optional<size_t> model = host.Find(name);
  std::optional<ApiError> error;
  if (model || name.empty()) {
    error = check(host.Known(model.value_or(0)));
  }
  if (!model && !error) {
    error = name.empty() ? BadField("model", "'model' is missing; GET /v1/models lists the models")
                         : NoSuchModel(name);
  }
  if (error) {
    SendError(response, *error);
    return std::nullopt;
  }
  return AwaitModel(host, *model, response);
}

std::optional<ModelLease> AwaitModel(ModelHost& host, size_t model, httplib::Response& response) {
  std::variant<ModelLease, ApiError> acquired = host.Acquire(model, ClientHasLeft);
  if (const auto* error = std::get_if<ApiError>(&acquired)) {
    SendError(response, *error);
    return std::nullopt;
  }
  return std::get<ModelLease>(std::move(acquired));
}

std::optional<size_t> ModelOf(const ModelHost& host, const RunOverview& run) {
  return host.on_demand() ? host.Named(run.model) : 0;
}

std::optional<ModelLease> LoadedModelOf(ModelHost& host, const RunOverview& run) {
  const std::optional<size_t> model = ModelOf(host, run);
  return model ? host.IfLoaded(*model) : std::nullopt;
}

}  // namespace hyper::server

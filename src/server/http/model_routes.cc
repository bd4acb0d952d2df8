#include "src/server/http/model_routes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using httplib::Request;
using httplib::Response;

// The served name, that name for plain decoding, the other names, and that name with each method.
//   state  empty: it is always there
void AddModels(const ServerLimits& limits, const std::string& state, bool methods, Json& models) {
  const auto add = [&models, &state](const std::string& id, const std::string& about) {
    models.push_back({{"id", id},
                      {"object", "model"},
                      {"created", 0},
                      {"owned_by", "hyper"},
                      {"description", about}});
    if (!state.empty()) {
      models.back()["state"] = state;
    }
  };
  add(limits.model_name, "method " + limits.default_method);
  add(limits.model_name + ":" + kPlainMethod, "plain decoding");
  for (const std::string& name : limits.plain_names) {
    add(name, "plain decoding");
  }
  for (const MethodInfo& method : methods ? Methods() : std::vector<MethodInfo>()) {
    add(limits.model_name + ":" + method.name, method.description);
  }
}

Json ModelsJson(const ModelHost& host, bool methods) {
  const std::vector<ModelStatus> statuses = host.Statuses();
  Json models = Json::array();
  for (size_t i = 0; i < statuses.size(); ++i) {
    AddModels(host.Known(i), host.on_demand() ? std::string(statuses[i].state_name()) : "", methods,
              models);
  }
  return models;
}

void SendModel(Response& response, const ModelHost& host, const std::string& name) {
  for (const Json& model : ModelsJson(host, /*methods=*/true)) {
    if (model["id"] == name) {
      Send(response, 200, model);
      return;
    }
  }
  SendError(response, NoSuchModel(name));
}

}  // namespace

void AddModelRoutes(Routes& routes, const ModelHost& host) {
  // The lists of clients would grow long with every method of several models.
  routes.Get("/v1/models", [&host](const Request& request, Response& response) {
    const bool methods = !host.on_demand() || request.get_param_value("methods") == "true";
    Send(response, 200, {{"object", "list"}, {"data", ModelsJson(host, methods)}});
  });
  // A name may hold slashes.
  routes.Get(
      "/v1/models/{model}",
      [&host](const Request& request, Response& response) {
        SendModel(response, host, request.matches[1]);
      },
      "/v1/models/(.+)");
}

ServerLimits DescribedLimits(const ModelHost& host) {
  ServerLimits limits = host.Known(0);
  for (size_t i = 1; i < host.size(); ++i) {
    limits.model.vocab_size = std::max(limits.model.vocab_size, host.Known(i).model.vocab_size);
  }
  return limits;
}

}  // namespace hyper::server

#include "src/server/http/steer_routes.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "src/server/api/body_json.h"
#include "src/server/api/steer_json.h"
#include "src/server/http/fork_ended.h"
#include "src/server/http/model_choice.h"
#include "src/server/http/run_lookup.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using httplib::Request;
using httplib::Response;

void Control(ModelHost& host, const Client& client, const std::string& id,
             const RunCommand& command, Response& response) {
  const bool fork = command.kind == RunCommand::Kind::kFork;
  const std::optional<RunOverview> kept = FindInMemory(host.book(), client, id);
  if (!kept && !fork) {
    SendUnknownRun(response, id);
    return;
  }
  Steered steered{{}, NoSuchRun(id)};
  if (kept) {
    if (const std::optional<ModelLease> model = LoadedModelOf(host, *kept)) {
      steered = model->scheduler().Control(id, command);
    }
  }
  if (fork && steered.error && steered.error->status == 404) {  // not live
    ForkEnded(host, client, id, command, response);
    return;
  }
  if (steered.error) {
    SendError(response, *steered.error);
    return;
  }
  Json body = {{"id", id}, {"object", "hyper.run"}, {"done", true}};
  if (!steered.paths.empty()) {
    body["paths"] = steered.paths;
  }
  Send(response, 200, body);
}

// The command of a request: its kind, the path that its address names, and its body.
class Steering {
 public:
  Steering(Routes& routes, ModelHost& host) : routes_(routes), host_(host) {}

  void Add(const std::string& path, RunCommand::Kind kind) {
    routes_.Post(path, [kind, &host = host_](const Request& request, Response& response) {
      const Client& client = ClientOf(response);
      // What a command may ask for is the same for all models.
      const ServerLimits own = LimitsFor(host.Known(0), client);
      std::variant<RunCommand, ApiError> command = ParseCommand(kind, request.body, own);
      if (const auto* error = std::get_if<ApiError>(&command)) {
        SendError(response, *error);
        return;
      }
      auto& wanted = std::get<RunCommand>(command);
      const auto named = request.path_params.find("path");
      if (named != request.path_params.end()) {
        const std::optional<int> number = WholeNumber(named->second);
        if (!number) {
          SendError(response, BadField("path", "'path' takes the number of a path, from 0"));
          return;
        }
        wanted.path = *number;
      }
      Control(host, client, request.path_params.at("run"), wanted, response);
    });
  }

 private:
  Routes& routes_;
  ModelHost& host_;
};

}  // namespace

void AddSteerRoutes(Routes& routes, ModelHost& host) {
  Steering steering(routes, host);
  steering.Add("/v1/runs/{run}/cancel", RunCommand::Kind::kCancel);
  steering.Add("/v1/runs/{run}/limits", RunCommand::Kind::kLimits);
  steering.Add("/v1/runs/{run}/paths", RunCommand::Kind::kWiden);
  const std::string path = "/v1/runs/{run}/paths/{path}/";
  steering.Add(path + "fork", RunCommand::Kind::kFork);
  steering.Add(path + "prune", RunCommand::Kind::kPrune);
  steering.Add(path + "finish", RunCommand::Kind::kFinish);
  steering.Add(path + "grant", RunCommand::Kind::kGrant);
}

}  // namespace hyper::server

#include "src/server/http/steer_routes.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "src/server/api/body_json.h"
#include "src/server/api/steer_json.h"
#include "src/server/http/fork_ended.h"
#include "src/server/http/run_lookup.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using httplib::Request;
using httplib::Response;

void Control(Scheduler& scheduler, const Client& client, const ServerLimits& limits,
             const std::string& id, const RunCommand& command, Response& response) {
  const bool fork = command.kind == RunCommand::Kind::kFork;
  const bool kept = FindInMemory(scheduler.book(), client, id).has_value();
  if (!kept && !fork) {
    SendUnknownRun(response, id);
    return;
  }
  const Steered steered = kept ? scheduler.Control(id, command) : Steered();
  if (fork && (!kept || (steered.error && steered.error->status == 404))) {  // not live
    ForkEnded(scheduler, client, limits, id, command, response);
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
  Steering(Routes& routes, Scheduler& scheduler, const ServerLimits& limits)
      : routes_(routes), scheduler_(scheduler), limits_(limits) {}

  void Add(const std::string& path, RunCommand::Kind kind) {
    routes_.Post(path, [kind, &scheduler = scheduler_, &limits = limits_](const Request& request,
                                                                          Response& response) {
      const Client& client = ClientOf(response);
      const ServerLimits own = LimitsFor(limits, client);
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
      Control(scheduler, client, own, request.path_params.at("run"), wanted, response);
    });
  }

 private:
  Routes& routes_;
  Scheduler& scheduler_;
  const ServerLimits& limits_;
};

}  // namespace

void AddSteerRoutes(Routes& routes, Scheduler& scheduler, const ServerLimits& limits) {
  Steering steering(routes, scheduler, limits);
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

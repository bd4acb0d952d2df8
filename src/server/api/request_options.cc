#include "src/server/api/request_options.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hyper/ask.h"
#include "hyper/auto_choice.h"
#include "src/report/options_json.h"
#include "src/server/api/request_messages.h"

namespace hyper::server {
namespace {

uint64_t DrawSeed() {
  constexpr uint64_t kExactInDouble = (uint64_t{1} << 53U) - 1;
  std::random_device device;
  return ((uint64_t{device()} << 32U) | device()) & kExactInDouble;
}

// The field that a message about the options in `own` names.
std::string FieldOf(const Json& own, const std::string& message) {
  for (const auto& [name, value] : own.items()) {
    if (message.find(fmt::format("'{}'", name)) != std::string::npos ||
        message.find(fmt::format("--{} ", name)) != std::string::npos) {
      return "hyper." + name;
    }
  }
  return "hyper";
}

}  // namespace

void ReadModel(FieldReader& fields, const ServerLimits& limits, ApiRequest& api, ServedRun& run) {
  run.method = limits.default_method;
  api.model = limits.model_name;
  std::string name;
  if (!fields.Take("model", name)) {
    return;
  }
  api.model = name;
  if (name == limits.model_name) {
    return;
  }
  const size_t colon = name.rfind(':');
  const bool ours = colon != std::string::npos && name.substr(0, colon) == limits.model_name;
  if (ours) {
    run.method = name.substr(colon + 1);
  }
  // A tree is listed with one of the scorers that its name may end with.
  const bool known =
      run.method == kPlainMethod || ResolveRun({run.method, "", {}, {}}, {}).has_value();
  if (!ours || !known) {
    fields.Fail(
        {404, "invalid_request_error", "model_not_found", "model",
         fmt::format("model '{}' is not served here; GET /v1/models lists those that are", name)});
  }
}

bool KeepsReasoning(FieldReader& fields) {
  const Json* own = fields.Find("hyper");
  return own != nullptr && own->is_object() && own->value("keep-reasoning", Json()) == true;
}

void ReadHyper(FieldReader& fields, const ServerLimits& limits, ServedRun& run) {
  Json own = Json::object();
  if (const Json* given = fields.Find("hyper")) {
    if (!given->is_object()) {
      fields.Fail("hyper", "'hyper' takes an object of options");
      return;
    }
    Json named = Json::object();  // null is absent, here as elsewhere
    for (const auto& [name, value] : given->items()) {
      if (!value.is_null()) {
        named[name] = value;
      }
    }
    own = std::move(named);
  }
  FieldReader reader(own);
  reader.Take("events", run.records);
  reader.Take("progress", run.progress);
  bool keeps_reasoning = false;  // see KeepsReasoning
  reader.Take("keep-reasoning", keeps_reasoning);
  reader.TakeWithin("route", 1, kMostRoutes, run.routes);
  if (run.routes > 1 && !limits.routing) {
    reader.Fail("hyper.route", "'hyper.route' needs a mixture of experts in this process");
  }
  if (reader.error()) {
    ApiError error = *reader.error();
    error.param = error.param.rfind("hyper", 0) == 0 ? error.param : "hyper." + error.param;
    fields.Fail(std::move(error));
    return;
  }
  for (const char* ours : {"events", "progress", "route", "keep-reasoning"}) {
    own.erase(ours);
  }
  Result<AskRequest> ask = ParseAskOptions(own);
  Status status = ask ? Status() : Status(ask.error());
  if (status) {
    AskOptions& wanted = ask->options;
    run.method = own.contains("method") ? wanted.method : run.method;
    wanted.method = run.method == kPlainMethod ? kPlainPlan : run.method;
    wanted.preset = wanted.preset.empty() ? limits.preset : wanted.preset;
    if (run.method == kPlainMethod) {
      if (wanted.preset.empty()) {
        wanted.preset = FixedPreset(limits.model);  // nothing is to be chosen for one completion
      }
      // Choices take lanes as these come free, and a choice is what the model writes, loops and
      // all.
      wanted.options.emplace_back("width", 1);
      wanted.options.emplace_back("loop-guard", "off");
    }
    Result<RunPlan> plan = ResolveRun(wanted, limits.model);
    if (plan) {
      run.plan = std::move(*plan);
    } else {
      status = plan.error();
    }
  }
  if (!status) {
    fields.Fail(FieldOf(own, status.error().message), status.error().message);
    return;
  }
  if (run.method == kPlainMethod && own.find("max-tokens") == own.end()) {
    run.plan.options.max_tokens = std::min(run.plan.options.max_tokens, limits.plain_tokens);
  }
  run.seed = own.contains("seed") ? ask->options.seed : DrawSeed();
  run.limits = ask->options.limits;
  run.extract = ask->options.extract;
  run.token_records = ask->options.token_records;
  AddInstructions(ask->options.system, ask->options.instruction, run.messages);
}

}  // namespace hyper::server

#include "src/server/api/request_options.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hyper/ask.h"
#include "hyper/auto_choice.h"
#include "src/decode/methods/registry.h"
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
  const std::vector<std::string>& plain = limits.plain_names;
  if (std::find(plain.begin(), plain.end(), name) != plain.end()) {
    run.method = kPlainMethod;
    return;
  }
  const size_t colon = name.rfind(':');
  const bool ours = colon != std::string::npos && name.substr(0, colon) == limits.model_name;
  if (ours) {
    run.method = name.substr(colon + 1);
  }
  // A tree is listed with one of the scorers that its name may end with.
  const bool known = run.method == kPlainMethod || FindMethod(run.method).has_value();
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

namespace {

// The members of "hyper" that are not null: null is absent, here as elsewhere. Nothing where it is
// no object.
std::optional<Json> OwnMembers(FieldReader& fields) {
  Json members = Json::object();
  const Json* given = fields.Find("hyper");
  if (given != nullptr && !given->is_object()) {
    fields.Fail("hyper", "'hyper' takes an object of options");
    return std::nullopt;
  }
  if (given != nullptr) {
    for (const auto& [name, value] : given->items()) {
      if (!value.is_null()) {
        members[name] = value;
      }
    }
  }
  return members;
}

// Takes the members that are the server's own out of `own`. Errors: that of the first.
std::optional<ApiError> TakeServerMembers(Json& own, const ServerLimits& limits, ServedRun& run) {
  FieldReader reader(own);
  reader.Take("events", run.records);
  reader.Take("progress", run.progress);
  reader.Take("keep-running", run.keep_running);
  bool keeps_reasoning = false;  // see KeepsReasoning
  reader.Take("keep-reasoning", keeps_reasoning);
  reader.TakeWithin("route", 1, kMostRoutes, run.routes);
  if (run.routes > 1 && !limits.routing) {
    reader.Fail("hyper.route", "'hyper.route' needs a mixture of experts in this process");
  }
  if (reader.error()) {
    ApiError error = *reader.error();
    error.param = error.param.rfind("hyper", 0) == 0 ? error.param : "hyper." + error.param;
    return error;
  }
  for (const char* ours : {"events", "progress", "route", "keep-reasoning", "keep-running"}) {
    own.erase(ours);
  }
  return std::nullopt;
}

// Settles method and plan of the run by the members of "hyper" that any door takes.
Result<AskOptions> SettlePlan(const Json& own, const ServerLimits& limits, ServedRun& run) {
  Result<AskRequest> ask = ParseAskOptions(own);
  if (!ask) {
    return ask.error();
  }
  AskOptions& wanted = ask->options;
  run.method = own.contains("method") ? wanted.method : run.method;
  const bool plain = run.method == kPlainMethod;
  wanted.method = plain ? kPlainPlan : run.method;
  wanted.preset = wanted.preset.empty() ? limits.preset : wanted.preset;
  if (plain) {
    if (wanted.preset.empty()) {
      wanted.preset = FixedPreset(limits.model);  // nothing is to be chosen for one completion
    }
    // Choices take lanes as these come free, and a choice is what the model writes, loops and all.
    wanted.options.emplace_back("width", 1);
    wanted.options.emplace_back("loop-guard", "off");
  }
  wanted.automatic.profile = limits.profile;
  Result<RunPlan> plan = ResolveRun(wanted, limits.model);
  if (!plan) {
    return plan.error();
  }
  const int width = plan->options.width;
  if (!plain && limits.most_width > 0 && width > limits.most_width && !own.contains("width")) {
    wanted.options.emplace_back("width", limits.most_width);  // nobody asked for more
    plan = ResolveRun(wanted, limits.model);
    if (!plan) {
      return plan.error();
    }
  }
  run.plan = std::move(*plan);
  if (plain && !own.contains("max-tokens")) {
    run.plan.options.max_tokens = std::min(run.plan.options.max_tokens, limits.plain_tokens);
  }
  return std::move(wanted);
}

}  // namespace

void ReadHyper(FieldReader& fields, const ServerLimits& limits, ServedRun& run) {
  std::optional<Json> own = OwnMembers(fields);
  if (!own) {
    return;
  }
  if (std::optional<ApiError> error = TakeServerMembers(*own, limits, run)) {
    fields.Fail(std::move(*error));
    return;
  }
  const Result<AskOptions> ask = SettlePlan(*own, limits, run);
  if (!ask) {
    fields.Fail(FieldOf(*own, ask.error().message), ask.error().message);
    return;
  }
  run.seed = own->contains("seed") ? ask->seed : DrawSeed();
  run.limits = ask->limits;
  run.extract = ask->extract;
  run.token_records = ask->token_records;
  AddInstructions(ask->system, ask->instruction, run.messages);
}

}  // namespace hyper::server

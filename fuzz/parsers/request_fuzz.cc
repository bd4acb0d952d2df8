// Any body sent to the server: a run within the operator's limits, or an error that names a cause.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "fuzz/require.h"
#include "src/server/api/request_json.h"

namespace {

using hyper::fuzz::Require;

void CheckRun(const hyper::server::ServedRun& run, const hyper::server::ServerLimits& limits) {
  Require(run.plan.options.max_tokens >= 1 && run.plan.options.max_tokens <= limits.most_tokens);
  Require(run.choices >= 1 && run.choices <= limits.most_choices);
  Require(std::isfinite(run.plan.options.sampler.temperature) &&
          run.plan.options.sampler.temperature >= 0);
  Require(limits.most_time_s <= 0 || run.limits.time_s <= limits.most_time_s);
  for (const std::string& stop : run.stop) {
    Require(!stop.empty());
  }
  for (const auto& [token, bias] : run.logit_bias) {
    Require(token >= 0 && token < limits.model.vocab_size && std::abs(bias) <= 100);
  }
  for (const hyper::Token token : run.prompt_tokens) {
    Require(token >= 0 && token < limits.model.vocab_size);
  }
  if (run.method != hyper::server::kPlainMethod) {
    Require(hyper::Validate(run.plan.options).ok());
    Require(run.plan.options.width <= limits.most_lanes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  hyper::server::ServerLimits limits;
  limits.model_name = "m";
  limits.model.vocab_size = 128;
  limits.most_lanes = 64;
  limits.routing = (data[0] & 4U) != 0;
  limits.most_time_s = (data[0] & 8U) != 0 ? 30 : 0;
  const std::string body(data + 1, data + size);
  const hyper::server::ParsedRequest parsed =
      data[0] % 3 == 0   ? hyper::server::ParseChatRequest(body, limits)
      : data[0] % 3 == 1 ? hyper::server::ParseCompletionRequest(body, limits)
                         : hyper::server::ParseResponsesRequest(body, limits);
  if (const auto* error = std::get_if<hyper::server::ApiError>(&parsed)) {
    Require(error->status >= 400 && error->status < 500 && !error->message.empty());
    (void)error->ToJson().dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return 0;
  }
  const auto& request = std::get<hyper::server::ApiRequest>(parsed);
  Require(!request.runs.empty());
  for (const hyper::server::ServedRun& run : request.runs) {
    CheckRun(run, limits);
  }
  return 0;
}

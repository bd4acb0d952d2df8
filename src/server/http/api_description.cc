#include "src/server/http/api_description.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "hyper/options.h"
#include "src/server/http/page_files.h"

namespace hyper::server {
namespace {

// The schema of an option's type, or null, which is absent; its range is known in words only.
template <class T>
Json OptionSchema(const OptionInfo& info) {
  const char* type = std::is_same_v<T, bool>          ? "boolean"
                     : std::is_same_v<T, std::string> ? "string"
                     : std::is_floating_point_v<T>    ? "number"
                                                      : "integer";
  return {{"type", Json::array({type, "null"})},
          {"description", std::string(info.help) + " (" + info.range + ")"}};
}

}  // namespace

Json ApiDescription(const ServerLimits& limits) {
  Json description;
  for (const PageFile& file : PageFiles()) {
    if (file.name == "openapi.json") {
      description = Json::parse(file.bytes, nullptr, /*allow_exceptions=*/false);
    }
  }
  Json& schemas = description["components"]["schemas"];
  Json& options = schemas["Hyper"]["properties"];
  const MethodOptions defaults;
  MethodOptions::ForEach(defaults, [&options](const auto& field, const OptionInfo& info) {
    options[info.name] = OptionSchema<std::decay_t<decltype(field)>>(info);
  });
  options["route"]["maximum"] = limits.routing ? kMostRoutes : 1;
  schemas["Sampling"]["properties"]["n"]["maximum"] = limits.most_choices;
  schemas["Tokens"]["items"]["maximum"] = std::max(limits.vocab_size - 1, 0);
  Json& prompt = schemas["CompletionRequest"]["allOf"][1]["properties"]["prompt"];
  prompt["anyOf"][2]["maxItems"] = limits.most_prompts;
  return description;
}

}  // namespace hyper::server

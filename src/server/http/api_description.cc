#include "src/server/http/api_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "hyper/options.h"
#include "src/decode/ask_options.h"
#include "src/server/api/unserved_fields.h"
#include "src/server/http/page_files.h"

namespace hyper::server {
namespace {

// The schema of an option's value, or null, which is absent.
Json OptionSchema(const Option& option) {
  const OptionInfo& info = option.info();
  const std::string takes = info.seconds ? "seconds" : option.Takes();
  Json schema = {{"description", fmt::format("{} ({})", info.help, takes)}};
  const auto bound = [&schema](const char* key, const char* open_key, double value, bool open) {
    if (std::isfinite(value)) {
      schema[open ? open_key : key] = value;
    }
  };
  switch (option.type()) {
    case Option::Type::kSwitch:
      schema["type"] = {"boolean", "null"};
      return schema;
    case Option::Type::kInteger:
    case Option::Type::kNumber:
      schema["type"] = {option.type() == Option::Type::kInteger ? "integer" : "number", "null"};
      bound("minimum", "exclusiveMinimum", info.bounds.low, info.bounds.open_low);
      bound("maximum", "exclusiveMaximum", info.bounds.high, info.bounds.open_high);
      return schema;
    case Option::Type::kWord:
      schema["enum"] = option.Words();
      schema["enum"].push_back(nullptr);
      break;
    case Option::Type::kText:
    case Option::Type::kList:
      break;
  }
  schema["type"] = {"string", "null"};
  return schema;
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
  MethodOptions defaults;
  for (const Option& option : OptionsOf(defaults)) {
    options[option.info().name] = OptionSchema(option);
  }
  AskOptions question;
  for (const Option& option : OptionsOf(question)) {
    options[option.info().name] = OptionSchema(option);
  }
  options["route"]["maximum"] = limits.routing ? kMostRoutes : 1;
  Json& fields = schemas["Sampling"]["properties"];
  fields["n"]["maximum"] = limits.most_choices;
  for (const char* name : HarmlessFields()) {
    fields[name] = {{"description", "Taken; changes no text"}};
  }
  schemas["Tokens"]["items"]["maximum"] = std::max(limits.model.vocab_size - 1, 0);
  Json& prompt = schemas["CompletionRequest"]["allOf"][1]["properties"]["prompt"];
  prompt["anyOf"][2]["maxItems"] = limits.most_prompts;
  return description;
}

}  // namespace hyper::server

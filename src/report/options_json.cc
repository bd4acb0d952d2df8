#include "src/report/options_json.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

namespace hyper {
namespace {

// Takes a member of type T and sets the option by its text.
template <class T>
bool TakeAs(OptionReader& reader, Option& option) {
  T value{};
  if (!reader.Take(option.info().name, value)) {
    return false;
  }
  const Status status = option.Set(fmt::format("{}", value));
  if (!status) {
    reader.Fail(status.error());
  }
  return status.ok();
}

void TakeExtract(OptionReader& reader, ExtractOptions& extract) {
  reader.TakeName("answer-kind", extract.kind);
  std::string choices;
  reader.Take("choices", choices);
  if (choices.empty()) {
    return;
  }
  if (const std::optional<std::string> labels = ParseChoiceOptions(choices)) {
    extract.options = *labels;
  } else {
    reader.Wrong("choices", fmt::format("is '{}'; it takes labels such as ABCD", choices));
  }
}

}  // namespace

bool TakeOption(OptionReader& reader, Option& option) {
  switch (option.type()) {
    case Option::Type::kInteger: {
      const Json* value = reader.Find(option.info().name);
      const bool word = value != nullptr && value->is_string() && option.info().automatic;
      return word ? TakeAs<std::string>(reader, option) : TakeAs<int64_t>(reader, option);
    }
    case Option::Type::kNumber:
      return TakeAs<double>(reader, option);
    case Option::Type::kSwitch:
      if (std::holds_alternative<bool>(option.value())) {
        return TakeAs<bool>(reader, option);
      }
      break;
    case Option::Type::kWord:
    case Option::Type::kText:
    case Option::Type::kList:
      break;
  }
  return TakeAs<std::string>(reader, option);
}

Json OptionJson(const Option& option) {
  return std::visit([](const auto& value) { return Json(value); }, option.value());
}

OptionReader::OptionReader(const Json& object)
    : MemberReader(
          object,
          [](const std::string& name, const std::string& what) {
            return InvalidArgument(fmt::format("option '{}' {}", name, what));
          },
          Null::kIsWrong) {}

Status OptionReader::Finish() {
  RefuseOthers("is not known; docs/c-api.md lists them");
  return error() ? Status(*error()) : Status();
}

Result<Json> ParseOptionObject(const std::string& text) {
  Json object =
      text.empty() ? Json::object() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return InvalidArgument("the options are not a JSON object; they look like {\"width\": 16}");
  }
  return object;
}

Result<AskRequest> ParseAskOptions(const Json& object) {
  OptionReader reader(object);
  AskRequest request;
  AskOptions& options = request.options;
  reader.Take("preset", options.preset);
  Result<MethodOptions> checked = Preset(options.preset.empty() ? "paper" : options.preset);
  if (!checked) {
    reader.Fail(checked.error());
    checked = MethodOptions();
  }
  for (Option& option : OptionsOf(*checked)) {
    if (TakeOption(reader, option)) {
      options.options.emplace_back(option.info().name, option.Text());
    }
  }
  reader.Take("method", options.method);
  reader.Take("seed", options.seed);
  reader.TakeName("effort", options.automatic.effort);
  reader.Take("system", options.system);
  reader.Take("instruction", options.instruction);
  TakeExtract(reader, options.extract);
  reader.Take("budget-tokens", options.limits.budget_tokens);
  reader.Take("time", options.limits.time_s);
  if (options.limits.budget_tokens < 0 || !(options.limits.time_s >= 0)) {
    reader.Fail(InvalidArgument("options 'budget-tokens' and 'time' take numbers from 0 (none)"));
  }
  reader.Take("token-records", options.token_records);
  reader.Take("timing", request.timing);
  const Status status = reader.Finish();
  return status ? Result<AskRequest>(std::move(request)) : Result<AskRequest>(status.error());
}

Result<AskRequest> ParseAskOptions(const std::string& text) {
  const Result<Json> object = ParseOptionObject(text);
  return object ? ParseAskOptions(*object) : Result<AskRequest>(object.error());
}

}  // namespace hyper

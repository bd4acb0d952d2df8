#include "src/report/options_json.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "src/decode/ask_options.h"

namespace hyper {
namespace {

constexpr double kMostSeconds = 1e9;

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

// A time is a number of seconds.
bool TakeSeconds(OptionReader& reader, Option& option) {
  double seconds = 0;
  if (!reader.TakeWithin(option.info().name, 0.0, kMostSeconds, seconds)) {
    return false;
  }
  const Status status = option.Set(fmt::format("{}", seconds));
  if (!status) {
    reader.Fail(status.error());
  }
  return status.ok();
}

}  // namespace

bool TakeOption(OptionReader& reader, Option& option) {
  switch (option.type()) {
    case Option::Type::kInteger: {
      const Json* value = reader.Find(option.info().name);
      if (value != nullptr && value->is_string() && option.info().automatic) {
        return TakeAs<std::string>(reader, option);
      }
      return option.is_unsigned() ? TakeAs<uint64_t>(reader, option)
                                  : TakeAs<int64_t>(reader, option);
    }
    case Option::Type::kNumber:
      return option.info().seconds ? TakeSeconds(reader, option) : TakeAs<double>(reader, option);
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
  RefuseOthers("is not known; docs/options.md lists them");
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
  MethodOptions checked;  // values are checked here, and set where the run is resolved
  for (Option& option : OptionsOf(checked)) {
    if (TakeOption(reader, option)) {
      options.options.emplace_back(option.info().name, option.Text());
    }
  }
  for (Option& option : OptionsOf(options)) {
    const Json* value = reader.Find(option.info().name);
    if (value != nullptr && *value != "") {  // an empty text is none
      TakeOption(reader, option);
    }
  }
  if (const Status choices = SettleChoices(options); !choices) {
    reader.Fail(choices.error());
  }
  if (const Result<MethodOptions> preset = Preset(options.preset);
      !preset && !options.preset.empty()) {
    reader.Fail(preset.error());
  }
  reader.Take("timing", request.timing);
  const Status status = reader.Finish();
  return status ? Result<AskRequest>(std::move(request)) : Result<AskRequest>(status.error());
}

Result<AskRequest> ParseAskOptions(const std::string& text) {
  const Result<Json> object = ParseOptionObject(text);
  return object ? ParseAskOptions(*object) : Result<AskRequest>(object.error());
}

}  // namespace hyper

#include "src/report/options_json.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace hyper {
namespace {

// Takes a member of type T and sets the option by its text.
template <class T>
bool TakeAs(MemberReader& reader, Option& option) {
  std::optional<T> value;
  reader.Take(option.info().name, value);
  if (!value) {
    return false;
  }
  const Status status = option.Set(fmt::format("{}", *value));
  if (!status) {
    reader.Fail(status.error());
  }
  return status.ok();
}

void TakeExtract(MemberReader& reader, ExtractOptions& extract) {
  reader.TakeWord("answer-kind", extract.kind,
                  {{"integer", AnswerKind::kInteger},
                   {"math", AnswerKind::kMath},
                   {"choice", AnswerKind::kChoice},
                   {"text", AnswerKind::kText}});
  std::string choices;
  reader.Take("choices", choices);
  if (choices.empty()) {
    return;
  }
  if (const std::optional<std::string> labels = ParseChoiceOptions(choices)) {
    extract.options = *labels;
  } else {
    reader.Fail(InvalidArgument(
        fmt::format("option 'choices' is '{}'; it takes labels such as ABCD", choices)));
  }
}

Result<AskRequest> Parse(MemberReader reader) {
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

}  // namespace

bool TakeOption(MemberReader& reader, Option& option) {
  switch (option.type()) {
    case Option::Type::kInteger:
      return TakeAs<int64_t>(reader, option);
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

Result<AskRequest> ParseAskOptions(Json object) { return Parse(MemberReader(std::move(object))); }

Result<AskRequest> ParseAskOptions(const std::string& text) { return Parse(MemberReader(text)); }

}  // namespace hyper

#include "src/report/options_json.h"

#include <fmt/format.h>

#include <optional>

#include "src/report/member_reader.h"

namespace hyper {

Result<AskRequest> ParseAskOptions(const std::string& text, const std::string& default_preset) {
  MemberReader reader(text);
  AskRequest request;
  AskOptions& options = request.options;
  std::string preset = default_preset;
  reader.Take("preset", preset);
  Result<MethodOptions> decoding = Preset(preset);
  if (decoding) {
    options.decoding = *decoding;
  } else {
    reader.Fail(decoding.error());
  }
  MethodOptions::ForEach(options.decoding, [&](auto& field, const OptionInfo& info) {
    reader.Take(info.name, field);
  });
  reader.Take("method", options.method);
  reader.Take("seed", options.seed);
  reader.Take("system", options.system);
  reader.Take("instruction", options.instruction);
  reader.TakeWord("answer-kind", options.extract.kind,
                  {{"integer", AnswerKind::kInteger},
                   {"math", AnswerKind::kMath},
                   {"choice", AnswerKind::kChoice},
                   {"text", AnswerKind::kText}});
  std::string choices;
  reader.Take("choices", choices);
  if (!choices.empty()) {
    const std::optional<std::string> labels = ParseChoiceOptions(choices);
    if (labels) {
      options.extract.options = *labels;
    } else {
      reader.Fail(
          Invalid(fmt::format("option 'choices' is '{}'; it takes labels such as ABCD", choices)));
    }
  }
  reader.Take("budget-tokens", options.limits.budget_tokens);
  reader.Take("time", options.limits.time_s);
  if (options.limits.budget_tokens < 0 || !(options.limits.time_s >= 0)) {
    reader.Fail(Invalid("options 'budget-tokens' and 'time' take numbers from 0 (none)"));
  }
  reader.Take("token-records", options.token_records);
  reader.Take("timing", request.timing);
  Status status = reader.Finish();
  if (status) {
    status = Validate(options.decoding);
  }
  if (!status) {
    return status.error();
  }
  return request;
}

}  // namespace hyper

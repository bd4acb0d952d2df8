#include "src/decode/ask_options.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "hyper/extract.h"

namespace hyper {

std::vector<Option> OptionsOf(AskOptions& options) {
  constexpr const char* kQuestion = "Question";
  constexpr const char* kRun = "Run";
  return {
      {options.extract.kind,
       {.name = "answer-kind", .help = "what the answer is", .group = kQuestion}},
      {options.extract.options,
       {.name = "choices",
        .help = "labels of a choice question",
        .group = kQuestion,
        .takes = "labels such as A-D, ABCD or 1-4"}},
      {options.system, {.name = "system", .help = "system message", .group = kQuestion}},
      {options.instruction,
       {.name = "instruction",
        .help = "last paragraph of the question, such as how to write the answer",
        .group = kQuestion}},
      {options.method,
       {.name = "method",
        .help = "how paths are decoded and voted on",
        .brief_help = "how paths are decoded and voted on [hyper]",
        .group = kRun,
        .takes = "a name that hyper help methods prints"}},
      {options.preset,
       {.name = "preset",
        .help = "defaults of all other options; none: auto",
        .brief_help = "defaults: auto, paper or short [auto]",
        .group = kRun,
        .takes = "auto, paper or short"}},
      {options.automatic.effort,
       {.name = "effort",
        .help = "what preset auto spends on a question: 40 s, 4 minutes or 20 minutes",
        .brief_help = "of --preset auto: low, medium or high [medium]",
        .group = kRun}},
      {options.seed,
       {.name = "seed",
        .help = "run seed; hyper run draws one where none is given, and prints it",
        .brief_help = "repeat a run exactly [random]",
        .bounds = From(0),
        .group = kRun}},
      {options.limits.time_s,
       {.name = "time",
        .help = "stop a question after this time and vote; 0: never",
        .brief_help = "stop after 30s, 5m, ... and vote",
        .bounds = From(0),
        .group = kRun,
        .seconds = true}},
      {options.limits.budget_tokens,
       {.name = "budget-tokens",
        .help = "effective tokens of a question; then stop and vote; not given: no limit",
        .bounds = From(1),
        .group = kRun}},
      {options.token_records,
       {.name = "token-records", .help = "records hold every token", .group = kRun}},
  };
}

Status SettleChoices(AskOptions& options) {
  std::string& labels = options.extract.options;
  const std::optional<std::string> read = ParseChoiceOptions(labels);
  if (!read) {
    return InvalidArgument(
        fmt::format("option 'choices' is '{}'; it takes labels such as A-D, ABCD or 1-4", labels));
  }
  if (options.extract.kind != AnswerKind::kChoice && labels != ExtractOptions{}.options) {
    return InvalidArgument(fmt::format(
        "option 'choices' is '{}', but the answer is no choice; add --answer-kind choice", labels));
  }
  labels = *read;
  return {};
}

}  // namespace hyper

#include "apps/hyper/flags/run_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/option_flags.h"
#include "hyper/method.h"

namespace hyper::app {
namespace {

constexpr const char* kRunFooter = R"(Examples:
  hyper run "Rosa has 14 bags with 30 cards each. How many cards does she have?"
  hyper run --model qwen3.gguf --width 32 --time 5m --file question.txt
  echo "Start with 12, add 7, multiply by 5." | hyper run --json --seed 1 - > run.json

The answer and what it cost go to stdout, everything that depends on the clock to stderr.
Exit codes: 0 done, 64 a flag or value is not valid, 65 a file is broken, 66 a file cannot be read,
69 the model cannot do it, 71 out of memory or KV cells, 74 the trace could not be written,
75 a server of --rpc went away, 130 interrupted (the best vote so far is printed).)";

constexpr const char* kRunGroup = "Run";

// What only a run has: options of the question and of this one run.
std::vector<Option> OwnOptions(RunFlags& flags, std::string& choices) {
  constexpr const char* kQuestion = "Question";
  return {
      {flags.extract.kind,
       {.name = "answer-kind", .help = "what the answer is", .group = kQuestion}},
      {choices,
       {.name = "choices", .help = "labels of a choice question, such as A-D", .group = kQuestion}},
      {flags.seed,
       {.name = "seed",
        .help = "run seed; without one it is drawn and printed",
        .bounds = From(0),
        .group = kRunGroup}},
      {flags.request.automatic.effort,
       {.name = "effort",
        .help = "what --preset auto spends on a question: 40 s, 4 minutes or 20 minutes",
        .group = kRunGroup}},
      {flags.limits.time_s,
       {.name = "time",
        .help = "stop after this time and vote, such as 30s or 2m",
        .bounds = Above(0),
        .group = kRunGroup,
        .seconds = true}},
      {flags.limits.budget_tokens,
       {.name = "budget-tokens",
        .help = "stop after this many effective tokens and vote",
        .bounds = From(1),
        .group = kRunGroup}},
      {flags.live,
       {.name = "live", .help = "show the pool on stderr; auto: on a terminal", .group = "Output"}},
  };
}

void AddQuestionFlags(CLI::App& app, RunFlags& flags) {
  const char* group = "Question";
  app.add_option("question", flags.question, "the question; - reads it from standard input");
  app.add_option("--file", flags.file, "read the question from a file")
      ->type_name("FILE")
      ->group(group);
  app.add_option_function<std::string>(
         "--instruction",
         [&flags](const std::string& value) {
           flags.instruction = value;
           flags.has_instruction = true;
         },
         "paragraph added to the question [how to give the answer; preset short: none]")
      ->type_name("TEXT")
      ->group(group);
  app.add_option("--system", flags.system, "system message [none]")
      ->type_name("TEXT")
      ->group(group);
}

void AddRunFlags(CLI::App& app, RunFlags& flags) {
  std::string methods;
  for (const MethodInfo& method : Methods()) {
    methods += (methods.empty() ? "" : ", ") + method.name;
  }
  app.add_option("--method", flags.request.method,
                 fmt::format("how paths are decoded and voted on: {} [hyper]", methods))
      ->type_name("NAME")
      ->group(kRunGroup);
  app.add_option("--preset", flags.request.preset,
                 "defaults of the method: auto, paper or short [the model's]")
      ->type_name("NAME")
      ->group(kRunGroup);
}

void AddOutputFlags(CLI::App& app, RunFlags& flags) {
  const char* group = "Output";
  app.add_flag("--plan", flags.plan, "print the memory that the run would take; no question needed")
      ->group(group);
  app.add_flag("--json", flags.json, "print one JSON object (docs/json.md)")->group(group);
  app.add_flag("--timing", flags.timing, "with --json: add times, which no two runs have alike")
      ->group(group);
  app.add_option("--trace", flags.trace, "write every record of the run to a file, one per line")
      ->type_name("FILE")
      ->group(group);
}

// Values that need no model: words that must be known, and options that no preset makes valid.
Status CheckValues(RunFlags& flags, const OptionValues& given) {
  std::string choices;
  Status status = ApplyFlags(given, OwnOptions(flags, choices));
  if (!status) {
    return status;
  }
  flags.seed_given = Given(given, "seed");
  flags.request.automatic.time_s = flags.limits.time_s;
  if (Given(given, "choices")) {
    const std::optional<std::string> labels = ParseChoiceOptions(choices);
    if (!labels) {
      return InvalidArgument(fmt::format(
          "--choices '{}' is no list of labels; it takes one such as A-D, ABCD or 1-4", choices));
    }
    flags.extract.options = *labels;
  }
  if (flags.timing && !flags.json) {
    return InvalidArgument(
        "--timing has an effect only with --json; add it, or leave --timing out");
  }
  status = CheckEngineFlags(flags.engine);
  if (!status) {
    return status;
  }
  const Result<RunPlan> plan = ResolveRun(flags.request, PeekModel(flags.engine));
  return plan ? Status() : InvalidArgument(plan.error().message);
}

}  // namespace

std::optional<int> ParseRunFlags(int argc, const char* const* argv, RunFlags* flags) {
  CLI::App app("Answers a question by a pool of reasoning paths.");
  OptionValues given;
  std::string choices = flags->extract.options;
  SetUpParser(app, kRunCommand, kRunFooter);
  AddQuestionFlags(app, *flags);
  AddRunFlags(app, *flags);
  AddOutputFlags(app, *flags);
  AddOptionFlags(app, OwnOptions(*flags, choices), given);
  flags->engine.AddTo(app);
  AddMethodFlags(app, flags->request.options);
  if (std::optional<int> exit_code = ParseCommandLine(app, kRunCommand, argc, argv)) {
    return exit_code;
  }
  const Status status = CheckValues(*flags, given);
  return status ? std::nullopt : std::optional<int>(Complain(kRunCommand, status.error()));
}

}  // namespace hyper::app

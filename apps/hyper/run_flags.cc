#include "apps/hyper/run_flags.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/parse_value.h"
#include "apps/hyper/session_setup.h"
#include "hyper/method.h"

namespace hyper::app {
namespace {

constexpr const char* kRunFooter = R"(Examples:
  hyper run "Rosa has 14 bags with 30 cards each. How many cards does she have?"
  hyper run --model qwen3.gguf --width 32 --time 5m --file question.txt
  echo "12 * (7 + 5) = ?" | hyper run --json --seed 1 - > run.json

The answer and what it cost go to stdout, everything that depends on the clock to stderr.
Exit codes: 0 done, 64 a flag or value is not valid, 65 a file is broken, 66 a file cannot be read,
69 the model cannot do it, 71 out of memory or KV cells, 74 the trace could not be written,
75 a server of --rpc went away, 130 interrupted (the best vote so far is printed).)";

// Flags as they are written, before they are checked.
struct RunTexts {
  std::string seed;
  std::string time;
  std::string budget;
  std::string answer_kind = "math";
  std::optional<std::string> choices;
};

Error Invalid(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

void AddQuestionFlags(CLI::App& app, RunFlags& flags, RunTexts& raw) {
  app.add_option("question", flags.question, "the question; - reads it from standard input");
  const char* group = "Question";
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
  app.add_option("--answer-kind", raw.answer_kind,
                 "what the answer is: integer, math, choice or text [math]")
      ->type_name("WORD")
      ->group(group);
  app.add_option("--choices", raw.choices, "labels of a choice question, such as A-D [A-D]")
      ->type_name("LIST")
      ->group(group);
}

void AddRunFlags(CLI::App& app, RunFlags& flags, RunTexts& raw) {
  const char* group = "Run";
  std::string methods;
  for (const MethodInfo& method : Methods()) {
    methods += (methods.empty() ? "" : ", ") + method.name;
  }
  app.add_option("--method", flags.method,
                 fmt::format("how paths are decoded and voted on: {} [hyper]", methods))
      ->type_name("NAME")
      ->group(group);
  app.add_option("--preset", flags.preset, "defaults of the method: paper or short [the model's]")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--seed", raw.seed, "run seed, 0..18446744073709551615 [drawn and printed]")
      ->type_name("N")
      ->group(group);
  app.add_option("--time", raw.time, "stop after this time and vote, such as 30s or 2m [no limit]")
      ->type_name("TIME")
      ->group(group);
  app.add_option("--budget-tokens", raw.budget,
                 "stop after this many effective tokens and vote [no limit]")
      ->type_name("N")
      ->group(group);
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
  app.add_option("--live", flags.live,
                 "show the pool on stderr: auto (on a terminal), always or never [auto]")
      ->type_name("WORD")
      ->group(group);
}

Status ReadRaw(const RunTexts& raw, RunFlags& flags) {
  if (!raw.seed.empty()) {
    flags.seed = 0;
    Status status = ParseValue("seed", raw.seed, "0..18446744073709551615", *flags.seed);
    if (!status) {
      return status;
    }
  }
  if (!raw.time.empty()) {
    Result<double> time = ParseDuration("time", raw.time);
    if (!time) {
      return time.error();
    }
    flags.limits.time_s = *time;
  }
  if (!raw.budget.empty()) {
    const std::string range = "a whole number of tokens above 0";
    Status status = ParseValue("budget-tokens", raw.budget, range, flags.limits.budget_tokens);
    if (!status) {
      return status;
    }
    if (flags.limits.budget_tokens <= 0) {
      return Invalid(fmt::format("--budget-tokens is {}; it takes {}", raw.budget, range));
    }
  }
  const std::optional<AnswerKind> kind = ParseAnswerKind(raw.answer_kind);
  if (!kind) {
    return Invalid(
        fmt::format("--answer-kind '{}' is not known; take integer, math, choice or "
                    "text",
                    raw.answer_kind));
  }
  flags.extract.kind = *kind;
  if (raw.choices) {
    const std::optional<std::string> choices = ParseChoiceOptions(*raw.choices);
    if (!choices) {
      return Invalid(
          fmt::format("--choices '{}' is no list of labels; it takes one such as A-D, "
                      "ABCD or 1-4",
                      *raw.choices));
    }
    flags.extract.options = *choices;
  }
  return {};
}

// Values that need no model: words that must be known, and options that no preset makes valid.
Status CheckValues(RunFlags& flags) {
  if (flags.live != "auto" && flags.live != "always" && flags.live != "never") {
    return Invalid(fmt::format("--live '{}' is not known; take auto, always or never", flags.live));
  }
  if (flags.timing && !flags.json) {
    return Invalid("--timing has an effect only with --json; add it, or leave --timing out");
  }
  Status status = CheckEngineFlags(flags.engine);
  if (!status) {
    return status;
  }
  TakeModelDefaults(flags.engine, flags.options);
  Result<MethodOptions> options =
      ResolveOptions(flags.options, flags.preset.empty() ? "paper" : flags.preset, flags.method);
  return options ? Status() : Invalid(options.error().message);
}

}  // namespace

std::optional<int> ParseRunFlags(int argc, const char* const* argv, RunFlags* flags) {
  CLI::App app("Answers a question by a pool of reasoning paths.");
  RunTexts raw;
  SetUpParser(app, kRunCommand, kRunFooter);
  AddQuestionFlags(app, *flags, raw);
  AddRunFlags(app, *flags, raw);
  AddOutputFlags(app, *flags);
  flags->engine.AddTo(app);
  flags->options.AddTo(app);
  if (std::optional<int> exit_code = ParseCommandLine(app, kRunCommand, argc, argv)) {
    return exit_code;
  }
  Status status = ReadRaw(raw, *flags);
  if (status) {
    status = CheckValues(*flags);
  }
  return status ? std::nullopt : std::optional<int>(Complain(kRunCommand, status.error()));
}

}  // namespace hyper::app

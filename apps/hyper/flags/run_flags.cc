#include "apps/hyper/flags/run_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/option_flags.h"
#include "hyper/llama_engine.h"
#include "hyper/method.h"
#include "src/decode/ask_options.h"
#include "src/report/nearest.h"

namespace hyper::app {
namespace {

constexpr const char* kRunFooter = R"(Examples:
  hyper run "Start with 25, add 13, add 40. What is the result?"
  hyper run -m qwen3.gguf -n 32 --time 5m --file question.txt
  echo "Solve 5x+43=173 for x." | hyper run -q --seed 1

The bundled model only does sums like these; -m takes a model of your own.
'hyper help METHOD' prints the options of a method.
Exit codes: 0 done, 130 interrupted (the vote so far is printed); 'hyper --help' lists all.)";

constexpr const char* kChatFooter = R"(Examples:
  hyper chat
  hyper chat -m qwen3.gguf --stream --system "You are a patient teacher."

Write a question on a line. /new forgets what was said, /exit or Ctrl-D ends the chat, Ctrl-C ends
an answer early. The options are those of hyper run; --help-all prints them.
Exit codes are those of hyper run.)";

constexpr const char* kAgainFooter = R"(Examples:
  hyper again
  hyper again -n 64
  hyper again run_1 --method sc -v

The run keeps its seed and the pace that --preset auto went by, so that without changes the result is
the same. The options are those of hyper run; --help-all prints them. Exit codes are those
of hyper run.)";

constexpr auto kRunEveryday = std::to_array<EverydayOption>({
    {"--file", "read the question from a file"},
    {"--questions", "answer every question of a file; -o resumes"},
    {"--output", "write the result to a file"},
    {"--method"},
    {"--preset"},
    {"--quiet", "print the answer alone"},
    {"--verbose", "also print votes, paths, actions and cost"},
    {"--show", "whole texts: winner, losers, or a path's number"},
    {"--stream", "print the text of the leading path as it grows"},
    {"--json", "print one JSON object (docs/json.md)"},
    {"--answer-kind", "the answer: integer, math, choice or text [math]"},
    {"--seed"},
    {"--effort"},
    {"--time"},
    kEverydayModel,
    kEverydayEngine,
    {"--gpu-layers"},
    {"--width"},
    {"--max-tokens"},
    {"--stop"},
});

// What only a run has beside the options of a question.
std::vector<Option> OwnOptions(RunFlags& flags) {
  return {
      {flags.automatic.machine.tokens_per_s,
       {.name = "pace",
        .help = "tokens/s that --preset auto assumes; without it they are measured",
        .bounds = Above(0),
        .group = "Run"}},
      {flags.live,
       {.name = "live", .help = "show the pool on stderr; auto: on a terminal", .group = "Output"}},
  };
}

// What the table of a question cannot know: methods by name, and the program's own instruction.
void DescribeQuestionFlags(CLI::App& app) {
  app.get_option("--method")
      ->description(fmt::format("how paths are decoded and voted on: {} [hyper]",
                                fmt::join(MethodNames(), ", ")))
      ->option_text(fmt::format("{}", fmt::join(MethodNames(), " ")));  // for completions
  app.get_option("--preset")->option_text("auto paper short");
  app.get_option("--instruction")
      ->description("paragraph added to the question [how to give the answer; preset short: none]");
}

// Where questions come from and results go; a chat has neither.
void AddSourceFlags(CLI::App& app, RunFlags& flags) {
  const char* group = "Question";
  app.add_option("question", flags.question, "the question; else it is read from standard input");
  app.add_option("--file", flags.file, "read the question from a file")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--questions", flags.questions,
                 "answer all questions of a file: lines, JSON lines or OpenAI's batch format")
      ->type_name("FILE")
      ->group(group)
      ->excludes("question", "--file");
  app.add_option("-o,--output", flags.output,
                 "write the result to a file; with --questions a line for each, continuing where "
                 "the file ends")
      ->type_name("FILE")
      ->group("Output");
}

void AddOutputFlags(CLI::App& app, RunFlags& flags) {
  const char* group = "Output";
  app.add_flag_callback(
         "--no-log", [&flags] { flags.log = false; }, "keep the run out of the log (hyper log)")
      ->group(group);
  app.add_flag("--plan", flags.plan, "print the memory that the run would take; no question needed")
      ->group(group);
  app.add_flag_callback(
         "-q,--quiet", [&flags] { flags.detail = Detail::kAnswer; }, "print the answer alone")
      ->group(group);
  app.add_flag_callback(
         "-v,--verbose", [&flags] { flags.detail = Detail::kAll; },
         "also print the votes under every rule, paths, actions and cost")
      ->group(group)
      ->excludes("--quiet");
  app.add_option("--show", flags.show,
                 "whole texts: winner, losers, or the number of a path [winner, folded]")
      ->type_name("WHICH")
      ->option_text("winner losers")
      ->group(group)
      ->excludes("--quiet");
  app.add_flag("--stream", flags.stream, "print the text of the leading path as it grows")
      ->group(group)
      ->excludes("--quiet");
  app.add_flag("--json", flags.json, "print one JSON object (docs/json.md)")->group(group);
  app.add_flag("--timing", flags.timing, "with --json: add times, which differ from run to run")
      ->group(group);
  app.add_option("--trace", flags.trace, "write every record of the run to a file, one per line")
      ->type_name("FILE")
      ->group(group);
}

// Values that need no model: words that must be known, and options that no preset makes valid.
Status CheckValues(RunFlags& flags, const OptionValues& given) {
  Status status = ApplyFlags(given, OptionsOf(flags));
  if (status) {
    status = ApplyFlags(given, OwnOptions(flags));
  }
  if (status) {
    status = SettleChoices(flags);
  }
  if (!status) {
    return status;
  }
  flags.seed_given = Given(given, "seed");
  flags.has_instruction = Given(given, "instruction");
  flags.automatic.time_s = flags.limits.time_s;
  if (!flags.show.empty() && flags.show != "winner" && flags.show != "losers" &&
      flags.show.find_first_not_of("0123456789") != std::string::npos) {
    return InvalidArgument(
        fmt::format("--show '{}' is not known; it takes winner, losers or the number of "
                    "a path",
                    flags.show));
  }
  if (flags.json && (flags.stream || !flags.show.empty() || flags.detail != Detail::kResult)) {
    return InvalidArgument("--json prints one object; leave --show, --stream, -q and -v out");
  }
  if (!flags.questions.empty() &&
      (flags.json || flags.stream || !flags.show.empty() || !flags.trace.empty())) {
    return InvalidArgument(
        "--questions writes a line of JSON for each question; leave --json, --stream, "
        "--show and --trace out");
  }
  if (flags.timing && !flags.json) {
    return InvalidArgument(
        "--timing has an effect only with --json; add it, or leave --timing out");
  }
  status = CheckEngineFlags(flags.engine);
  if (!status) {
    return status;
  }
  flags.automatic.profile = flags.engine.calibrated.options;
  const Result<RunPlan> plan = ResolveRun(flags, PeekModel(flags.engine));
  if (plan) {
    return {};
  }
  const bool no_method =
      plan.error().code == ErrorCode::kNotFound && plan.error().message.starts_with("method ");
  return InvalidArgument(plan.error().message +
                         (no_method ? DidYouMean(flags.method, MethodNames()) : ""));
}

// The options that were given, as "--name=value"; those of one run's own files are left out.
std::vector<std::string> Canonical(const CLI::App& app,
                                   std::initializer_list<std::string_view> without) {
  std::vector<std::string> arguments;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
    if (option->count() == 0 || name.empty() ||
        std::find(without.begin(), without.end(), name) != without.end()) {
      continue;
    }
    if (option->get_expected_max() == 0) {  // a flag
      arguments.push_back("--" + name);
      continue;
    }
    for (const std::string& value : option->results()) {
      // Another folder is not to change the model.
      const bool file = name == "model" && std::filesystem::exists(value);
      arguments.push_back("--" + name + "=" +
                          (file ? std::filesystem::absolute(value).string() : value));
    }
  }
  return arguments;
}

// The parser of all options of a run.
class RunParser {
 public:
  RunParser(RunFlags& flags, const char* command, const char* description, const char* footer)
      : app_(description), flags_(flags), command_(command) {
    SetUpParser(app_, command, footer);
  }
  CLI::App& app() { return app_; }

  std::optional<int> Parse(int argc, const char* const* argv) {
    AddOptionFlags(app_, OptionsOf(flags_), given_, {"token-records"});
    DescribeQuestionFlags(app_);
    AddOutputFlags(app_, flags_);
    AddOptionFlags(app_, OwnOptions(flags_), given_);
    flags_.engine.AddTo(app_);
    AddProfileFlag(app_, flags_.engine);
    AddMethodFlags(app_, flags_.options);
    return ParseCommandLine(app_, command_, argc, argv, Everyday());
  }
  std::optional<int> Check() {
    flags_.arguments = Canonical(
        app_, {"file", "questions", "output", "trace", "seed", "pace", "profile", "config"});
    const Status status = CheckValues(flags_, given_);
    return status ? std::nullopt : std::optional<int>(Complain(command_, status.error()));
  }

 private:
  // The options of the short help, with the words of their rows where these are short.
  std::vector<EverydayOption> Everyday() {
    MethodOptions method;
    LlamaOptions llama;
    return WithBriefHelp(
        WithBriefHelp(WithBriefHelp(kRunEveryday, OptionsOf(flags_)), OptionsOf(method)),
        OptionsOf(llama));
  }

  CLI::App app_;
  RunFlags& flags_;
  const char* command_;
  OptionValues given_;
};

}  // namespace

std::optional<int> ParseRunFlags(int argc, const char* const* argv, RunFlags* flags) {
  RunParser parser(*flags, kRunCommand, "Answers a question by a pool of reasoning paths.",
                   kRunFooter);
  AddSourceFlags(parser.app(), *flags);
  const std::optional<int> done = parser.Parse(argc, argv);
  return done ? done : parser.Check();
}

std::optional<int> ParseChatFlags(int argc, const char* const* argv, RunFlags* flags) {
  RunParser parser(*flags, kChatCommand, "Answers questions in turn, with the conversation so far.",
                   kChatFooter);
  const std::optional<int> done = parser.Parse(argc, argv);
  if (done) {
    return done;
  }
  if (flags->json || flags->plan || !flags->trace.empty() || !flags->show.empty()) {
    return Complain(kChatCommand,
                    InvalidArgument("a chat takes no --json, --plan, --trace and --show; "
                                    "hyper run does"));
  }
  return parser.Check();
}

std::optional<int> ParseAgainFlags(int argc, const char* const* argv, std::string* id,
                                   std::vector<std::string>* changes) {
  RunFlags flags;
  RunParser parser(flags, kAgainCommand,
                   "Repeats a run of the log, with other options or the same.", kAgainFooter);
  parser.app().add_option("RUN", *id, "the run, such as run_12; else the newest")->type_name("");
  const std::optional<int> done = parser.Parse(argc, argv);
  if (!done) {
    *changes = Canonical(parser.app(), {"config"});
  }
  return done;
}

}  // namespace hyper::app

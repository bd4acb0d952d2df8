// hyper bench: speed of plain pool decoding (a pool without controller, pruning or refinement).
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/engine_flags.h"
#include "apps/hyper/flags/option_flags.h"
#include "apps/hyper/printers/bench_report.h"
#include "apps/hyper/printers/live_view.h"
#include "hyper/ask.h"
#include "hyper/driver.h"
#include "src/decode/ask_options.h"

namespace hyper::app {
namespace {

constexpr const char* kBenchCommand = "bench";
constexpr const char* kQuestion =
    "Ben has 44 boxes with 23 books each. Ben buys 47 more. Ben gives away 73. How many books does "
    "Ben have now?";
constexpr const char* kBenchFooter = R"(Examples:
  hyper bench
  hyper bench --model qwen3.gguf --width 16 --tokens 64 --runs 2 --json

A first run warms up and is not counted. Exit codes are those of hyper run.)";

constexpr auto kBenchEveryday = std::to_array<EverydayOption>({
    {"--json"},
    {"--width", "paths decoded side by side [32]"},
    {"--tokens"},
    {"--prompt-tokens", "tokens of the prompt [the question's]"},
    {"--runs"},
    {"--seed", "seed of the runs [1]"},
    kEverydayModel,
    kEverydayEngine,
    {"--gpu-layers"},
    {"--threads"},
    {"--kv-type"},
    {"--flash-attention"},
    {"--determinism", "strict: equal bytes; fast: equal in distribution [fast]"},
});

struct BenchFlags {
  EngineFlags engine;
  MethodOptions method;  // its width
  AskOptions question;   // its seed
  int tokens = 128;
  int prompt_tokens = 0;
  int runs = 5;
  bool json = false;
};

std::vector<Option> OwnOptions(BenchFlags& flags) {
  constexpr const char* kGroup = "Bench";
  return {{flags.tokens,
           {.name = "tokens",
            .help = "tokens of a path at most",
            .bounds = Between(1, 1048576),
            .group = kGroup}},
          {flags.prompt_tokens,
           {.name = "prompt-tokens",
            .help = "tokens of the prompt, its question repeated; 0: the question once",
            .bounds = Between(0, 1048576),
            .group = kGroup}},
          {flags.runs,
           {.name = "runs",
            .help = "runs that are timed",
            .bounds = Between(1, 1000),
            .group = kGroup}}};
}

std::vector<Option> SharedOptions(BenchFlags& flags) {
  std::vector<Option> options = Only(OptionsOf(flags.method), {"width"});
  for (const Option& seed : Only(OptionsOf(flags.question), {"seed"})) {
    options.push_back(seed);
  }
  return options;
}

// Self-consistency: paths are decoded side by side until each has ended.
Result<BenchRun> TimeOnce(Engine& engine, const RunPlan& plan, const Prompt& prompt,
                          uint64_t seed) {
  SessionSpec spec;
  spec.prompt = prompt;
  spec.seed = {seed, 0};
  const Result<std::unique_ptr<Session>> opened = OpenSession(engine, plan, std::move(spec));
  if (!opened) {
    return opened.error();
  }
  Session& session = **opened;
  Driver driver(engine);
  const auto start = std::chrono::steady_clock::now();
  driver.Add(&session);
  const Ledger& ledger = session.pool().ledger();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  BenchRun run;
  Status status;
  while (status && !driver.idle() && ledger.generated == 0) {
    status = driver.Step(1.0);
  }
  run.prompt_s = seconds();
  run.first_tokens = ledger.generated;
  if (status) {
    status = driver.RunAll();
  }
  run.wall_s = seconds();
  if (status) {
    status = session.status();
  }
  if (!status) {
    return status.error();
  }
  run.tokens = ledger.generated;
  run.engine_s = ledger.engine_s;
  run.sampler_s = ledger.sampler_s;
  run.statistics_s = ledger.statistics_s;
  run.mean_lanes = ledger.mean_lanes();
  run.prompt_tokens = ledger.prefilled;
  return run;
}

Result<BenchReport> Measure(const BenchFlags& flags) {
  LiveView view(LiveModeOf(LiveWhen::kAuto));
  view.Phase("loading " + flags.engine.model);
  Result<std::unique_ptr<Engine>> engine =
      MakeEngine(kBenchCommand, flags.engine, flags.method.width);
  if (!engine) {
    return engine.error();
  }
  RunRequest wanted;
  wanted.method = "sc";
  wanted.preset = FixedPreset((*engine)->model());
  wanted.options = {{"width", flags.method.width}, {"max-tokens", flags.tokens}};
  const Result<RunPlan> plan = ResolveRun(wanted, (*engine)->model());
  if (!plan) {
    return plan.error();
  }
  Result<Prompt> prompt = RenderQuestion(**engine, kQuestion, "", "");
  if (!prompt) {
    return prompt.error();
  }
  if (flags.prompt_tokens > 0) {
    const std::vector<Token> question = prompt->tokens;
    while (static_cast<int>(prompt->tokens.size()) < flags.prompt_tokens) {
      prompt->tokens.insert(prompt->tokens.end(), question.begin(), question.end());
    }
    prompt->tokens.resize(flags.prompt_tokens);
  }
  BenchReport report;
  report.model = (*engine)->model();
  report.determinism = flags.engine.llama.strict ? "strict" : "fast";
  report.width = flags.method.width;
  report.tokens = flags.tokens;
  report.seed = flags.question.seed;
  for (int run = -1; run < flags.runs; ++run) {
    view.Phase(run < 0 ? "warming up" : fmt::format("run {} of {}", run + 1, flags.runs));
    Result<BenchRun> timed = TimeOnce(**engine, *plan, *prompt, flags.question.seed);
    if (!timed) {
      return timed.error();
    }
    if (run >= 0) {
      report.runs.push_back(*timed);
    }
  }
  return report;
}

}  // namespace

int BenchCommand(int argc, const char* const* argv) {
  CLI::App app("Measures tokens/s of plain pool decoding, and the share of time in each part.");
  BenchFlags flags;
  SetUpParser(app, kBenchCommand, kBenchFooter);
  flags.method.width = 32;
  flags.question.seed = 1;
  OptionValues given;
  AddOptionFlags(app, SharedOptions(flags), given);
  AddOptionFlags(app, OwnOptions(flags), given);
  app.add_flag("--json", flags.json, "print one JSON object");
  flags.engine.llama.strict = false;
  flags.engine.AddTo(app);
  const std::vector<EverydayOption> everyday =
      WithBriefHelp(kBenchEveryday, OptionsOf(flags.engine.llama));
  if (std::optional<int> exit_code = ParseCommandLine(app, kBenchCommand, argc, argv, everyday)) {
    return *exit_code;
  }
  Status checked = ApplyFlags(given, OwnOptions(flags));
  if (checked) {
    checked = ApplyFlags(given, SharedOptions(flags));
  }
  if (checked) {
    checked = CheckEngineFlags(flags.engine);
  }
  if (!checked) {
    return Complain(kBenchCommand, checked.error());
  }
  Result<BenchReport> report = Measure(flags);
  if (!report) {
    return Complain(kBenchCommand, report.error());
  }
  const bool printed =
      PrintResult(kBenchCommand, flags.json ? BenchToJson(*report) : BenchToText(*report));
  return printed ? kExitOk : kExitOutput;
}

}  // namespace hyper::app

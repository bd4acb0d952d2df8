// hyper bench: speed of plain pool decoding (a pool without controller, pruning or refinement).
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "apps/hyper/bench_report.h"
#include "apps/hyper/bundled_model.h"
#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/engine_flags.h"
#include "apps/hyper/parse_value.h"
#include "apps/hyper/printers/live_view.h"
#include "apps/hyper/question.h"
#include "apps/hyper/session_setup.h"
#include "hyper/ask.h"
#include "hyper/driver.h"

namespace hyper::app {
namespace {

constexpr const char* kBenchCommand = "bench";
constexpr const char* kQuestion =
    "Ben has 44 boxes with 23 books each. Ben buys 47 more. Ben gives away 73. How many books does "
    "Ben have now?";
constexpr const char* kBenchFooter = R"(Examples:
  hyper bench
  hyper bench --model qwen3.gguf --width 16 --tokens 256 --runs 3 --json

A first run warms up and is not counted. Exit codes are those of hyper run.)";

struct BenchFlags {
  EngineFlags engine;
  std::string width = "32";
  std::string tokens = "128";
  std::string runs = "5";
  std::string seed = "1";
  bool json = false;
};

struct BenchPlan {
  int width = 0;
  int tokens = 0;
  int runs = 0;
  uint64_t seed = 0;
};

void AddFlags(CLI::App& app, BenchFlags& flags) {
  app.add_option("--width", flags.width, "paths decoded side by side, 1..4096 [32]")
      ->type_name("N");
  app.add_option("--tokens", flags.tokens, "tokens of a path at most, 1..1048576 [128]")
      ->type_name("N");
  app.add_option("--runs", flags.runs, "runs that are timed, 1..1000 [5]")->type_name("N");
  app.add_option("--seed", flags.seed, "run seed [1]")->type_name("N");
  app.add_flag("--json", flags.json, "print one JSON object");
  flags.engine.determinism = "fast";
  flags.engine.AddTo(app);
}

Status ParseCount(const char* name, const std::string& text, int highest, int& value) {
  const std::string range = fmt::format("1..{}", highest);
  Status status = ParseValue(name, text, range, value);
  if (status && (value < 1 || value > highest)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--{} is {}, outside its range; it takes {}", name, value, range)};
  }
  return status;
}

Result<BenchPlan> PlanOf(const BenchFlags& flags) {
  BenchPlan plan;
  for (const Status& status :
       {ParseCount("width", flags.width, 4096, plan.width),
        ParseCount("tokens", flags.tokens, 1048576, plan.tokens),
        ParseCount("runs", flags.runs, 1000, plan.runs),
        ParseValue("seed", flags.seed, "0..18446744073709551615", plan.seed)}) {
    if (!status) {
      return status.error();
    }
  }
  return plan;
}

// Self-consistency: paths are decoded side by side until each has ended.
Result<BenchRun> TimeOnce(Engine& engine, const MethodOptions& options, const Prompt& prompt,
                          uint64_t seed) {
  Result<std::unique_ptr<Method>> method = MakeMethod("sc", options);
  if (!method) {
    return method.error();
  }
  Pool::Config config;
  config.prompt = prompt;
  config.options = options;
  config.seed = {seed, 0};
  config.reservation = WholeEngine(options, engine);
  Session session(engine, std::move(config), std::move(*method), {});
  Driver driver(engine);
  const auto start = std::chrono::steady_clock::now();
  driver.Add(&session);
  Status status = driver.RunAll();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (status) {
    status = session.status();
  }
  if (!status) {
    return status.error();
  }
  const Ledger& ledger = session.pool().ledger();
  return BenchRun{ledger.generated, wall.count(),        ledger.engine_s,
                  ledger.sampler_s, ledger.statistics_s, ledger.mean_lanes()};
}

Result<BenchReport> Measure(const BenchFlags& flags, const BenchPlan& plan) {
  OptionFlags given;
  given.SetDefault("width", flags.width);
  given.SetDefault("max-tokens", flags.tokens);
  Result<MethodOptions> options = ResolveOptions(given, PresetFor("", flags.engine.model), "sc");
  if (!options) {
    return options.error();
  }
  LiveView view(LiveModeOf("auto"));
  view.Phase("loading " + flags.engine.model);
  Result<std::unique_ptr<Engine>> engine = MakeEngine(kBenchCommand, flags.engine, plan.width);
  if (!engine) {
    return engine.error();
  }
  Status fits = CheckPaths(*options, PoolWidth(*options), (*engine)->capabilities().max_lanes);
  if (!fits) {
    return fits.error();
  }
  Result<Prompt> prompt = MakePrompt(**engine, kQuestion, "", "");
  if (!prompt) {
    return prompt.error();
  }
  BenchReport report;
  report.model = (*engine)->model();
  report.determinism = flags.engine.determinism;
  report.width = plan.width;
  report.tokens = plan.tokens;
  report.seed = plan.seed;
  for (int run = -1; run < plan.runs; ++run) {
    view.Phase(run < 0 ? "warming up" : fmt::format("run {} of {}", run + 1, plan.runs));
    Result<BenchRun> timed = TimeOnce(**engine, *options, *prompt, plan.seed);
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
  AddFlags(app, flags);
  if (std::optional<int> exit_code = ParseCommandLine(app, kBenchCommand, argc, argv)) {
    return *exit_code;
  }
  Result<BenchPlan> plan = PlanOf(flags);
  if (!plan) {
    return Complain(kBenchCommand, plan.error());
  }
  Status checked = CheckEngineFlags(flags.engine);
  if (!checked) {
    return Complain(kBenchCommand, checked.error());
  }
  Result<BenchReport> report = Measure(flags, *plan);
  if (!report) {
    return Complain(kBenchCommand, report.error());
  }
  const bool printed =
      PrintResult(kBenchCommand, flags.json ? BenchToJson(*report) : BenchToText(*report));
  return printed ? kExitOk : kExitOutput;
}

}  // namespace hyper::app

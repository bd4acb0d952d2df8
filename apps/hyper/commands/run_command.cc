// hyper run: one question, one session. Parse, build the objects in order, step, print.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/run_plan.h"
#include "apps/hyper/commands/trace_file.h"
#include "apps/hyper/flags/run_flags.h"
#include "apps/hyper/interrupt.h"
#include "apps/hyper/printers/live_view.h"
#include "apps/hyper/printers/run_json.h"
#include "apps/hyper/printers/run_text.h"
#include "apps/hyper/question.h"
#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/llama_engine.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

using Clock = std::chrono::steady_clock;

// Where the records of a session go: the live view, the trace and the report.
class Recorder {
 public:
  Recorder(LiveView& view, TraceFile* trace) : view_(view), trace_(trace) {}

  // Error of the trace, which has then been removed; the run goes on without it.
  Status Take(std::vector<Record> records) {
    for (Record& record : records) {
      view_.OnRecord(record);
      if (trace_ != nullptr) {
        trace_->Add(DumpJson(TraceJson(record)));
      }
      if (const auto* notice = std::get_if<NoticeRecord>(&record)) {
        warnings_.push_back(notice->text);
      } else if (const auto* shortage = std::get_if<ShortageRecord>(&record)) {
        warnings_.push_back(ShortageText(*shortage));
      }
      if (!std::holds_alternative<TokenRecord>(record)) {
        records_.push_back(std::move(record));
      }
    }
    return trace_ != nullptr ? trace_->Flush() : Status();
  }
  void AddWarning(const std::string& text) { warnings_.push_back(text); }

  const std::vector<Record>& records() const { return records_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  LiveView& view_;
  TraceFile* trace_;
  std::vector<Record> records_;
  std::vector<std::string> warnings_;
};

// A seed that JSON readers which hold numbers as doubles keep exactly.
uint64_t DrawSeed() {
  constexpr uint64_t kExactInDouble = (uint64_t{1} << 53U) - 1;
  std::random_device device;
  return ((uint64_t{device()} << 32U) | device()) & kExactInDouble;
}

// Steps until the session has finished; returns the exit code.
int Decode(Driver& driver, Session& session, Recorder& recorder, LiveView& view) {
  const InterruptGuard interrupt;
  int exit_code = kExitOk;
  driver.Add(&session);
  while (!driver.idle()) {
    if (interrupt.interrupted() && !session.finished()) {
      session.Stop("interrupted");
      exit_code = kExitInterrupted;
    }
    // The session keeps an engine error too; it is printed with the result.
    Status step = driver.Step(/*timeout_s=*/1.0);
    Status written = recorder.Take(session.pool().TakeRecords());
    if (!written) {
      view.Clear();
      Complain(kRunCommand, written.error());
      exit_code = kExitOutput;
    }
    if (!step) {
      break;
    }
    view.Draw(session.pool());
  }
  view.Clear();
  return session.status() ? exit_code : ExitCodeOf(session.status().error());
}

// Prints the result; returns the exit code, `exit_code` where all is well.
int Print(const RunReport& report, const RunFlags& flags, TraceFile* trace, int exit_code) {
  for (const std::string& warning : report.warnings) {
    Warn(kRunCommand, warning);
  }
  const Status& status = report.session.status();
  if (!status) {
    Complain(kRunCommand, status.error());
  }
  if (!status && report.session.pool().paths().empty()) {
    return exit_code;
  }
  if (trace != nullptr) {
    trace->Add(TraceEnd(report));
    Status committed = trace->Commit();
    if (!committed) {
      Complain(kRunCommand, committed.error());
      exit_code = kExitOutput;
    }
  }
  if (!PrintResult(kRunCommand, flags.json ? RunToJson(report, flags.timing) : RunToText(report))) {
    exit_code = kExitOutput;
  }
  if (!flags.json) {
    Tell(TimeLine(report) + "\n");
  }
  return exit_code;
}

// The plan as far as it is known before the model is loaded.
Result<RunPlan> EarlyPlan(const RunFlags& flags) {
  return ResolveRun(flags.request, PeekModel(flags.engine));
}

// The engine, made for as many lanes and cells as the run may have in use.
Result<std::unique_ptr<Engine>> LoadEngine(const RunFlags& flags, int64_t prompt_tokens,
                                           LiveView& view) {
  const Result<RunPlan> plan = EarlyPlan(flags);
  if (!plan) {
    return plan.error();
  }
  if (flags.engine.engine == "llama") {
    Capabilities most;
    most.max_lanes = kMostLanes;
    most.max_top_count = 1;
    if (Status status = CheckAbilities(*plan, most); !status) {
      return status.error();
    }
  }
  view.Phase("loading " + (flags.engine.model.empty() ? flags.engine.engine : flags.engine.model));
  EngineFlags engine_flags = flags.engine;
  engine_flags.remote.waiting_tokens = 2 * plan->options.interval;
  engine_flags.remote.stream_tokens = plan->options.max_tokens;
  engine_flags.llama.needed_cells = CellsNeeded(*plan, prompt_tokens);
  Result<std::unique_ptr<Engine>> engine =
      MakeEngine(kRunCommand, engine_flags, LaneLimit(plan->options));
  view.Clear();
  return engine;
}

// How long the run would take: what SettlePlan tells.
int PrintTime(const RunFlags& flags) {
  constexpr const char* kQuestion = "What is 1 + 1?";
  LiveView view(LiveMode::kOff);
  const Result<std::unique_ptr<Engine>> engine =
      LoadEngine(flags, MostPromptTokens(flags, kQuestion), view);
  if (!engine) {
    return Complain(kRunCommand, engine.error());
  }
  const Result<Prompt> prompt = RenderPrompt(flags, kQuestion, **engine);
  const Result<RunPlan> plan =
      prompt ? SettlePlan(flags, **engine, *prompt) : Result<RunPlan>(prompt.error());
  return plan ? kExitOk : Complain(kRunCommand, plan.error());
}

// The memory of the engine that LoadEngine would make.
int PrintMemory(const RunFlags& flags) {
  const Result<RunPlan> plan = EarlyPlan(flags);
  if (!plan) {
    return Complain(kRunCommand, plan.error());
  }
  EngineFlags engine_flags = flags.engine;
  engine_flags.llama.needed_cells = CellsNeeded(*plan, MostPromptTokens(flags, ""));
  const MethodOptions& options = plan->options;
  const int path_tokens = plan->path_tokens > 0 ? plan->path_tokens : options.max_tokens;
  const int exit_code =
      PrintPlan(kRunCommand, engine_flags, LaneLimit(options), path_tokens, flags.json);
  return exit_code == kExitOk && plan->preset == "auto" ? PrintTime(flags) : exit_code;
}

// What the run is, for its report.
RunSetup Describe(const RunFlags& flags, const std::string& question, const Engine& engine,
                  const RunPlan& plan) {
  RunSetup setup;
  setup.question = question;
  setup.method = plan.method;
  setup.preset = plan.preset;
  setup.options = plan.options;
  setup.engine = flags.engine.engine;
  setup.determinism = flags.engine.llama.strict ? "strict" : "fast";
  if (IsRemote(setup.engine)) {
    setup.remote = flags.engine.remote;
  }
  setup.seed_drawn = !flags.seed_given;
  setup.seed = flags.seed_given ? flags.seed : DrawSeed();
  setup.model = engine.model();
  return setup;
}

// The trace with its first line; none where `path` is empty.
Result<std::unique_ptr<TraceFile>> OpenTrace(const std::string& path, const RunSetup& setup) {
  if (path.empty()) {
    return std::unique_ptr<TraceFile>();
  }
  Result<std::unique_ptr<TraceFile>> trace = TraceFile::Open(path);
  if (trace) {
    (*trace)->Add(TraceHead(setup));
  }
  return trace;
}

int RunQuestion(const RunFlags& flags, const std::string& question) {
  const auto start = Clock::now();
  LiveView view(LiveModeOf(flags.live));
  Result<std::unique_ptr<Engine>> engine =
      LoadEngine(flags, MostPromptTokens(flags, question), view);
  if (!engine) {
    return Complain(kRunCommand, engine.error());
  }
  const Result<Prompt> prompt = RenderPrompt(flags, question, **engine);
  if (!prompt) {
    return Complain(kRunCommand, prompt.error());
  }
  const Result<RunPlan> plan = SettlePlan(flags, **engine, *prompt);
  if (!plan) {
    return Complain(kRunCommand, plan.error());
  }
  RunSetup setup = Describe(flags, question, **engine, *plan);
  setup.prompt = prompt->text;
  SessionSpec spec;
  spec.prompt = *prompt;
  spec.seed = {setup.seed, 0};
  spec.limits = flags.limits;
  spec.extractor = ExtractorFor(flags.extract);
  spec.token_records = !flags.trace.empty();
  const Result<std::unique_ptr<Session>> session = OpenSession(**engine, *plan, std::move(spec));
  if (!session) {
    return Complain(kRunCommand, session.error());
  }
  Result<std::unique_ptr<TraceFile>> trace = OpenTrace(flags.trace, setup);
  if (!trace) {
    Complain(kRunCommand, trace.error());
    return kExitOutput;
  }
  Recorder recorder(view, trace->get());
  if (!prompt->warning.empty()) {
    recorder.AddWarning(prompt->warning);
  }
  Driver driver(**engine);
  const auto loaded = Clock::now();
  const int exit_code = Decode(driver, **session, recorder, view);
  const std::chrono::duration<double> load = loaded - start;
  const std::chrono::duration<double> decode = Clock::now() - loaded;
  return Print(
      {setup, **session, recorder.records(), recorder.warnings(), load.count(), decode.count()},
      flags, trace->get(), exit_code);
}

}  // namespace

int RunCommand(int argc, const char* const* argv) {
  RunFlags flags;
  if (std::optional<int> exit_code = ParseRunFlags(argc, argv, &flags)) {
    return *exit_code;
  }
  if (flags.plan) {
    return PrintMemory(flags);
  }
  Result<std::string> question = ReadQuestion(flags.question, flags.file);
  if (!question) {
    return Complain(kRunCommand, question.error());
  }
  Status writable = flags.trace.empty() ? Status() : TraceFile::Check(flags.trace);
  if (!writable) {
    Complain(kRunCommand, writable.error());
    return kExitOutput;
  }
  return RunQuestion(flags, *question);
}

}  // namespace hyper::app

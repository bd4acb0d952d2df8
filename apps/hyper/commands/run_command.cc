// hyper run: one question, one session, or many of them out of a file. Parse, load, decode, print.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/asker.h"
#include "apps/hyper/commands/many_questions.h"
#include "apps/hyper/commands/run_plan.h"
#include "apps/hyper/commands/trace_file.h"
#include "apps/hyper/flags/run_flags.h"
#include "apps/hyper/input/question.h"
#include "apps/hyper/printers/live_view.h"
#include "apps/hyper/printers/run_json.h"
#include "apps/hyper/printers/run_text.h"
#include "apps/hyper/run_log.h"

namespace hyper::app {
namespace {

// The result as the flags want it.
std::string ResultText(const Asked& asked, const RunFlags& flags, const LeaderStream& stream) {
  const RunReport report = asked.Report();
  if (flags.json) {
    return RunToJson(report, flags.timing);
  }
  if (flags.detail == Detail::kAnswer) {
    return RunToText(report, flags.detail);
  }
  const bool shown = stream.End(asked.Winner());
  std::string texts = shown && flags.show.empty() ? "" : ShownTexts(report, flags.show);
  if (texts.empty() && !flags.show.empty()) {
    Warn(kRunCommand, fmt::format("--show {} names no text: there are {} paths, numbered from 0",
                                  flags.show, asked.session->pool().paths().size()));
  }
  return std::move(texts) + RunToText(report, flags.detail);
}

// Prints the result; returns the exit code.
int Print(const Asked& asked, const RunFlags& flags, TraceFile* trace, const LeaderStream& stream) {
  int exit_code = asked.exit_code;
  const RunReport report = asked.Report();
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
  if (!PrintResult(kRunCommand, ResultText(asked, flags, stream))) {
    exit_code = kExitOutput;
  }
  if (!flags.json && flags.detail != Detail::kAnswer) {
    Tell(TimeLine(report, flags.detail) + "\n");
  }
  return exit_code;
}

// How long the run would take: what SettlePlan tells.
int PrintTime(const RunFlags& flags) {
  const std::vector<ChatMessage> messages = MessagesOf(flags, "What is 1 + 1?");
  LiveView view(LiveMode::kOff);
  Result<Asker> asker = Asker::Load(flags, MostPromptTokens(flags, messages), view);
  if (!asker) {
    return Complain(kRunCommand, asker.error());
  }
  const Result<Asked> asked = asker->Prepare(messages, 0, view);
  return asked ? kExitOk : Complain(kRunCommand, asked.error());
}

// The memory of the engine that Asker::Load would make.
int PrintMemory(const RunFlags& flags) {
  const Result<RunPlan> plan = EarlyPlan(flags);
  if (!plan) {
    return Complain(kRunCommand, plan.error());
  }
  EngineFlags engine_flags = flags.engine;
  engine_flags.llama.needed_cells =
      CellsNeeded(*plan, MostPromptTokens(flags, MessagesOf(flags, "")));
  const MethodOptions& options = plan->options;
  const int exit_code = PrintPlan(kRunCommand, engine_flags, LaneLimit(options),
                                  {plan->path_tokens, options.max_tokens}, flags.json);
  return exit_code == kExitOk && plan->preset == "auto" ? PrintTime(flags) : exit_code;
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

// From now on stdout is the file of -o. Errors: kNotFound.
Status RedirectOutput(const std::string& path) {
  if (path.empty() || std::freopen(path.c_str(), "wb", stdout) != nullptr) {
    return {};
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("-o '{}' cannot be written: {}; check path and permissions", path,
                           std::generic_category().message(errno))};
}

int RunQuestion(const RunFlags& flags, const std::string& question) {
  const LiveMode mode = LiveModeOf(flags.detail == Detail::kAnswer ? LiveWhen::kNever : flags.live,
                                   /*for_programs=*/flags.json);
  // While a text is streamed nothing is drawn; between two texts a line says that the run goes on.
  LiveView view(flags.stream && mode != LiveMode::kOff ? LiveMode::kHeartbeats : mode);
  std::vector<ChatMessage> messages = MessagesOf(flags, question);
  Result<Asker> asker = Asker::Load(flags, MostPromptTokens(flags, messages), view);
  if (!asker) {
    return Complain(kRunCommand, asker.error());
  }
  Result<Asked> asked = asker->Prepare(std::move(messages), 0, view);
  if (!asked) {
    return Complain(kRunCommand, asked.error());
  }
  Result<std::unique_ptr<TraceFile>> trace = OpenTrace(flags.trace, asked->setup);
  const Status output = RedirectOutput(flags.output);
  if (!trace || !output) {
    Complain(kRunCommand, trace ? output.error() : trace.error());
    return kExitOutput;
  }
  LeaderStream stream(flags.stream);
  asker->Decode(*asked, view, stream, trace->get());
  const int exit_code = Print(*asked, flags, trace->get(), stream);
  KeepInLog(flags, *asked);
  return exit_code;
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
  if (!flags.questions.empty()) {
    return RunMany(flags);
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

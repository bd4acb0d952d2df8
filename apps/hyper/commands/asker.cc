#include "apps/hyper/commands/asker.h"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <utility>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/run_plan.h"
#include "apps/hyper/interrupt.h"
#include "hyper/driver.h"
#include "hyper/extract.h"
#include "hyper/llama_engine.h"
#include "src/report/json.h"
#include "src/report/winner.h"

namespace hyper::app {
namespace {

using Clock = std::chrono::steady_clock;

// Where the records of a session go: the live view, the trace and the report.
class Recorder {
 public:
  Recorder(LiveView& view, TraceFile* trace, Asked& asked)
      : view_(view), trace_(trace), asked_(asked) {}

  // Error of the trace, which has then been removed; the run goes on without it.
  Status Take(std::vector<Record> records) {
    for (Record& record : records) {
      view_.OnRecord(record);
      if (trace_ != nullptr) {
        trace_->Add(DumpJson(TraceJson(record)));
      }
      if (const auto* notice = std::get_if<NoticeRecord>(&record)) {
        asked_.warnings.push_back(notice->text);
      } else if (const auto* shortage = std::get_if<ShortageRecord>(&record)) {
        first_shortage_ = first_shortage_.empty() ? ShortageText(*shortage) : first_shortage_;
        ++shortages_;
      }
      if (!std::holds_alternative<TokenRecord>(record)) {
        asked_.records.push_back(std::move(record));
      }
    }
    return trace_ != nullptr ? trace_->Flush() : Status();
  }

  // Shortages as one warning: those that follow the first say the same of other paths.
  void End() {
    if (shortages_ > 0) {
      asked_.warnings.push_back(
          first_shortage_ +
          (shortages_ > 1 ? fmt::format("; {} shortages in all", shortages_) : "") +
          "; raise --ctx, or lower --width or --max-tokens");
    }
  }

 private:
  LiveView& view_;
  TraceFile* trace_;
  Asked& asked_;
  std::string first_shortage_;
  int shortages_ = 0;
};

// A seed that JSON readers which hold numbers as doubles keep exactly.
uint64_t DrawSeed() {
  constexpr uint64_t kExactInDouble = (uint64_t{1} << 53U) - 1;
  std::random_device device;
  return ((uint64_t{device()} << 32U) | device()) & kExactInDouble;
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
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
    most.full_logits = true;
    if (Status status = CheckAbilities(*plan, most); !status) {
      return status.error();
    }
  }
  if (flags.engine.engine != "scripted") {
    view.Phase("loading " +
               (flags.engine.model.empty() ? flags.engine.engine : flags.engine.model));
  }
  EngineFlags engine_flags = flags.engine;
  engine_flags.remote.waiting_tokens = 2 * plan->options.interval;
  engine_flags.remote.stream_tokens = plan->options.max_tokens;
  engine_flags.llama.needed_cells = CellsNeeded(*plan, prompt_tokens);
  Result<std::unique_ptr<Engine>> engine =
      MakeEngine(kRunCommand, engine_flags, LaneLimit(plan->options));
  view.Clear();
  return engine;
}

// What the run is, for its report.
RunSetup Describe(const RunFlags& flags, const std::string& question, const Engine& engine,
                  const RunPlan& plan) {
  RunSetup setup;
  setup.question = question;
  setup.method = plan.method;
  setup.preset = plan.preset;
  setup.tokens_per_s = plan.tokens_per_s;
  setup.profile = plan.profile;
  setup.options = plan.options;
  setup.engine = flags.engine.engine;
  setup.determinism = flags.engine.llama.strict ? "strict" : "fast";
  if (IsRemote(setup.engine)) {
    setup.remote = flags.engine.remote;
  }
  setup.model = engine.model();
  return setup;
}

}  // namespace

const Path* Asked::Winner() const {
  return WinningPath(session->pool().paths(), session->Result().answer);
}

std::string Asked::Reply() const {
  const Path* path = Winner();
  if (path == nullptr) {
    return "";
  }
  const std::vector<TagPair> tags = DefaultThinkTags();
  const ReasoningSplit split =
      SplitReasoning(path->text, tags, PromptOpensReasoning(setup.prompt, tags));
  return split.content.empty() ? path->text : JoinSpans(path->text, split.content);
}

void LeaderStream::Take(const Pool& pool) {
  if (on_) {
    const bool was_writing = writing(pool);
    std::string text = leader_.Next(pool);
    const bool ended =
        (was_writing || !text.empty()) && leader_.started() && !leader_.writing(pool);
    text += ended ? "\n" : "";  // what else is told begins on a line of its own
    line_open_ = text.empty() ? line_open_ : text.back() != '\n';
    on_ = text.empty() || PrintResult(kRunCommand, text);
  }
}

bool LeaderStream::End(const Path* path) const {
  const bool shown = path != nullptr && leader_.shown(*path);
  if (leader_.started()) {
    const std::string other = path == nullptr || shown
                                  ? ""
                                  : fmt::format("[path {} has the answer of the vote]\n", path->id);
    PrintResult(kRunCommand, (line_open_ ? "\n\n" : "\n") + other);
  }
  return shown;
}

std::vector<ChatMessage> MessagesOf(const RunFlags& flags, const std::string& question) {
  std::vector<ChatMessage> messages;
  if (!flags.system.empty()) {
    messages.push_back({"system", flags.system});
  }
  messages.push_back({"user", question});
  return messages;
}

Asker::Asker(const RunFlags& flags, std::unique_ptr<Engine> engine)
    : flags_(&flags),
      engine_(std::move(engine)),
      seed_(flags.seed_given ? flags.seed : DrawSeed()) {}

Result<Asker> Asker::Load(const RunFlags& flags, int64_t prompt_tokens, LiveView& view) {
  const auto start = Clock::now();
  Result<std::unique_ptr<Engine>> engine = LoadEngine(flags, prompt_tokens, view);
  if (!engine) {
    return engine.error();
  }
  if (const Result<RunPlan> plan = ResolveRun(flags, (*engine)->model()); !plan) {
    return plan.error();
  }
  Asker asker(flags, std::move(*engine));
  asker.load_s_ = SecondsSince(start);
  return asker;
}

Result<Asked> Asker::Prepare(std::vector<ChatMessage> messages, uint64_t number, LiveView& view,
                             std::optional<uint64_t> seed) {
  const auto start = Clock::now();
  const std::string question = messages.back().content;
  Result<Prompt> prompt = RenderPrompt(*flags_, std::move(messages), *engine_);
  if (!prompt) {
    return prompt.error();
  }
  const Result<RunPlan> plan = SettlePlan(*flags_, *engine_, *prompt, view, pace_);
  if (!plan) {
    return plan.error();
  }
  Asked asked;
  asked.setup = Describe(*flags_, question, *engine_, *plan);
  asked.setup.seed = seed.value_or(seed_);
  asked.setup.seed_drawn = !flags_->seed_given && !seed;
  asked.setup.prompt = prompt->text;
  if (!prompt->warning.empty()) {
    asked.warnings.push_back(prompt->warning);
  }
  SessionSpec spec;
  spec.prompt = std::move(*prompt);
  spec.seed = {asked.setup.seed, number};
  spec.limits = flags_->limits;
  spec.extractor = ExtractorFor(flags_->extract);
  spec.token_records = !flags_->trace.empty();
  Result<std::unique_ptr<Session>> session = OpenSession(*engine_, *plan, std::move(spec));
  if (!session) {
    return session.error();
  }
  asked.session = std::move(*session);
  asked.load_s = std::exchange(load_s_, 0) + SecondsSince(start);
  return asked;
}

void Asker::Decode(Asked& asked, LiveView& view, LeaderStream& stream, TraceFile* trace) {
  const InterruptGuard interrupt;
  const auto start = Clock::now();
  view.Start(fmt::format("{} on {}, seed {}", asked.setup.method, OneLine(asked.setup.model.name),
                         asked.setup.seed),
             flags_->limits.time_s);
  Session& session = *asked.session;
  Recorder recorder(view, trace, asked);
  Driver driver(*engine_);
  driver.Add(&session);
  while (!driver.idle()) {
    if (interrupt.interrupted() && !session.finished()) {
      session.Stop("interrupted");
      asked.exit_code = kExitInterrupted;
    }
    // The session keeps an engine error too; it is printed with the result.
    Status step = driver.Step(/*timeout_s=*/1.0);
    Status written = recorder.Take(session.TakeRecords());
    if (!written) {
      view.Clear();
      Complain(kRunCommand, written.error());
      asked.exit_code = kExitOutput;
    }
    stream.Take(session.pool());
    if (!step) {
      break;
    }
    if (!stream.writing(session.pool())) {
      view.Draw(session);
    }
  }
  recorder.End();
  view.Clear();
  if (!session.status()) {
    asked.exit_code = ExitCodeOf(session.status().error());
  }
  asked.decode_s = SecondsSince(start);
}

}  // namespace hyper::app

#include "apps/hyper/commands/decode_study.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/eval_rows.h"
#include "apps/hyper/flags/eval_flags.h"
#include "apps/hyper/input/secret.h"
#include "apps/hyper/interrupt.h"
#include "apps/hyper/printers/eval_tables.h"
#include "apps/hyper/printers/judge_line.h"
#include "hyper/ask.h"
#include "hyper/llama_engine.h"
#include "src/eval/grade/study_grades.h"
#include "src/eval/metrics/study_summary.h"
#include "src/eval/run/runner.h"
#include "src/eval/run/stored_reservation.h"

namespace hyper::app {
namespace {

// Methods aligned with what hyper used may start this many times its lanes; KV cells are reserved
// for them.
constexpr int kAlignedLanes = 2;
constexpr int kShortTraces = 4096;  // up to here the KV cache is sized for the worst case

// Whether a method's budget is its number of paths, so that it can be aligned with hyper's.
bool IsAligned(const std::string& method) {
  return method == "sc" || method.starts_with("sc-") || method == "esc" ||
         method.starts_with("self-certainty") || method.starts_with("deepconf") ||
         method.starts_with("bon");
}

// A delimiter as the option takes it.
std::string EscapedDelimiter(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\t') {
      escaped += "\\t";
    } else if (c == '\\') {
      escaped += "\\\\";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// The plan of a row: preset of the suite, the method's options, the model's own, the suite's, the
// user's, the row's.
Result<RunPlan> PlanOf(const EvalFlags& flags, const ModelInfo& model, const eval::Suite& suite,
                       const RowRequest& row) {
  OptionValues defaults = {{"step-delimiter", EscapedDelimiter(suite.step_delimiter)}};
  for (const auto& [name, value] : suite.options) {
    defaults.emplace_back(name, value);
  }
  defaults.insert(defaults.end(), flags.options.begin(), flags.options.end());
  AutoRequest automatic;
  automatic.profile = flags.engine.calibrated.options;
  return ResolveRun({row.method, suite.preset, row.options, std::move(defaults), automatic}, model);
}

// Lanes for all questions at once, but no further context of llama.cpp for their sake alone.
int LanesOf(int lanes, int parallel) {
  return std::max(lanes, std::min(lanes * parallel, kMostContextLanes));
}

// Everything that a study needs before its engine.
struct Prepared {
  eval::Suite suite;
  std::vector<eval::Question> questions;
  std::vector<eval::StudyRow> rows;  // reservations not set yet
  int lanes = 0;                     // of one session at most
  int64_t cells = 0;                 // of the widest session; 0: all that the engine has
  int longest = 0;                   // tokens of a path at most
  std::unique_ptr<Engine> reward = nullptr;
};

// Loads the reward model, where one is asked for.
Status LoadReward(const EvalFlags& flags, Prepared& prepared) {
  if (flags.reward_model.empty()) {
    return {};
  }
  EngineFlags reward = flags.engine;
  reward.model = flags.reward_model;
  if (Status status = CheckEngineFlags(reward); !status) {
    return status;
  }
  Result<std::unique_ptr<Engine>> engine = MakeEngine(flags.command, reward, prepared.lanes);
  if (!engine) {
    return engine.error();
  }
  prepared.reward = std::move(*engine);
  return {};
}

// What the rules left open, put to the judge.
Status Judge(const EvalFlags& flags, Store& store) {
  if (flags.judge.url.empty()) {
    return {};
  }
  eval::JudgeOptions judge = flags.judge;
  judge.key = FromEnvironment({"HYPER_JUDGE_KEY"});
  const Result<eval::GradingReport> graded = eval::GradeStudy(store, /*all=*/false, &judge);
  if (!graded) {
    return graded.error();
  }
  Tell(JudgeLine(judge, *graded));
  return {};
}

// Says once what the engine said where items of these runs have no result. Returns their number.
Result<int> WarnOfFailures(const EvalFlags& flags, Store& store, const std::vector<int64_t>& runs) {
  int failed = 0;
  std::string reason;
  for (const int64_t run : std::set<int64_t>(runs.begin(), runs.end())) {
    const Result<std::vector<ItemSummary>> items = store.Items(run);
    if (!items) {
      return items.error();
    }
    for (const ItemSummary& item : *items) {
      if (item.status != ItemStatus::kFailed || item.reason.starts_with(eval::kStoppedReason)) {
        continue;
      }
      ++failed;
      reason = reason.empty() ? item.reason : reason;
    }
  }
  if (failed > 0) {
    Warn(flags.command,
         fmt::format("answers that failed: {}; the same command tries them again: {}", failed,
                     OneLine(reason)));
  }
  return failed;
}

Result<Prepared> Prepare(const EvalFlags& flags, StudyQuestions questions) {
  Prepared prepared;
  prepared.suite = std::move(questions.suite);
  prepared.questions = std::move(questions.questions);
  const ModelInfo model = PeekModel(flags.engine);
  for (const RowRequest& row : flags.rows) {
    Result<RunPlan> plan = PlanOf(flags, model, prepared.suite, row);
    if (!plan) {
      return plan.error();
    }
    MethodOptions& options = plan->options;
    if (flags.align == Align::kFactor && IsAligned(row.method)) {
      options.width = static_cast<int>(std::ceil(flags.align_factor * options.width));
    }
    prepared.lanes = std::max(prepared.lanes, LaneLimit(options));
    prepared.longest = std::max(prepared.longest, options.max_tokens);
    prepared.rows.push_back({row.label, std::move(*plan), {}});
  }
  if (flags.align == Align::kMeasured) {
    prepared.lanes *= kAlignedLanes;
  }
  if (flags.engine.llama.context_cells > 0) {
    prepared.cells = flags.engine.llama.context_cells;
  } else if (prepared.longest <= kShortTraces) {
    prepared.cells = prepared.lanes * eval::CellsOfLane(prepared.longest);
  } else if (flags.parallel > 1) {
    return InvalidArgument(
        "--parallel with long traces needs --ctx N, the KV cells of one question");
  }
  return prepared;
}

// What a session of a row may take, the other rows aside: all of --ctx, else its own worst case,
// else, for long traces, the engine.
Reservation RowReservation(const EvalFlags& flags, const MethodOptions& options,
                           const Prepared& prepared, const Engine& engine) {
  Reservation most;
  if (flags.engine.llama.context_cells > 0) {
    most.cells = prepared.cells;
  } else if (options.max_tokens <= kShortTraces) {
    most.cells = eval::CellsOfRow(options);
  }
  return ReservationOf(options, engine, most);
}

void ShowStudy(const eval::StudyProgress& progress) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const std::string left = std::isfinite(progress.remaining_s)
                               ? fmt::format("{:.0f} s left", progress.remaining_s)
                               : std::string("time left unknown");
  const std::string rate =
      progress.elapsed_s > 0 && progress.tokens > 0
          ? fmt::format(", {:.0f} tokens/s",
                        static_cast<double>(progress.tokens) / progress.elapsed_s)
          : std::string();
  Tell(fmt::format("{}{}/{} {}{}, {}{}", terminal ? "\r\033[K" : "", progress.done, progress.items,
                   OneLine(progress.last), rate, left, terminal ? "" : "\n"));
}

// What a study may take in all, and has taken.
class StudyBudget {
 public:
  explicit StudyBudget(const EvalFlags& flags) : flags_(flags) {}

  void Take(const eval::StudyProgress& progress) { now_ = progress; }
  // Whether answers of the rows that ran are missing.
  bool unfinished() const { return unfinished_; }
  // The rows that ran are done, or the limit is reached; others may follow.
  void EndPart() {
    unfinished_ = now_.done < now_.items;
    tokens_ += now_.tokens;
    elapsed_s_ += now_.elapsed_s;
    now_ = {};
  }
  // The limit that was reached, as its flag; null while there is none.
  const char* reached() const {
    if (flags_.most_tokens > 0 && tokens_ + now_.tokens >= flags_.most_tokens) {
      return "--study-tokens";
    }
    const bool late = flags_.most_time_s > 0 && elapsed_s_ + now_.elapsed_s >= flags_.most_time_s;
    return late ? "--study-time" : nullptr;
  }

 private:
  const EvalFlags& flags_;
  eval::StudyProgress now_;
  int64_t tokens_ = 0;
  double elapsed_s_ = 0;
  bool unfinished_ = false;
};

// Gives each row its reservation, or that of the run which the study has of it.
Status SetReservations(const EvalFlags& flags, const Prepared& prepared, const Engine& engine,
                       Store& store, const eval::StudyPlan& plan,
                       std::vector<eval::StudyRow>& rows) {
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) {
    return runs.error();
  }
  for (eval::StudyRow& row : rows) {
    row.reservation = RowReservation(flags, row.plan.options, prepared, engine);
    if (flags.engine.llama.context_cells > 0 || prepared.cells == 0) {
      continue;
    }
    const Reservation most = ReservationOf(row.plan.options, engine, {0, prepared.cells});
    eval::TakeOverReservation(plan, engine.model(), *runs, most.cells, row);
  }
  return {};
}

// Runs the given rows of the study; returns their numbers in the store.
Result<std::vector<int64_t>> RunRows(const EvalFlags& flags, const Prepared& prepared,
                                     std::vector<eval::StudyRow> rows, Engine& engine, Store& store,
                                     const InterruptGuard& interrupt, StudyBudget& budget) {
  eval::StudyPlan plan;
  plan.suite = prepared.suite;
  plan.questions = prepared.questions;
  plan.repeats = flags.repeats;
  plan.shard = flags.shard;
  plan.shards = flags.shards;
  plan.parallel = flags.parallel;
  plan.seed = flags.question.seed;
  plan.limits = flags.question.limits;
  plan.strict = flags.engine.llama.strict && engine.capabilities().strict;
  plan.engine = EngineText(flags.engine);
  plan.program_version = HYPER_VERSION;
  plan.replay = !flags.live;
  plan.reward = prepared.reward.get();
  if (Status status = SetReservations(flags, prepared, engine, store, plan, rows); !status) {
    return status.error();
  }
  plan.rows = rows;
  eval::StudyRunner runner(engine, store, std::move(plan));
  if (Status status = runner.Prepare(); !status) {
    return status.error();
  }
  if (Status status = WarnOfSharedRows(flags.command, rows, runner.runs(), store); !status) {
    return status.error();
  }
  Status status = runner.Run([&] { return interrupt.interrupted() || budget.reached() != nullptr; },
                             [&](const eval::StudyProgress& progress) {
                               budget.Take(progress);
                               ShowStudy(progress);
                             });
  budget.EndPart();
  if (isatty(STDERR_FILENO) != 0) {
    Tell("\n");
  }
  if (!status) {
    return status.error();
  }
  return runner.runs();
}

// hyper's mean N_inst in the given runs, rounded up; 0 where none of them is hyper's.
Result<int> MeasuredWidth(Store& store, const std::vector<int64_t>& runs) {
  const Result<std::vector<eval::RunSummary>> summaries = eval::SummariseStudy(store, {});
  if (!summaries) {
    return summaries.error();
  }
  for (const eval::RunSummary& summary : *summaries) {
    const bool ours = std::find(runs.begin(), runs.end(), summary.run.id) != runs.end();
    if (ours && summary.run.method == "hyper") {
      return static_cast<int>(std::ceil(summary.instances));
    }
  }
  return 0;
}

// Runs everything: with alignment, hyper's rows first and the aligned ones at the measured width.
Result<std::vector<int64_t>> RunAll(const EvalFlags& flags, const Prepared& prepared,
                                    Engine& engine, Store& store, const InterruptGuard& interrupt,
                                    StudyBudget& budget) {
  std::vector<eval::StudyRow> first;
  std::vector<eval::StudyRow> aligned;
  for (const eval::StudyRow& row : prepared.rows) {
    const bool later = flags.align == Align::kMeasured && IsAligned(row.plan.method);
    (later ? aligned : first).push_back(row);
  }
  Result<std::vector<int64_t>> runs = std::vector<int64_t>();
  if (!first.empty()) {
    runs = RunRows(flags, prepared, first, engine, store, interrupt, budget);
  }
  if (!runs || aligned.empty() || interrupt.interrupted() || budget.reached() != nullptr) {
    return runs;
  }
  const Result<int> width = MeasuredWidth(store, *runs);
  if (!width) {
    return width.error();
  }
  for (eval::StudyRow& row : aligned) {
    if (*width > 0) {
      row.plan.options.width = *width;
    }
  }
  Result<std::vector<int64_t>> more =
      RunRows(flags, prepared, aligned, engine, store, interrupt, budget);
  if (!more) {
    return more;
  }
  runs->insert(runs->end(), more->begin(), more->end());
  return runs;
}

int Evaluate(const EvalFlags& flags, Prepared& prepared, Store& store) {
  if (Status status = LoadReward(flags, prepared); !status) {
    return Complain(flags.command, status.error());
  }
  EngineFlags engine_flags = flags.engine;
  if (prepared.cells > 0) {
    engine_flags.llama.context_cells = static_cast<int>(prepared.cells * flags.parallel);
  }
  engine_flags.remote.stream_tokens = prepared.longest;
  Result<std::unique_ptr<Engine>> engine =
      MakeEngine(flags.command, engine_flags, LanesOf(prepared.lanes, flags.parallel));
  if (!engine) {
    return Complain(flags.command, engine.error());
  }
  const InterruptGuard interrupt;
  StudyBudget budget(flags);
  const Result<std::vector<int64_t>> runs =
      RunAll(flags, prepared, **engine, store, interrupt, budget);
  if (!runs) {
    return Complain(flags.command, runs.error());
  }
  const char* limit = budget.reached();
  if (limit != nullptr && (budget.unfinished() || runs->size() < prepared.rows.size())) {
    Tell(fmt::format("stopped by {}; the same command continues the study\n", limit));
  }
  Status judged;
  if (!interrupt.interrupted()) {
    judged = Judge(flags, store);
  }
  const Result<std::string> tables =
      StudyTables({flags.tables, flags.selection.groups, flags.form}, store, *runs);
  if (!tables) {
    return Complain(flags.command, tables.error());
  }
  if (!PrintResult(flags.command, *tables)) {
    return kExitOutput;
  }
  if (interrupt.interrupted()) {
    return kExitInterrupted;
  }
  const Result<int> failed = WarnOfFailures(flags, store, *runs);
  if (!failed) {
    return Complain(flags.command, failed.error());
  }
  if (!judged) {
    return Complain(flags.command, judged.error());
  }
  return *failed > 0 ? kExitUnavailable : kExitOk;
}

}  // namespace

Result<StudyQuestions> QuestionsOf(const EvalFlags& flags) {
  Result<eval::Suite> suite = eval::LoadSuite(flags.suite);
  if (!suite) {
    return suite.error();
  }
  Result<eval::QuestionSet> questions = eval::LoadQuestions(*suite, flags.selection, flags.data);
  if (!questions) {
    return questions.error();
  }
  return StudyQuestions{std::move(*suite), std::move(questions->questions)};
}

int DecodeStudy(const EvalFlags& flags, StudyQuestions questions) {
  Result<Prepared> prepared = Prepare(flags, std::move(questions));
  if (!prepared) {
    return Complain(flags.command, prepared.error());
  }
  Result<Store> store =
      Store::Open(flags.study, flags.resume ? DatabaseMode::kExisting : DatabaseMode::kCreate);
  if (!store) {
    return Complain(flags.command, store.error());
  }
  return Evaluate(flags, *prepared, *store);
}

}  // namespace hyper::app

#include "src/eval/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "hyper/ask.h"
#include "src/core/random.h"
#include "src/eval/session_record.h"
#include "src/eval/study_grades.h"

namespace hyper {
namespace {

constexpr double kPollTimeoutS = 0.5;

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

}  // namespace

uint64_t RepeatSeed(uint64_t seed, int repeat) {
  if (repeat == 0) return seed;
  const auto words = Philox(seed, {static_cast<uint32_t>(repeat), 0, 0, 0});
  return uint64_t{words[1]} << 32U | words[0];
}

uint64_t QuestionKey(const std::string& suite, const std::string& id) {
  // FNV-1a, 64 bits, over "suite\0id".
  uint64_t hash = 0xCBF29CE484222325U;
  std::string bytes = suite;
  bytes += '\0';
  bytes += id;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return hash;
}

StoredRun RunOf(const StudyPlan& plan, const MethodRow& row, const ModelInfo& model) {
  StoredRun run;
  run.label = row.label;
  run.method = row.method;
  run.suite = plan.suite.name;
  run.model = model.name;
  run.model_hash = model.hash;
  run.engine = plan.engine;
  run.version = plan.program_version;
  run.seed = plan.seed;
  MethodOptions::ForEach(row.options, [&](const auto& value, const OptionInfo& info) {
    run.settings[info.name] = fmt::format("{}", value);
  });
  run.settings["determinism"] = plan.strict ? "strict" : "fast";
  run.settings["reserved-lanes"] = std::to_string(row.reservation.lanes);
  run.settings["reserved-cells"] = std::to_string(row.reservation.cells);
  run.settings["budget-tokens"] = std::to_string(plan.limits.budget_tokens);
  run.settings["time"] = fmt::format("{}", plan.limits.time_s);
  // Where results depend on what else is decoded beside them, that is part of what they are.
  if (!plan.strict) run.settings["parallel"] = std::to_string(plan.parallel);
  return run;
}

struct StudyRunner::Active {
  Work work;
  std::vector<Record> records;
  std::unique_ptr<Session> session;
};

StudyRunner::StudyRunner(Engine& engine, Store& store, StudyPlan plan)
    : engine_(engine), store_(store), plan_(std::move(plan)), driver_(engine) {}

StudyRunner::~StudyRunner() {
  for (const auto& active : active_) driver_.Remove(active->session.get());
}

Status StudyRunner::Prepare() {
  for (const Question& question : plan_.questions) {
    Result<Prompt> prompt = engine_.RenderChat(PromptMessages(plan_.suite, question), {});
    if (!prompt) return prompt.error();
    const Result<int64_t> id = store_.AddQuestion(
        {0, plan_.suite.name, question.id, question.text, prompt->text, question.gold,
         std::string(AnswerKindName(question.kind)), question.labels, question.group});
    if (!id) return id.error();
    questions_.push_back(*id);
    prompts_.push_back(std::move(*prompt));
    readers_.push_back(AnswerOptions(question));
  }
  std::vector<std::set<ItemKey>> due;
  for (const MethodRow& row : plan_.rows) {
    if (const auto method = MakeMethod(row.method, row.options); !method) return method.error();
    const Result<int64_t> run = store_.AddRun(RunOf(plan_, row, engine_.model()));
    if (!run) return run.error();
    runs_.push_back(*run);
    const auto keys = store_.Unfinished(*run, questions_, plan_.repeats);
    if (!keys) return keys.error();
    due.emplace_back(keys->begin(), keys->end());
  }
  // All methods of a question before the next one: a study that is cut short stays paired.
  for (int repeat = 0; repeat < plan_.repeats; ++repeat) {
    for (size_t question = 0; question < questions_.size(); ++question) {
      for (size_t row = 0; row < runs_.size(); ++row) {
        const ItemKey key{runs_[row], questions_[question], repeat};
        if (due[row].count(key) != 0) work_.push_back({row, question, key});
      }
    }
  }
  progress_.items = static_cast<int>(runs_.size() * questions_.size()) * plan_.repeats;
  progress_.done = progress_.items - static_cast<int>(work_.size());
  return {};
}

Status StudyRunner::StartNext() {
  const Work& work = work_[next_work_++];
  const MethodRow& row = plan_.rows[work.row];
  const Question& question = plan_.questions[work.question];
  Result<std::unique_ptr<Method>> method = MakeMethod(row.method, row.options);
  if (!method) return method.error();
  Pool::Config config;
  config.prompt = prompts_[work.question];
  config.options = row.options;
  config.seed = {RepeatSeed(plan_.seed, work.key.repeat),
                 QuestionKey(plan_.suite.name, question.id)};
  config.reservation = row.reservation;
  config.extractor = ReadAnswer;
  config.extractor_context = &readers_[work.question];
  auto active = std::make_unique<Active>();
  active->work = work;
  active->session =
      std::make_unique<Session>(engine_, std::move(config), std::move(*method), plan_.limits);
  driver_.Add(active->session.get());
  active_.push_back(std::move(active));
  return {};
}

void StudyRunner::Report(const Active& active, const StoredItem& item) {
  ++(item.status == ItemStatus::kFailed ? progress_.failed : progress_.made);
  progress_.done += item.status == ItemStatus::kFailed ? 0 : 1;
  progress_.tokens += item.ledger.generated;
  progress_.last = fmt::format(
      "{} {} repeat {}: {}", plan_.rows[active.work.row].label,
      plan_.questions[active.work.question].id, active.work.key.repeat,
      item.status == ItemStatus::kFailed ? "failed, " + item.reason : item.answer.value_or("none"));
}

Status StudyRunner::StoreOne(Active& active) {
  const StoredItem item = RecordSession(*active.session, active.records, active.work.key);
  const Result<bool> saved = store_.SaveItem(item);
  if (!saved) return saved.error();
  Report(active, item);
  return {};
}

// Takes records, and stores what has finished.
Status StudyRunner::Collect(const std::function<void(const StudyProgress&)>& progress) {
  for (size_t i = 0; i < active_.size();) {
    Active& active = *active_[i];
    for (Record& record : active.session->pool().TakeRecords()) {
      active.records.push_back(std::move(record));
    }
    if (!active.session->finished()) {
      ++i;
      continue;
    }
    if (Status status = StoreOne(active); !status) return status;
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    if (progress) progress(progress_);
  }
  return {};
}

// Ends what still runs. It is stored as failed, so that its tokens stay charged, and made again on
// resume.
Status StudyRunner::Abandon() {
  for (const auto& active : active_) {
    if (!active->session->started()) continue;
    active->session->Stop("the study was stopped");
    StoredItem item = RecordSession(*active->session, active->records, active->work.key);
    item.status = ItemStatus::kFailed;
    if (const auto saved = store_.SaveItem(item); !saved) return saved.error();
  }
  for (const auto& active : active_) driver_.Remove(active->session.get());
  active_.clear();
  return {};
}

Status StudyRunner::Run(const std::function<bool()>& stop,
                        const std::function<void(const StudyProgress&)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  Status failure;
  while ((next_work_ < work_.size() || !active_.empty()) && !(stop && stop())) {
    while (next_work_ < work_.size() && static_cast<int>(active_.size()) < plan_.parallel) {
      if (Status status = StartNext(); !status) return status;
    }
    failure = driver_.Step(kPollTimeoutS);
    progress_.elapsed_s = Seconds(start);
    const int handled = progress_.made + progress_.failed;
    progress_.remaining_s = handled == 0 ? std::numeric_limits<double>::quiet_NaN()
                                         : progress_.elapsed_s / handled *
                                               (static_cast<double>(work_.size()) - handled);
    if (Status status = Collect(progress); !status) return status;
    if (!failure) break;
  }
  if (Status status = Abandon(); !status) return status;
  const Result<GradingReport> graded = GradeStudy(store_, /*all=*/false);
  if (!graded) return graded.error();
  return failure;
}

}  // namespace hyper

#include "src/eval/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "src/eval/grade/study_grades.h"
#include "src/eval/run/session_record.h"
#include "src/eval/run/stored_pool.h"

namespace hyper::eval {
namespace {

constexpr double kPollTimeoutS = 0.5;

constexpr std::string_view kPoolMethod = "sc";  // whose paths serve others, given the choice

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

}  // namespace

struct StudyRunner::Active {
  Work work;
  std::vector<Record> records;
  std::unique_ptr<Session> session;
};

StudyRunner::StudyRunner(Engine& engine, Store& store, StudyPlan plan)
    : engine_(engine), store_(store), plan_(std::move(plan)), driver_(engine) {}

StudyRunner::~StudyRunner() {
  for (const auto& active : active_) {
    driver_.Remove(active->session.get());
  }
}

Status StudyRunner::Prepare() {
  for (const StudyRow& row : plan_.rows) {
    if (const auto method = MakeRowMethod(plan_, row); !method) {
      return method.error();
    }
    if (Status status = CheckAbilities(row.plan, engine_.capabilities()); !status) {
      return status.error();
    }
  }
  for (const Question& question : plan_.questions) {
    Result<Prompt> prompt = engine_.RenderChat(PromptMessages(plan_.suite, question), {});
    if (!prompt) {
      return prompt.error();
    }
    const Result<int64_t> id = store_.AddQuestion(
        {0, plan_.suite.name, question.id, question.text, prompt->text, question.gold,
         std::string(NameOf(question.kind)), question.labels, question.group});
    if (!id) {
      return id.error();
    }
    questions_.push_back(*id);
    prompts_.push_back(std::move(*prompt));
    readers_.push_back(AnswerOptions(question));
  }
  if (Status status = AddRuns(); !status) {
    return status;
  }
  if (Status status = FindPools(); !status) {
    return status;
  }
  return AddWork();
}

Status StudyRunner::AddRuns() {
  std::vector<StudyRow> rows;
  for (StudyRow& row : plan_.rows) {
    StoredRun stored = RunOf(plan_, row, engine_.model());
    const Result<int64_t> run = store_.AddRun(stored);
    if (!run) {
      return run.error();
    }
    runs_by_row_.push_back(*run);
    if (std::find(runs_.begin(), runs_.end(), *run) != runs_.end()) {
      continue;
    }
    runs_.push_back(*run);
    stored_rows_.push_back(std::move(stored));
    rows.push_back(std::move(row));
  }
  plan_.rows = std::move(rows);
  return {};
}

Status StudyRunner::FindPools() {
  const Result<std::vector<StoredRun>> all = store_.Runs();
  if (!all) {
    return all.error();
  }
  for (size_t row = 0; row < plan_.rows.size(); ++row) {
    std::vector<StoredRun>& pools = pools_.emplace_back();
    if (!plan_.replay ||
        ReplayablePaths(plan_.rows[row].plan.method, plan_.rows[row].plan.options) == 0) {
      continue;
    }
    for (const StoredRun& run : *all) {
      if (run.id != runs_[row] && ServesRow(run, stored_rows_[row])) {
        pools.push_back(run);
      }
    }
  }
  return {};
}

// All methods of a question before the next one: a study that is cut short stays paired. Of these
// the ones whose paths may serve others come first, the widest before all, SC before its equals.
Status StudyRunner::AddWork() {
  std::vector<size_t> order(plan_.rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (plan_.replay) {
    const auto paths = [&](size_t row) {
      const StudyRow& one = plan_.rows[row];
      return MakesPool(one.plan.method, one.plan.options)
                 ? ReplayablePaths(one.plan.method, one.plan.options)
                 : 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const bool first = plan_.rows[a].plan.method == kPoolMethod;
      const bool second = plan_.rows[b].plan.method == kPoolMethod;
      return std::pair(paths(a), first) > std::pair(paths(b), second);
    });
  }
  std::vector<std::set<ItemKey>> due;
  for (const int64_t run : runs_) {
    const auto keys = store_.Unfinished(run, questions_, plan_.repeats);
    if (!keys) {
      return keys.error();
    }
    due.emplace_back(keys->begin(), keys->end());
  }
  for (int repeat = 0; repeat < plan_.repeats; ++repeat) {
    for (size_t question = 0; question < questions_.size(); ++question) {
      if (!OfShard(question)) {
        continue;
      }
      for (const size_t row : order) {
        const ItemKey key{runs_[row], questions_[question], repeat};
        if (due[row].erase(key) != 0) {
          waiting_.push_back({row, question, key});
        }
      }
    }
  }
  due_ = waiting_.size();
  std::set<int64_t> different;
  for (size_t question = 0; question < questions_.size(); ++question) {
    if (OfShard(question)) {
      different.insert(questions_[question]);
    }
  }
  progress_.items = static_cast<int>(runs_.size() * different.size()) * plan_.repeats;
  progress_.done = progress_.items - static_cast<int>(due_);
  return {};
}

bool StudyRunner::OfShard(size_t question) const {
  return question % static_cast<size_t>(plan_.shards) == static_cast<size_t>(plan_.shard);
}

SessionSpec StudyRunner::SpecOf(const Work& work) const {
  SessionSpec spec;
  spec.prompt = prompts_[work.question];
  spec.seed = {RepeatSeed(plan_.seed, work.key.repeat),
               QuestionKey(plan_.suite.name, plan_.questions[work.question].id)};
  spec.limits = plan_.limits;
  spec.most = plan_.rows[work.row].reservation;
  spec.extractor = ExtractorFor(readers_[work.question]);
  return spec;
}

bool StudyRunner::WaitsForPaths(const Work& work) const {
  return std::any_of(active_.begin(), active_.end(), [&](const auto& active) {
    const Work& other = active->work;
    const StudyRow& row = plan_.rows[other.row];
    const auto& pools = pools_[work.row];
    return other.question == work.question && other.key.repeat == work.key.repeat &&
           MakesPool(row.plan.method, row.plan.options) &&
           std::any_of(pools.begin(), pools.end(),
                       [&](const StoredRun& run) { return run.id == other.key.run; });
  });
}

Result<bool> StudyRunner::StartNext(const std::function<void(const StudyProgress&)>& progress) {
  const auto next = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const Work& work) { return !WaitsForPaths(work); });
  if (next == waiting_.end()) {
    return false;
  }
  const Work work = *next;
  waiting_.erase(next);
  const Result<bool> replayed = StartReplay(work);
  if (!replayed) {
    return replayed.error();
  }
  if (*replayed) {
    if (progress) {
      progress(progress_);
    }
    return true;
  }
  if (Status status = StartLive(work); !status) {
    return status.error();
  }
  return true;
}

Status StudyRunner::StartLive(const Work& work) {
  const StudyRow& row = plan_.rows[work.row];
  Result<std::unique_ptr<Method>> method = MakeRowMethod(plan_, row);
  if (!method) {
    return method.error();
  }
  auto active = std::make_unique<Active>();
  active->work = work;
  Result<std::unique_ptr<Session>> session =
      OpenSession(engine_, row.plan, SpecOf(work), std::move(*method));
  if (!session) {
    return session.error();
  }
  active->session = std::move(*session);
  driver_.Add(active->session.get());
  active_.push_back(std::move(active));
  return {};
}

// Computes an item from paths of another run; false where no run has what it takes.
Result<bool> StudyRunner::StartReplay(const Work& work) {
  const StudyRow& row = plan_.rows[work.row];
  for (const StoredRun& pool : pools_[work.row]) {
    const Result<StoredItem> source =
        store_.LoadItem({pool.id, work.key.question, work.key.repeat});
    if (!source || source->status != ItemStatus::kDone) {
      continue;
    }
    Result<std::vector<ReplayTrace>> traces =
        TracesOf(*source, ReplayablePaths(row.plan.method, row.plan.options), pool, row.plan.method,
                 row.plan.options, [&](Token token) { return engine_.TokenText(token); });
    if (!traces) {
      continue;
    }
    Result<StoredItem> item =
        Replay(std::move(*traces), engine_.model(), row.plan, SpecOf(work), work.key);
    if (!item) {
      return item.error();
    }
    item->ledger.bytes_per_cell = source->ledger.bytes_per_cell;
    item->notices.push_back(
        fmt::format("computed from the stored paths of run #{} ({})", pool.id, pool.label));
    const Result<bool> saved = store_.SaveItem(*item);
    if (!saved) {
      return saved.error();
    }
    ++progress_.replayed;
    Report(work, *item);
    return true;
  }
  return false;
}

void StudyRunner::Report(const Work& work, const StoredItem& item) {
  const bool failed = item.status == ItemStatus::kFailed;
  if (failed && progress_.failed == 0) {
    progress_.failure = item.reason;
  }
  ++(failed ? progress_.failed : progress_.made);
  progress_.done += failed ? 0 : 1;
  progress_.last = fmt::format("{} {} repeat {}: {}", plan_.rows[work.row].label,
                               plan_.questions[work.question].id, work.key.repeat,
                               failed ? "failed" : item.answer.value_or("none"));
}

Status StudyRunner::StoreOne(Active& active) {
  const StoredItem item = RecordSession(*active.session, active.records, active.work.key);
  const Result<bool> saved = store_.SaveItem(item);
  if (!saved) {
    return saved.error();
  }
  progress_.tokens += item.ledger.generated;
  Report(active.work, item);
  return {};
}

// Takes records, and stores what has finished.
Status StudyRunner::Collect(const std::function<void(const StudyProgress&)>& progress) {
  for (size_t i = 0; i < active_.size();) {
    Active& active = *active_[i];
    for (Record& record : active.session->TakeRecords()) {
      active.records.push_back(std::move(record));
    }
    if (!active.session->finished()) {
      ++i;
      continue;
    }
    if (Status status = StoreOne(active); !status) {
      return status;
    }
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    if (progress) {
      progress(progress_);
    }
  }
  return {};
}

// Ends what still runs. It is stored as failed, so that its tokens stay charged, and made again on
// resume.
Status StudyRunner::Abandon() {
  for (const auto& active : active_) {
    if (!active->session->started()) {
      continue;
    }
    active->session->Stop(kStoppedReason);
    StoredItem item = RecordSession(*active->session, active->records, active->work.key);
    item.status = ItemStatus::kFailed;
    if (const auto saved = store_.SaveItem(item); !saved) {
      return saved.error();
    }
  }
  for (const auto& active : active_) {
    driver_.Remove(active->session.get());
  }
  active_.clear();
  return {};
}

Status StudyRunner::Run(const std::function<bool()>& stop,
                        const std::function<void(const StudyProgress&)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  Status failure;
  while ((!waiting_.empty() || !active_.empty()) && !(stop && stop())) {
    while (static_cast<int>(active_.size()) < plan_.parallel) {
      const Result<bool> started = StartNext(progress);
      if (!started) {
        return started.error();
      }
      if (!*started) {
        break;
      }
    }
    failure = driver_.Step(kPollTimeoutS);
    progress_.elapsed_s = Seconds(start);
    const int handled = progress_.made + progress_.failed;
    progress_.remaining_s =
        handled == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : progress_.elapsed_s / handled * (static_cast<double>(due_) - handled);
    if (Status status = Collect(progress); !status) {
      return status;
    }
    if (!failure) {
      break;
    }
  }
  if (Status status = Abandon(); !status) {
    return status;
  }
  const Result<GradingReport> graded = GradeStudy(store_, /*all=*/false);
  if (!graded) {
    return graded.error();
  }
  return failure;
}

}  // namespace hyper::eval

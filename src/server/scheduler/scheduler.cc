#include "src/server/scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "src/base/clock.h"
#include "src/base/utf8.h"

namespace hyper::server {
namespace {

constexpr double kPollTimeout = 0.05;

int64_t UnixTime() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch())
      .count();
}

// So long that none is given twice, nor guessed.
std::string NewRunId() {
  std::random_device device;
  return fmt::format("run_{:08x}{:08x}{:08x}", device(), device(), device());
}

// What is kept for plain runs: lanes, and with them a quarter of the cells.
Reservation KeptPart(const Capabilities& can, int lanes) {
  constexpr int64_t kPart = 4;
  return {std::min(lanes, can.max_lanes / 2), lanes > 0 ? can.cells_total / kPart : 0};
}

std::string QuestionOf(const ServedRun& request) {
  constexpr size_t kShown = 300;
  std::string text =
      request.messages.empty() ? request.prompt_text : request.messages.back().content;
  text.resize(std::min(text.size(), kShown));
  return text.substr(0, text.size() - base::IncompleteTail(text));
}

// The run of that id, null where there is none.
template <typename KeptRuns>
auto FindById(KeptRuns& runs, const std::string& id) -> decltype(&runs.front()) {
  const auto kept = std::find_if(runs.begin(), runs.end(),
                                 [&id](const auto& entry) { return entry.summary.id == id; });
  return kept != runs.end() ? &*kept : nullptr;
}

}  // namespace

Scheduler::Scheduler(Engine& engine, SchedulerOptions options)
    : engine_(engine),
      options_(options),
      kept_part_(KeptPart(engine.capabilities(), options.plain_lanes)),
      driver_(engine, kept_part_) {
  thread_ = std::thread([this] { Loop(); });
}

Scheduler::~Scheduler() {
  Shutdown(0);
  thread_.join();
}

Scheduler::Submission Scheduler::Submit(std::vector<ServedRun> requests,
                                        const std::shared_ptr<ReplyQueue>& reply) {
  const std::lock_guard lock(mutex_);
  if (closing_) {
    return {"", ApiError{503, "server_error", "shutting_down", "", "the server is shutting down"}};
  }
  size_t bytes = 0;
  for (const ServedRun& request : requests) {
    bytes += WaitingBytes(request);
  }
  if (bytes > options_.waiting_bytes) {
    return {"", BadField(requests.front().prompt_field,
                         fmt::format("the request takes {} bytes while it waits, and all requests "
                                     "together may take {}; shorten it, or raise --queue-mb",
                                     bytes, options_.waiting_bytes))};
  }
  if (waiting_bytes_ + bytes > options_.waiting_bytes) {
    return {"", QueueFull()};
  }
  waiting_bytes_ += bytes;
  Submission first;
  for (ServedRun& request : requests) {
    std::string id = NewRunId();
    first.id = first.id.empty() ? id : first.id;
    auto log = std::make_shared<RunLog>(options_.log_bytes);
    RunOverview summary;
    summary.id = id;
    summary.method = request.method;
    summary.status = "waiting";
    summary.question = QuestionOf(request);
    summary.created_s = UnixTime();
    kept_.push_back({std::move(summary), log});
    inbox_.push_back(std::make_unique<LiveRun>(std::move(id), std::move(request), reply, log));
    ++metrics_.waiting;
    ++metrics_.runs_started;
  }
  work_.notify_one();
  return first;
}

ApiError Scheduler::QueueFull() {
  ++metrics_.runs_refused;
  const int retry_after_s =
      RetryAfterSeconds(metrics_.waiting, drained_.PerSecond(base::SteadyClock().Now()));
  return {429,
          "rate_limit_error",
          "queue_full",
          "",
          fmt::format("{} requests wait, which is all that memory is given to (--queue-mb); try "
                      "again in {} s",
                      metrics_.waiting, retry_after_s),
          retry_after_s};
}

std::vector<RunOverview> Scheduler::Runs() const {
  const std::lock_guard lock(mutex_);
  std::vector<RunOverview> runs;
  runs.reserve(kept_.size());
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    runs.push_back(kept->summary);
  }
  return runs;
}

std::optional<RunOverview> Scheduler::Find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const Kept* kept = FindById(kept_, id);
  return kept != nullptr ? std::optional(kept->summary) : std::nullopt;
}

std::shared_ptr<const RunLog> Scheduler::Log(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const Kept* kept = FindById(kept_, id);
  return kept != nullptr ? kept->log : nullptr;
}

SchedulerMetrics Scheduler::metrics() const {
  const std::lock_guard lock(mutex_);
  SchedulerMetrics metrics = metrics_;
  metrics.runs_lost = options_.archive != nullptr ? options_.archive->lost() : 0;
  return metrics;
}

bool Scheduler::closing() const {
  const std::lock_guard lock(mutex_);
  return closing_;
}

void Scheduler::Shutdown(double grace_s) {
  std::unique_lock lock(mutex_);
  closing_ = true;
  idle_.wait_for(lock, std::chrono::duration<double>(grace_s),
                 [this] { return metrics_.waiting + metrics_.running == 0; });
  cancelling_ = true;
  work_.notify_one();
  idle_.wait(lock, [this] { return metrics_.waiting + metrics_.running == 0; });
  ending_ = true;
  work_.notify_one();
  lock.unlock();
  AwaitStored();  // and with it the ends of replies
}

void Scheduler::AwaitStored() {
  if (options_.archive != nullptr) {
    options_.archive->Flush();
  }
}

bool Scheduler::WaitForWork() {
  std::unique_lock lock(mutex_);
  work_.wait(lock,
             [this] { return ending_ || !inbox_.empty() || !commands_.empty() || !live_.empty(); });
  return !ending_ || !commands_.empty();
}

void Scheduler::Loop() {
  cache_ = std::make_unique<PromptCache>(engine_, options_.most_prompts);
  while (WaitForWork()) {
    TakeSubmissions();
    RunCommands();
    DropAbandoned();
    cache_->MakeRoom(std::min(driver_.LanesDue(), engine_.capabilities().max_lanes));
    // An engine that failed has failed its sessions, which Settle reports.
    (void)driver_.Step(kPollTimeout).ok();
    Settle();
    Publish();
  }
  cache_.reset();
}

void Scheduler::TakeSubmissions() {
  std::deque<std::unique_ptr<LiveRun>> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(inbox_);
  }
  for (std::unique_ptr<LiveRun>& run : taken) {
    if (run->abandoned()) {
      run->Refuse({499, "cancelled", "", "", "the client left"});
      Summarise(*run, "cancelled");
    } else if (!run->Prepare(engine_, options_.pools, kept_part_)) {
      Summarise(*run, "failed");
    } else {
      driver_.Add(run->session(), run->plain() ? Admission::kReserved : Admission::kByUse);
      if (options_.archive != nullptr) {
        options_.archive->Save(run->Begun());
      }
      run->Accept();
      live_.push_back(std::move(run));
    }
  }
}

void Scheduler::DropAbandoned() {
  bool cancel_all = false;
  {
    const std::lock_guard lock(mutex_);
    cancel_all = cancelling_;
  }
  for (const std::unique_ptr<LiveRun>& run : live_) {
    if (run->abandoned()) {
      run->session()->Stop("the client left");
    } else if (cancel_all) {
      run->session()->Stop("the server shut down");
    }
  }
}

void Scheduler::Settle() {
  for (const std::unique_ptr<LiveRun>& run : live_) {
    run->SharePrompt(*cache_);
    run->AfterStep();
    if (!run->session()->finished()) {
      continue;
    }
    driver_.Remove(run->session());
    const bool cancelled = run->abandoned();  // not by a client that has all it came for
    std::function<void()> end_reply = run->Finalize();
    const char* status = run->result()->partial ? "partial" : "done";
    status = run->session()->status() ? status : "failed";
    Summarise(*run, cancelled ? "cancelled" : status);
    if (options_.archive != nullptr) {  // a reply that has come to its end is stored
      options_.archive->Save(run->ToArchive(), std::move(end_reply));
    } else {
      end_reply();
    }
  }
  std::erase_if(live_, [](const auto& run) { return run->session()->finished(); });
}

void Scheduler::Summarise(const LiveRun& run, const char* status) {
  const std::lock_guard lock(mutex_);
  if (Kept* kept = FindById(kept_, run.id())) {
    RunOverview& summary = kept->summary;
    summary.status = status;
    if (const SessionResult* result = run.result()) {
      summary.answer = result->answer.value_or("");
      summary.tokens = result->ledger.generated;
      summary.paths = static_cast<int>(run.session()->pool().paths().size());
      summary.running = 0;
      summary.cells = 0;
      metrics_.prompt_tokens += result->ledger.prefilled;
      metrics_.generated_tokens += result->ledger.generated;
    }
  }
  run_ended_ = true;
  ++metrics_.runs_finished;
  metrics_.runs_cancelled += std::string_view(status) == "cancelled" ? 1 : 0;
}

void Scheduler::Publish() {
  const std::lock_guard lock(mutex_);
  metrics_.cost = engine_.cost();
  metrics_.cache_lanes = cache_->lanes();
  metrics_.cache_cells = cache_->cells();
  metrics_.running = driver_.running_count();
  metrics_.waiting = static_cast<int>(inbox_.size() + live_.size()) - metrics_.running;
  metrics_.parkings = driver_.parkings();
  drained_.Note(static_cast<int>(driver_.starts() - seen_starts_), base::SteadyClock().Now());
  seen_starts_ = driver_.starts();
  waiting_bytes_ = 0;
  for (const std::unique_ptr<LiveRun>& run : inbox_) {
    waiting_bytes_ += run->waiting_bytes();
  }
  for (const std::unique_ptr<LiveRun>& run : live_) {
    if (!run->session()->started()) {
      waiting_bytes_ += run->waiting_bytes();
      continue;
    }
    if (Kept* kept = FindById(kept_, run->id())) {
      const Pool& pool = run->session()->pool();
      kept->summary.status = "running";
      kept->summary.tokens = pool.ledger().generated;
      kept->summary.paths = static_cast<int>(pool.paths().size());
      kept->summary.running = static_cast<int>(pool.running().size());
      kept->summary.cells = pool.cells();
    }
  }
  if (std::exchange(run_ended_, false)) {
    DropOldest();
  }
  if (live_.empty() && inbox_.empty()) {
    idle_.notify_all();
  }
}

// The oldest runs that have ended make room.
void Scheduler::DropOldest() {
  size_t ended = kept_.size() - live_.size() - inbox_.size();
  size_t bytes = 0;
  for (const Kept& kept : kept_) {
    bytes += kept.log->bytes();
  }
  for (auto kept = kept_.begin();
       kept != kept_.end() && ended > 0 &&
       (ended > static_cast<size_t>(options_.most_kept) || bytes > options_.all_log_bytes);) {
    const std::string& status = kept->summary.status;
    const bool live = status == "waiting" || status == "running";
    bytes -= live ? 0 : kept->log->bytes();
    kept = live ? std::next(kept) : kept_.erase(kept);
    ended -= live ? 0 : 1;
  }
}

}  // namespace hyper::server

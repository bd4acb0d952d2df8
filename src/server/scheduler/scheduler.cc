#include "src/server/scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "src/base/clock.h"

namespace hyper::server {
namespace {

constexpr double kPollTimeout = 0.05;

// What is kept for plain runs: lanes, and with them a quarter of the cells.
Reservation KeptPart(const Capabilities& can, int lanes) {
  constexpr int64_t kPart = 4;
  return {std::min(lanes, can.max_lanes / 2), lanes > 0 ? can.cells_total / kPart : 0};
}

}  // namespace

Scheduler::Scheduler(Engine& engine, RunBook& book, SchedulerOptions options)
    : engine_(engine),
      book_(book),
      options_(options),
      kept_part_(KeptPart(engine.capabilities(), options.plain_lanes)),
      driver_(engine, kept_part_),
      idle_since_s_(base::SteadyClock().Now()) {
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
  const double now_s = base::SteadyClock().Now();
  const RunBook::Entries entries = book_.Enter(requests, now_s);
  if (entries.wait_s > 0) {
    ++metrics_.runs_refused;
    return {"", MinuteUsedUp(requests.front().client, entries.wait_s)};
  }
  waiting_bytes_ += bytes;
  idle_since_s_.reset();
  for (size_t i = 0; i < requests.size(); ++i) {
    const RunBook::Entered& run = entries.runs[i];
    inbox_.push_back(
        std::make_unique<LiveRun>(run.id, std::move(requests[i]), reply, run.log, now_s));
    ++metrics_.waiting;
    ++metrics_.runs_started;
  }
  work_.notify_one();
  return {entries.runs.front().id, std::nullopt};
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

SchedulerMetrics Scheduler::metrics() const {
  const std::lock_guard lock(mutex_);
  SchedulerMetrics metrics = metrics_;
  metrics.runs_lost = book_.archive() != nullptr ? book_.archive()->lost() : 0;
  return metrics;
}

std::optional<double> Scheduler::idle_since() const {
  const std::lock_guard lock(mutex_);
  return idle_since_s_;
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
  book_.AwaitStored();  // and with it the ends of replies
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
    // Nobody else would catch it, as when memory runs out: the server goes on without these runs.
    try {
      Turn();
    } catch (const std::exception& failure) {
      FailAll(failure.what());
    }
  }
  cache_.reset();
}

void Scheduler::Turn() {
  TakeSubmissions();
  RunCommands();
  DropAbandoned();
  cache_->MakeRoom(std::min(driver_.LanesDue(), engine_.capabilities().max_lanes));
  // An engine that failed has failed its sessions, which Settle reports.
  (void)driver_.Step(kPollTimeout).ok();
  Settle();
  Publish();
}

void Scheduler::Fail(LiveRun& run, const std::string& words) {
  if (run.session() != nullptr) {
    driver_.Remove(run.session());
  }
  run.Refuse({500, "server_error", "", "", "unexpected failure: " + words});
  Summarise(run, "failed");
}

void Scheduler::FailAll(const std::string& words) {
  for (const std::unique_ptr<LiveRun>& run : live_) {
    Fail(*run, words);
  }
  live_.clear();
  Publish();
}

void Scheduler::TakeSubmissions() {
  std::deque<std::unique_ptr<LiveRun>> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(inbox_);
  }
  for (std::unique_ptr<LiveRun>& run : taken) {
    try {
      Take(run);
    } catch (const std::exception& failure) {
      Fail(*run, failure.what());
    }
  }
}

void Scheduler::Take(std::unique_ptr<LiveRun>& run) {
  if (run->abandoned()) {
    run->Refuse({499, "cancelled", "", "", "the client left"});
    Summarise(*run, "cancelled");
  } else if (!run->Prepare(engine_, options_.pools, kept_part_)) {
    Summarise(*run, "failed");
  } else {
    driver_.Add(run->session(), run->plain() ? Admission::kReserved : Admission::kByUse);
    if (book_.archive() != nullptr) {
      book_.archive()->Save(run->Begun());
    }
    run->Accept();
    live_.push_back(std::move(run));
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
  const double now_s = base::SteadyClock().Now();
  for (const std::unique_ptr<LiveRun>& run : live_) {
    run->SharePrompt(*cache_);
    run->AfterStep(meters_, now_s);
    if (!run->session()->finished()) {
      continue;
    }
    driver_.Remove(run->session());
    const bool cancelled = run->abandoned();  // not by a client that has all it came for
    std::function<void()> end_reply = run->Finalize(meters_, now_s);
    const char* status = run->result()->partial ? "partial" : "done";
    status = run->session()->status() ? status : "failed";
    Summarise(*run, cancelled ? "cancelled" : status);
    if (book_.archive() != nullptr) {  // a reply that has come to its end is stored
      book_.archive()->Save(run->ToArchive(), std::move(end_reply));
    } else {
      end_reply();
    }
  }
  std::erase_if(live_, [](const auto& run) { return run->session()->finished(); });
}

void Scheduler::Summarise(const LiveRun& run, const char* status) {
  const double now_s = base::SteadyClock().Now();
  meters_.Ended(run.times(), run.request().method, status, run.result(), now_s);
  book_.End(run, status, now_s);
  run_ended_ = true;
  const std::lock_guard lock(mutex_);
  if (const SessionResult* result = run.result()) {
    metrics_.prompt_tokens += result->ledger.prefilled;
    metrics_.generated_tokens += result->ledger.generated;
  }
  ++metrics_.runs_finished;
  metrics_.runs_cancelled += std::string_view(status) == "cancelled" ? 1 : 0;
}

void Scheduler::Publish() {
  const std::lock_guard lock(mutex_);
  metrics_.cost = engine_.cost();
  metrics_.meters = meters_;
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
    } else {
      book_.Note(*run);
    }
  }
  if (std::exchange(run_ended_, false)) {
    book_.DropOldest();
  }
  if (live_.empty() && inbox_.empty()) {
    idle_since_s_ = idle_since_s_.value_or(base::SteadyClock().Now());
    idle_.notify_all();
  }
}

}  // namespace hyper::server

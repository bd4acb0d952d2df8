// The scheduler: one thread that owns the engine and the driver. HTTP threads hand it typed
// requests and read typed events; the lanes of all runs share each forward.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hyper/driver.h"
#include "hyper/engine.h"
#include "src/server/api/run_command.h"
#include "src/server/scheduler/live_run.h"
#include "src/server/scheduler/prompt_cache.h"
#include "src/server/scheduler/run_book.h"
#include "src/server/scheduler/run_meters.h"
#include "src/server/scheduler/scheduler_metrics.h"
#include "src/server/scheduler/waiting_line.h"

namespace hyper::server {

struct SchedulerOptions {
  size_t waiting_bytes = size_t{256} << 20U;  // of the runs that wait for lanes or cells
  int plain_lanes = 0;                        // that pools leave to plain runs; see KeptPart
  int pools = 1;                              // that may share the cells; see MostOf in live_run.cc
  int most_prompts = 8;                       // prompts of earlier runs that are kept computed
};

class Scheduler {
 public:
  // Starts the thread, which alone uses `engine` until the scheduler is gone. `book` has its runs,
  // also afterwards.
  Scheduler(Engine& engine, RunBook& book, SchedulerOptions options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Queues runs, all or none; their events go into `reply`. Returns the first one's id, or 429
  // where the waiting runs take all memory that they may, or their client has used the tokens of
  // this minute, 503 while the server shuts down. Any thread, as all below.
  struct Submission {
    std::string id;
    std::optional<ApiError> error;
  };
  Submission Submit(std::vector<ServedRun> requests, const std::shared_ptr<ReplyQueue>& reply);

  RunBook& book() const { return book_; }
  // Carries a command out between two steps.
  Steered Control(const std::string& id, const RunCommand& command);
  // Keeps a run that has ended no longer. Errors: 409 where it has not, 404.
  std::optional<ApiError> Forget(const std::string& id);
  // What `question` says of the engine, asked on the scheduler's thread between two steps.
  Result<Json> AskEngine(const std::function<Result<Json>(Engine&)>& question);
  SchedulerMetrics metrics() const;

  // Since when it has no run, by the steady clock; nothing while it has one.
  std::optional<double> idle_since() const;
  // Whether it takes no more runs.
  bool closing() const;
  // Takes no more runs; waits up to `grace_s` for those there are and cancels the rest.
  void Shutdown(double grace_s);

 private:
  // Under the mutex:
  ApiError QueueFull();
  void Loop();
  void Turn();  // of the loop
  // After what was thrown: the run is given up, or all that are live, whose work may be half done.
  void Fail(LiveRun& run, const std::string& words);
  void FailAll(const std::string& words);
  bool WaitForWork();  // false: time to end
  void TakeSubmissions();
  void Take(std::unique_ptr<LiveRun>& run);  // one of them; moved where it is live now
  void RunCommands();
  void DropAbandoned();
  void Settle();  // sends what a step brought, retires what has finished
  // Has the scheduler's thread do it between two steps; false: it takes nothing any more.
  bool BetweenSteps(const std::function<void()>& command);
  Steered Apply(const std::string& id, const RunCommand& command);
  LiveRun* FindLive(const std::string& id);
  void Publish();
  void Summarise(const LiveRun& run, const char* status);

  Engine& engine_;
  RunBook& book_;
  const SchedulerOptions options_;
  const Reservation kept_part_;

  // The scheduler's thread alone:
  Driver driver_;
  std::unique_ptr<PromptCache> cache_;
  std::vector<std::unique_ptr<LiveRun>> live_;
  int forks_ = 0;  // by request, so that their keys differ
  int64_t seen_starts_ = 0;
  RunMeters meters_;
  bool run_ended_ = false;  // since the book was looked through

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable work_;
  std::condition_variable idle_;
  std::deque<std::unique_ptr<LiveRun>> inbox_;
  std::deque<std::function<void()>> commands_;
  SchedulerMetrics metrics_;
  size_t waiting_bytes_ = 0;
  DrainRate drained_;
  std::optional<double> idle_since_s_;
  bool closing_ = false;  // no more runs
  bool cancelling_ = false;
  bool ending_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace hyper::server

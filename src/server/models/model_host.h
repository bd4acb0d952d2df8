// The models that a server has, by name: each is loaded when a request wants it, and unloaded when
// nobody has used it for a while or another one needs its place.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "hyper/engine.h"
#include "src/server/api/api_error.h"
#include "src/server/api/client.h"
#include "src/server/api/request_json.h"
#include "src/server/models/model_state.h"
#include "src/server/scheduler/run_book.h"
#include "src/server/scheduler/scheduler.h"

namespace hyper::server {

// A model that can be loaded.
struct ServedModel {
  // Its name, and what requests may ask for before it is loaded. Then the engine's own model, lanes
  // and routing take the place of these here.
  ServerLimits limits;
  SchedulerOptions scheduler;
  // Called on the host's thread, for one model at a time. kResourceExhausted: it may succeed once
  // another model is unloaded.
  std::function<Result<std::unique_ptr<Engine>>()> load;
};

struct HostOptions {
  int most_loaded = 1;  // models at once
  double idle_s = 0;    // unused for so long a model is unloaded; 0: for no time
  double wait_s = 300;  // that a request waits for its model
  double busy_s = 10;   // that busy models take requests still while another waits for their place
  // Told of each model that cannot be loaded, by its name, and the whole reason, which requests
  // are not told: it may name files. On the host's thread.
  std::function<void(const std::string& name, const std::string& reason)> on_failure;
};

// Enters what an engine is and can do into the limits of what it serves; lanes of plain requests
// are none of a run's.
void SetEngine(const Engine& engine, const SchedulerOptions& scheduler, ServerLimits& limits);

class ModelHost;

// Keeps a model loaded; must not outlive the host.
class ModelLease {
 public:
  ModelLease(ModelLease&& other) noexcept;
  ~ModelLease();
  ModelLease(const ModelLease&) = delete;
  ModelLease& operator=(const ModelLease&) = delete;
  ModelLease& operator=(ModelLease&&) = delete;

  Scheduler& scheduler() const { return *scheduler_; }
  const ServerLimits& limits() const { return *limits_; }
  // Its name for the record of a run; empty where there is only one.
  std::string label() const;

 private:
  friend class ModelHost;
  ModelLease(ModelHost& host, size_t model, Scheduler& scheduler, const ServerLimits& limits)
      : host_(&host), model_(model), scheduler_(&scheduler), limits_(&limits) {}

  ModelHost* host_;  // null: moved from
  size_t model_;
  Scheduler* scheduler_;
  const ServerLimits* limits_;
};

// Thread rule: any; made and destroyed by one thread.
class ModelHost {
 public:
  // One model, which is there as long as the host: `scheduler` outlives it.
  ModelHost(Scheduler& scheduler, ServerLimits limits);
  // Models that are loaded on demand, at least one. The runs of all go into `book`.
  ModelHost(RunBook& book, std::vector<ServedModel> models, HostOptions options);
  // Cancels what still runs.
  ~ModelHost();
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  RunBook& book() const { return book_; }
  // Whether models come and go.
  bool on_demand() const { return on_demand_; }
  size_t size() const { return models_.size(); }
  // What is known of a model while it may not be loaded.
  const ServerLimits& Known(size_t model) const { return models_[model].known; }
  // The model that a request's `model` names, with or without a method; nothing: there is none.
  // Pure.
  std::optional<size_t> Find(const std::string& name) const;
  // The model of exactly that name. Pure.
  std::optional<size_t> Named(const std::string& name) const;
  // A model whose weights have that hash, which is known once it was loaded.
  std::optional<size_t> OfHash(const std::string& hash) const;

  // Whether the client has a token left to begin a run with, before a model is loaded for it.
  // Errors: 429, which counts as a refusal.
  std::optional<ApiError> CheckTokens(const Client& client);
  // Waits until the model is loaded.
  //   gone  asked now and then: true ends the waiting
  // Errors: 503 after wait_s, while the server shuts down, and where memory is short or a server
  // behind the model does not answer; 499 gone; 500 where it cannot be loaded.
  std::variant<ModelLease, ApiError> Acquire(size_t model, const std::function<bool()>& gone);
  // Nothing where it is not loaded.
  std::optional<ModelLease> IfLoaded(size_t model);

  std::vector<ModelStatus> Statuses() const;  // in the order of the models
  // Of all models, and of all that were loaded before.
  SchedulerMetrics metrics() const;
  // Whether it takes no more requests.
  bool closing() const;
  // Takes no more requests; waits up to `grace_s` for the runs there are and cancels the rest. A
  // model that is being loaded is awaited.
  void Shutdown(double grace_s);

 private:
  friend class ModelLease;
  using Lock = std::unique_lock<std::mutex>;
  // Between two looks at what nobody tells of: clients that leave, and runs that end.
  static constexpr std::chrono::milliseconds kGlance{50};
  static double Now();  // by the steady clock

  struct Model {
    ServerLimits known;
    SchedulerOptions options;
    std::function<Result<std::unique_ptr<Engine>>()> load;
    // By the host's mutex:
    ServerLimits limits;  // while it is loaded, and not changed then
    ModelState state = ModelState::kUnloaded;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Scheduler> own;
    Scheduler* scheduler = nullptr;  // null: not loaded
    int leases = 0;
    int waiting = 0;         // requests that wait for it
    uint64_t wanted = 0;     // number of the first of them
    double wanted_s = 0;     // when it came
    bool draining = false;   // takes no requests more, to make room
    bool short_of = false;   // of memory at the last try, beside others
    bool too_large = false;  // memory was short at the last try, with no other there
    Error failure;           // of the last try that failed
    int64_t loads = 0;
    int64_t failures = 0;
    uint64_t refusals = 0;     // times that `failure` was told to all who waited
    double used_s = 0;         // when a lease last began or ended
    SchedulerMetrics retired;  // of its schedulers that are gone
  };

  void Keep();  // the keeper's thread
  // Under the mutex, which those that take the lock give up for a while:
  Model* NextWanted();
  void Load(Model& model, Lock& lock);
  void Unload(Model& model, Lock& lock);
  // Unloads another model for that one, once it is idle, or returns when nobody waits any more.
  void MakeRoom(Model& wanted, Lock& lock);
  // Tells those who wait for the model of its failure.
  void Refuse(Model& model);
  Model* LeastUsed(bool idle);
  static bool Idle(const Model& model);  // for those that are loaded, as the next one
  static double LastUse(const Model& model);
  // Unloads one that nobody has used for long enough; false: there is none.
  bool UnloadDue(Lock& lock);
  void AwaitWork(Lock& lock);
  int Loaded() const;
  static SchedulerMetrics MetricsOf(const Model& model);
  static ApiError NotLoaded(const Model& model);  // without names of files
  ApiError NotInTime(const Model& model) const;
  ModelLease Lease(size_t model);
  void Release(size_t model);

  RunBook& book_;
  const HostOptions options_;
  const bool on_demand_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Model> models_;  // its size and what of them is not by the mutex never change
  uint64_t requests_ = 0;
  int64_t refused_ = 0;  // runs of clients without tokens
  bool closing_ = false;

  std::thread keeper_;  // last: it uses all of the above
};

}  // namespace hyper::server

#include "src/server/models/model_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/clock.h"

namespace hyper::server {
namespace {

constexpr int kTryAgainSeconds = 5;

ApiError ShuttingDown() {
  return {503, "server_error", "shutting_down", "", "the server is shutting down"};
}

ApiError ClientLeft() { return {499, "cancelled", "", "", "the client left"}; }

// Before the engine says it, as far as that could refuse what it would take.
ServerLimits KnownOf(ServerLimits limits) {
  constexpr int kAny = 1 << 20;
  limits.most_lanes = kAny;
  limits.routing = true;
  limits.model.vocab_size = limits.model.vocab_size > 0 ? limits.model.vocab_size : kAny;
  return limits;
}

const char* ReasonOf(ErrorCode code) {
  return code == ErrorCode::kResourceExhausted ? "memory is short"
         : code == ErrorCode::kUnavailable     ? "the server that runs it does not answer"
                                               : "the log of the server has the reason";
}

}  // namespace

ModelLease::ModelLease(ModelLease&& other) noexcept
    : host_(std::exchange(other.host_, nullptr)),
      model_(other.model_),
      scheduler_(other.scheduler_),
      limits_(other.limits_) {}

ModelLease::~ModelLease() {
  if (host_ != nullptr) {
    host_->Release(model_);
  }
}

std::string ModelLease::label() const { return host_->on_demand() ? limits_->model_name : ""; }

double ModelHost::Now() { return base::SteadyClock().Now(); }

ModelHost::ModelHost(Scheduler& scheduler, ServerLimits limits)
    : book_(scheduler.book()), options_(), on_demand_(false) {
  Model& model = models_.emplace_back();
  model.known = limits;
  model.limits = std::move(limits);
  model.state = ModelState::kLoaded;
  model.scheduler = &scheduler;
}

ModelHost::ModelHost(RunBook& book, std::vector<ServedModel> models, HostOptions options)
    : book_(book), options_(std::move(options)), on_demand_(true) {
  for (ServedModel& served : models) {
    Model& model = models_.emplace_back();
    model.limits = served.limits;
    model.known = KnownOf(std::move(served.limits));
    model.options = served.scheduler;
    model.load = std::move(served.load);
  }
  keeper_ = std::thread([this] { Keep(); });
}

ModelHost::~ModelHost() {
  if (on_demand()) {
    Shutdown(0);
  }
}

std::optional<size_t> ModelHost::Named(const std::string& name) const {
  const auto found = std::find_if(models_.begin(), models_.end(), [&name](const Model& model) {
    return model.known.model_name == name;
  });
  return found != models_.end() ? std::optional<size_t>(found - models_.begin()) : std::nullopt;
}

std::optional<size_t> ModelHost::OfHash(const std::string& hash) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(models_.begin(), models_.end(), [&hash](const Model& model) {
    return !hash.empty() && model.limits.model.hash == hash;
  });
  return found != models_.end() ? std::optional<size_t>(found - models_.begin()) : std::nullopt;
}

std::optional<size_t> ModelHost::Find(const std::string& name) const {
  const auto is_it = [&name](const Model& model) {
    const std::vector<std::string>& plain = model.known.plain_names;
    return model.known.model_name == name ||
           std::find(plain.begin(), plain.end(), name) != plain.end();
  };
  const auto whole = std::find_if(models_.begin(), models_.end(), is_it);
  if (whole != models_.end()) {
    return whole - models_.begin();
  }
  const size_t colon = name.rfind(':');
  return colon != std::string::npos ? Named(name.substr(0, colon)) : std::nullopt;
}

ModelLease ModelHost::Lease(size_t model) {
  Model& leased = models_[model];
  ++leased.leases;
  leased.used_s = Now();
  return {*this, model, *leased.scheduler, leased.limits};
}

void ModelHost::Release(size_t model) {
  const std::lock_guard lock(mutex_);
  --models_[model].leases;
  models_[model].used_s = Now();
  changed_.notify_all();
}

std::optional<ModelLease> ModelHost::IfLoaded(size_t model) {
  const std::lock_guard lock(mutex_);
  const Model& wanted = models_[model];
  const bool there = wanted.scheduler != nullptr && wanted.state != ModelState::kUnloading;
  return there ? std::optional(Lease(model)) : std::nullopt;
}

std::optional<ApiError> ModelHost::CheckTokens(const Client& client) {
  const int wait_s = book_.WaitSeconds(client, Now());
  if (wait_s <= 0) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  ++refused_;
  return MinuteUsedUp(client, wait_s);
}

std::variant<ModelLease, ApiError> ModelHost::Acquire(size_t model,
                                                      const std::function<bool()>& gone) {
  Lock lock(mutex_);
  Model& wanted = models_[model];
  const double end_s = Now() + options_.wait_s;
  const uint64_t refusals = wanted.refusals;
  if (wanted.waiting++ == 0) {
    wanted.wanted = ++requests_;
    wanted.wanted_s = Now();
    wanted.short_of = false;  // what others were told: there may be room by now
  }
  changed_.notify_all();
  for (bool left = false;;) {
    if (wanted.refusals != refusals) {
      return NotLoaded(wanted);  // which has counted the waiting ones off
    }
    if (wanted.state == ModelState::kLoaded && !wanted.draining && !closing_) {
      --wanted.waiting;
      changed_.notify_all();
      return Lease(model);
    }
    if (closing_ || left || Now() >= end_s) {
      --wanted.waiting;
      changed_.notify_all();
      return closing_ ? ShuttingDown() : left ? ClientLeft() : NotInTime(wanted);
    }
    changed_.wait_for(lock, kGlance);
    lock.unlock();
    left = gone();
    lock.lock();
  }
}

ApiError ModelHost::NotInTime(const Model& model) const {
  return {503,
          "server_error",
          "model_not_loaded",
          "model",
          fmt::format("model '{}' is not loaded after {} s, as others are busy or it is large; try "
                      "again, or serve with a larger --load-wait or --most-models",
                      model.known.model_name, options_.wait_s),
          kTryAgainSeconds};
}

ApiError ModelHost::NotLoaded(const Model& model) {
  // Whatever it is, it is not the request that is wrong.
  const int status = std::max(500, FromError(model.failure).status);
  return {status, "server_error", "model_load_failed", "model",
          fmt::format("model '{}' cannot be loaded: {}", model.known.model_name,
                      ReasonOf(model.failure.code))};
}

std::vector<ModelStatus> ModelHost::Statuses() const {
  const std::lock_guard lock(mutex_);
  std::vector<ModelStatus> statuses;
  for (const Model& model : models_) {
    const SchedulerMetrics metrics = MetricsOf(model);
    statuses.push_back({.name = model.known.model_name,
                        .state = model.draining ? ModelState::kUnloading : model.state,
                        .loaded = model.state == ModelState::kLoaded,
                        .loads = model.loads,
                        .failures = model.failures,
                        .runs = metrics.runs_started,
                        .generated_tokens = metrics.generated_tokens,
                        .live = metrics.waiting + metrics.running});
  }
  return statuses;
}

SchedulerMetrics ModelHost::MetricsOf(const Model& model) {
  SchedulerMetrics all = model.retired;
  if (model.scheduler != nullptr) {
    Add(model.scheduler->metrics(), all);
  }
  return all;
}

SchedulerMetrics ModelHost::metrics() const {
  const std::lock_guard lock(mutex_);
  SchedulerMetrics all;
  all.runs_refused = refused_;
  for (const Model& model : models_) {
    Add(MetricsOf(model), all);
  }
  return all;
}

bool ModelHost::closing() const {
  const std::lock_guard lock(mutex_);
  return on_demand() ? closing_ : models_.front().scheduler->closing();
}

void ModelHost::Shutdown(double grace_s) {
  const double end_s = Now() + grace_s;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (keeper_.joinable()) {
    keeper_.join();
  }
  for (const Model& model : models_) {  // the keeper, who alone changes them, is gone
    if (model.scheduler != nullptr) {
      model.scheduler->Shutdown(std::max(0.0, end_s - Now()));
    }
  }
}

}  // namespace hyper::server

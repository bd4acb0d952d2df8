// The keeper's thread, which alone loads and unloads the models of a host.
#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "src/server/models/model_host.h"

namespace hyper::server {
namespace {

struct Made {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Scheduler> scheduler;  // gone before the engine
};

// What is thrown, as when memory runs out, is an error of this model.
Result<Made> Make(const std::function<Result<std::unique_ptr<Engine>>()>& load, RunBook& book,
                  const SchedulerOptions& options) {
  try {
    Result<std::unique_ptr<Engine>> engine = load();
    if (!engine) {
      return engine.error();
    }
    auto scheduler = std::make_unique<Scheduler>(**engine, book, options);
    return Made{std::move(*engine), std::move(scheduler)};
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kResourceExhausted, "memory ran out"};
  } catch (const std::exception& failure) {
    return Error{ErrorCode::kInternal, failure.what()};
  }
}

}  // namespace

void SetEngine(const Engine& engine, const SchedulerOptions& scheduler, ServerLimits& limits) {
  const Capabilities& can = engine.capabilities();
  limits.model = engine.model();
  limits.most_lanes = std::max(1, can.max_lanes - scheduler.plain_lanes);
  limits.routing = can.routing;
}

void ModelHost::Keep() {
  Lock lock(mutex_);
  while (!closing_) {
    if (Model* wanted = NextWanted()) {
      const bool full = Loaded() >= options_.most_loaded;
      if (full && wanted->too_large) {
        Refuse(*wanted);
      } else if (full || (wanted->short_of && Loaded() > 0)) {
        MakeRoom(*wanted, lock);
      } else {
        Load(*wanted, lock);
      }
    } else if (!UnloadDue(lock)) {
      AwaitWork(lock);
    }
  }
}

void ModelHost::AwaitWork(Lock& lock) {
  if (options_.idle_s <= 0) {
    changed_.wait(lock);
    return;
  }
  constexpr double kLongest = 3600;  // a clock cannot count to any number of seconds
  // A run that ends meanwhile is no reason to look earlier: its model is due idle_s after that.
  double wait_s = std::min(options_.idle_s, kLongest);
  for (const Model& model : models_) {
    if (model.state == ModelState::kLoaded && Idle(model)) {
      wait_s = std::min(wait_s, LastUse(model) + options_.idle_s - Now());
    }
  }
  changed_.wait_for(lock, std::max(std::chrono::duration<double>(wait_s),
                                   std::chrono::duration<double>(kGlance)));
}

ModelHost::Model* ModelHost::NextWanted() {
  Model* next = nullptr;
  for (Model& model : models_) {
    const bool wanted = model.state == ModelState::kUnloaded && model.waiting > 0;
    if (wanted && (next == nullptr || model.wanted < next->wanted)) {
      next = &model;
    }
  }
  return next;
}

int ModelHost::Loaded() const {
  return static_cast<int>(std::count_if(models_.begin(), models_.end(), [](const Model& model) {
    return model.state == ModelState::kLoaded;
  }));
}

bool ModelHost::Idle(const Model& model) {
  return model.leases == 0 && model.scheduler->idle_since().has_value();
}

double ModelHost::LastUse(const Model& model) {
  return std::max(model.used_s, model.scheduler->idle_since().value_or(Now()));
}

ModelHost::Model* ModelHost::LeastUsed(bool idle) {
  Model* least = nullptr;
  double least_s = 0;  // read once of each: the clock goes on
  for (Model& model : models_) {
    // Requests that wait for a loaded model are about to get it.
    const bool may_go =
        model.state == ModelState::kLoaded && (model.draining || model.waiting == 0);
    if (!may_go || (idle && !Idle(model))) {
      continue;
    }
    const double used_s = idle ? LastUse(model) : model.used_s;
    if (least == nullptr || used_s < least_s) {
      least = &model;
      least_s = used_s;
    }
  }
  return least;
}

void ModelHost::MakeRoom(Model& wanted, Lock& lock) {
  Model* draining = nullptr;
  while (!closing_ && wanted.waiting > 0) {
    if (Model* idle = LeastUsed(/*idle=*/true)) {
      Unload(*idle, lock);
      wanted.short_of = false;  // until the next try says so again
      break;
    }
    // Requests for a loaded model do not wait for those of another at once, and would keep it for
    // ever if they never did.
    if (draining == nullptr && Now() >= wanted.wanted_s + options_.busy_s) {
      draining = LeastUsed(/*idle=*/false);
      if (draining != nullptr) {
        draining->draining = true;
      }
    }
    changed_.wait_for(lock, kGlance);
  }
  if (draining != nullptr) {
    draining->draining = false;
    changed_.notify_all();
  }
}

void ModelHost::Refuse(Model& model) {
  model.waiting = 0;
  ++model.refusals;
  changed_.notify_all();
}

void ModelHost::Load(Model& model, Lock& lock) {
  model.state = ModelState::kLoading;
  lock.unlock();
  Result<Made> made = Make(model.load, book_, model.options);
  lock.lock();
  if (made) {
    model.engine = std::move(made->engine);
    model.own = std::move(made->scheduler);
    model.scheduler = model.own.get();
    SetEngine(*model.engine, model.options, model.limits);
    model.state = ModelState::kLoaded;
    model.short_of = model.too_large = false;
    ++model.loads;
  } else {
    model.state = ModelState::kUnloaded;
    const bool exhausted = made.error().code == ErrorCode::kResourceExhausted;
    model.short_of = exhausted && Loaded() > 0 && !model.too_large;
    if (!model.short_of) {  // else it is tried again without one of the others
      model.too_large = exhausted;
      model.failure = made.error();
      ++model.failures;
      Refuse(model);
    }
  }
  changed_.notify_all();
  if (!made && !model.short_of && options_.on_failure) {
    lock.unlock();
    options_.on_failure(model.known.model_name, made.error().message);
    lock.lock();
  }
}

void ModelHost::Unload(Model& model, Lock& lock) {
  model.state = ModelState::kUnloading;
  lock.unlock();
  model.scheduler->Shutdown(0);
  lock.lock();
  SchedulerMetrics last = model.scheduler->metrics();
  last.cache_lanes = last.cost.lanes_open = 0;  // nothing of it is open once it is gone
  last.cache_cells = last.cost.cells_used = 0;
  Add(last, model.retired);
  model.scheduler = nullptr;
  std::unique_ptr<Engine> engine = std::move(model.engine);
  std::unique_ptr<Scheduler> scheduler = std::move(model.own);
  lock.unlock();
  scheduler.reset();
  engine.reset();
  lock.lock();
  model.state = ModelState::kUnloaded;
  changed_.notify_all();
}

bool ModelHost::UnloadDue(Lock& lock) {
  for (Model& model : models_) {
    if (options_.idle_s > 0 && model.state == ModelState::kLoaded && model.waiting == 0 &&
        Idle(model) && Now() >= LastUse(model) + options_.idle_s) {
      Unload(model, lock);
      return true;
    }
  }
  return false;
}

}  // namespace hyper::server

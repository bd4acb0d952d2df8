// What clients ask of runs, carried out between two steps of the scheduler's thread.
#include <fmt/format.h>

#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "src/server/scheduler/scheduler.h"
#include "src/server/scheduler/steering.h"

namespace hyper::server {
bool Scheduler::BetweenSteps(const std::function<void()>& command) {
  std::promise<void> done;
  std::future<void> future = done.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (ending_) {
      return false;
    }
    commands_.emplace_back([&command, &done] {
      try {
        command();
        done.set_value();
      } catch (...) {  // it is the caller's
        done.set_exception(std::current_exception());
      }
    });
    work_.notify_one();
  }
  future.get();
  return true;
}

Steered Scheduler::Control(const std::string& id, const RunCommand& command) {
  Steered steered{{}, NoSuchRun(id)};
  BetweenSteps([&] { steered = Apply(id, command); });
  return steered;
}

std::optional<ApiError> Scheduler::Forget(const std::string& id) {
  std::optional<ApiError> error = NoSuchRun(id);
  BetweenSteps([&] { error = book_.Forget(id); });
  return error;
}

Result<Json> Scheduler::AskEngine(const std::function<Result<Json>(Engine&)>& question) {
  Result<Json> answer = Error{ErrorCode::kUnavailable, "the server is shutting down"};
  BetweenSteps([&] { answer = question(engine_); });
  return answer;
}

void Scheduler::RunCommands() {
  std::deque<std::function<void()>> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const std::function<void()>& command : commands) {
    command();
  }
}

LiveRun* Scheduler::FindLive(const std::string& id) {
  for (const std::unique_ptr<LiveRun>& run : live_) {
    if (run->id() == id) {
      return run.get();
    }
  }
  return nullptr;
}

Steered Scheduler::Apply(const std::string& id, const RunCommand& command) {
  LiveRun* run = FindLive(id);
  if (run == nullptr) {
    return {{}, NoSuchRun(id)};
  }
  if (!run->session()->started() && command.kind != RunCommand::Kind::kCancel &&
      command.kind != RunCommand::Kind::kLimits) {
    return {{},
            ApiError{409, "invalid_request_error", "run_not_started", "",
                     fmt::format("run '{}' waits and has no paths yet", id)}};
  }
  return Steer(engine_, *run, command, ++forks_, driver_.FreeLanes());
}

}  // namespace hyper::server

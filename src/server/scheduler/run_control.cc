// Changes of a live run that a client asks for, between two steps of the scheduler's thread.
#include <fmt/format.h>

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "src/decode/fork_steps.h"
#include "src/server/scheduler/scheduler.h"

namespace hyper::server {
namespace {

ApiError NoSuchRun(const std::string& id) {
  return {404, "not_found_error", "run_not_found", "",
          fmt::format("run '{}' is not live; GET /v1/runs lists the runs", id)};
}

}  // namespace

std::optional<ApiError> Scheduler::Control(const std::string& id, const RunCommand& command) {
  auto answer = std::make_shared<std::promise<std::optional<ApiError>>>();
  std::future<std::optional<ApiError>> future = answer->get_future();
  {
    const std::lock_guard lock(mutex_);
    if (ending_) {
      return NoSuchRun(id);
    }
    commands_.emplace_back([this, id, command, answer] { answer->set_value(Apply(id, command)); });
    work_.notify_one();
  }
  return future.get();
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

std::optional<ApiError> Scheduler::Apply(const std::string& id, const RunCommand& command) {
  LiveRun* run = FindLive(id);
  if (run == nullptr) {
    return NoSuchRun(id);
  }
  if (command.kind == RunCommand::Kind::kCancel) {
    run->session()->Stop("cancelled by request");
    return std::nullopt;
  }
  Pool& pool = run->session()->pool();
  if (command.path < 0 || command.path >= static_cast<int>(pool.paths().size()) ||
      !pool.path(command.path).running()) {
    return ApiError{409, "invalid_request_error", "path_not_running", "path",
                    fmt::format("path {} of {} is not running", command.path, id)};
  }
  switch (command.kind) {
    case RunCommand::Kind::kFork:
      return run->plain() ? BadField("path", "plain decoding has no forks; ask for more choices")
                          : ForkPath(pool, command.path);
    case RunCommand::Kind::kPrune:
      pool.Finish(command.path, PathStatus::kPruned, "pruned by request");
      return std::nullopt;
    case RunCommand::Kind::kGrant: {
      const Status status = pool.Grant(command.path, command.tokens);
      return status ? std::nullopt : std::optional(FromError(status.error()));
    }
    case RunCommand::Kind::kCancel:
      break;
  }
  return std::nullopt;
}

// The child gets what its parent still has of the round, so that both settle together.
std::optional<ApiError> Scheduler::ForkPath(Pool& pool, PathId parent) {
  const int granted = pool.path(parent).granted;
  if (pool.FreeLanes(granted) < 1) {
    return ApiError{409, "invalid_request_error", "no_lane", "path",
                    "the run has no lane or no cells left for another path"};
  }
  const Result<PathId> child = pool.Fork(parent, kRequestedForkStep, ++forks_);
  if (!child) {
    return FromError(child.error());
  }
  const Status status = pool.Grant(*child, granted);
  return status ? std::nullopt : std::optional(FromError(status.error()));
}

}  // namespace hyper::server

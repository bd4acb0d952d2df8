// The driver: it alone uses an engine and advances any number of sessions, so that the lanes of all
// requests share each forward of the model. `run`, `eval` and `serve` all use it.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "hyper/session.h"

#pragma GCC visibility push(default)
namespace hyper {

// Whether sessions that reserve `sum` together may run side by side on such an engine: every lane
// may be open at once, and has a row of its own. Pure.
bool FitTogether(const Reservation& sum, const Capabilities& can);

class Driver {
 public:
  // `engine` must outlive the driver.
  explicit Driver(Engine& engine) : engine_(engine) {}

  // Queues a session; it starts once its reservation fits beside the running ones. Sessions start
  // in the order they were added. The caller keeps the session and may drop it once it is finished;
  // before that, Remove it first.
  void Add(Session* session);
  // Takes a session out; its lanes are closed by the session itself.
  void Remove(Session* session);

  // Admits, polls the engine once, dispatches, lets every session react. Returns the engine's error
  // if it cannot continue; the sessions have then failed with it.
  Status Step(double timeout_s);
  // Steps until nothing is queued or running.
  Status RunAll();

  bool idle() const { return queued_.empty() && running_.empty(); }
  int running_count() const { return static_cast<int>(running_.size()); }

 private:
  class StepClock;

  void Admit();
  Result<std::span<const Event>> Poll(double timeout_s);
  bool Dispatch(std::span<const Event> events);
  void React(bool moved);
  void Charge(const Session::StepTime& time);
  void Retire();

  Engine& engine_;
  std::vector<Session*> queued_;
  std::vector<Session*> running_;
};

}  // namespace hyper
#pragma GCC visibility pop

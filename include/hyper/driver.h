// The driver: owns the use of an engine and moves any number of sessions on, so that the lanes of
// all requests share each forward of the model. `run`, `eval` and `serve` all use it.
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

  // Queues a session; it starts once its reservation fits beside those that run. Sessions start in
  // the order they were added. The caller keeps the session and may drop it once it is finished;
  // Remove it first otherwise.
  void Add(Session* session);
  // Takes a session out; its lanes are closed by the session itself.
  void Remove(Session* session);

  // Admits, polls the engine once, dispatches, lets every session react. Returns the engine's error
  // when it can go on no more; the sessions then have failed with it.
  Status Step(double timeout_s);
  // Steps until nothing is queued or running.
  Status RunAll();

  bool idle() const { return queued_.empty() && running_.empty(); }
  int running_count() const { return static_cast<int>(running_.size()); }

 private:
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

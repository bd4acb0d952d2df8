// The driver: it alone uses an engine and advances any number of sessions, so that the lanes of all
// requests share each forward of the model. `run`, `eval` and `serve` all use it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hyper/session.h"

#pragma GCC visibility push(default)
namespace hyper {

// How a session shares the engine with others.
enum class Admission {
  // It starts when its whole reservation fits beside those of the other reserved sessions. It is
  // never parked.
  kReserved,
  // It starts when its lanes, and the cells that it is expected to need soon, are free. Where cells
  // run out, the session that started last is parked: its cells go to the others, and are computed
  // again when it goes on. Its paths stay what they are; in strict mode, to the byte.
  kByUse,
};

class Driver {
 public:
  // `engine` must outlive the driver.
  //   kept  lanes and cells that sessions by use leave to reserved ones, which within them start
  //         before all others that wait
  explicit Driver(Engine& engine, const Reservation& kept = {}) : engine_(engine), kept_(kept) {}

  // Queues a session. Sessions start in the order they were added, but for the part that is kept
  // for reserved ones. One that would have the engine to itself starts in any case. The caller
  // keeps the session and may drop it once it is finished; before that, Remove it first.
  void Add(Session* session, Admission how = Admission::kReserved);
  // Takes a session out; its lanes are closed by the session itself.
  void Remove(Session* session);

  // Admits, polls the engine once, dispatches, lets every session react. Returns the engine's error
  // if it cannot continue; the sessions have then failed with it.
  Status Step(double timeout_s);
  // Steps until nothing is queued or running.
  Status RunAll();

  bool idle() const { return queued_.empty() && running_.empty(); }
  // Sessions that have started and not ended, parked ones included.
  int running_count() const { return static_cast<int>(running_.size()); }
  // Lanes of those sessions, and of those that the next step starts.
  int LanesDue() const;
  // Lanes of the engine that no session has reserved and that are not kept for others.
  int FreeLanes() const;
  int64_t starts() const { return starts_; }  // of sessions so far
  // How often a session was parked.
  int64_t parkings() const { return parkings_; }

 private:
  class StepClock;
  struct Entry {
    Session* session = nullptr;
    Admission how = Admission::kReserved;
    int64_t parked_at = 0;  // what ends_ was when it was parked
  };

  std::vector<Entry> Startable() const;
  void Resume();
  void Admit();
  Result<std::span<const Event>> Poll(double timeout_s);
  bool Dispatch(std::span<const Event> events);
  Entry* ToPark(bool moved);
  void React(bool moved);
  void Charge(const Session::StepTime& time);
  void Retire();

  Engine& engine_;
  const Reservation kept_;
  std::vector<Entry> queued_;
  std::vector<Entry> running_;  // in the order of their start
  int64_t parkings_ = 0;
  uint32_t starts_ = 0;
  int64_t ends_ = 0;
};

}  // namespace hyper
#pragma GCC visibility pop

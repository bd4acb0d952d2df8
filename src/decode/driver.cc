#include "hyper/driver.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace hyper {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

// Measures a step: what the engine took until it was polled, what came after.
class Driver::StepClock {
 public:
  explicit StepClock(const Engine& engine)
      : engine_(engine), sampler_before_s_(engine.cost().sampler_s), start_s_(Now()) {}

  void Polled() { polled_s_ = Now(); }
  Session::StepTime Time() const {
    const double sampler_s = engine_.cost().sampler_s - sampler_before_s_;
    const double done_s = Now();
    return {done_s - start_s_, polled_s_ - start_s_ - sampler_s, sampler_s, done_s - polled_s_};
  }

 private:
  const Engine& engine_;
  double sampler_before_s_;
  double start_s_;
  double polled_s_ = 0;
};

bool FitTogether(const Reservation& sum, const Capabilities& can) {
  return sum.lanes <= std::min(can.max_lanes, can.max_rows) &&
         (can.cells_total == 0 || sum.cells <= can.cells_total);
}

void Driver::Add(Session* session) { queued_.push_back(session); }

void Driver::Remove(Session* session) {
  std::erase(queued_, session);
  std::erase(running_, session);
}

// A session starts when its lanes and cells fit beside those of the running ones, or when it would
// have the engine to itself: then its own caps keep it within what there is.
void Driver::Admit() {
  while (!queued_.empty()) {
    Reservation sum = queued_.front()->pool().reservation();
    for (const Session* session : running_) {
      sum.lanes += session->pool().reservation().lanes;
      sum.cells += session->pool().reservation().cells;
    }
    if (!FitTogether(sum, engine_.capabilities()) && !running_.empty()) {
      return;
    }
    Session* next = queued_.front();
    queued_.erase(queued_.begin());
    running_.push_back(next);
    next->Start();
    Retire();  // one that had nothing to do
  }
}

void Driver::Retire() {
  std::erase_if(running_, [](const Session* session) { return session->finished(); });
}

Status Driver::Step(double timeout_s) {
  Admit();
  if (running_.empty()) {
    return {};
  }
  StepClock clock(engine_);
  const Result<std::span<const Event>> events = Poll(timeout_s);
  if (!events) {
    return events.error();
  }
  clock.Polled();
  React(Dispatch(*events));
  Charge(clock.Time());
  Retire();
  return {};
}

// The engine's failure is every session's.
Result<std::span<const Event>> Driver::Poll(double timeout_s) {
  Result<std::span<const Event>> events = engine_.Poll(timeout_s);
  if (!events) {
    for (Session* session : running_) {
      session->Fail(events.error());
    }
    running_.clear();
    return events;
  }
  for (const std::string& notice : engine_.TakeNotices()) {
    for (Session* session : running_) {
      session->pool().Emit(NoticeRecord{notice});
    }
  }
  return events;
}

// Gives each event to the session whose lane it is about. Returns whether some lane went on.
bool Driver::Dispatch(std::span<const Event> events) {
  bool moved = false;
  for (const Event& event : events) {
    moved |= event.kind != EventKind::kStalled;
    for (Session* session : running_) {
      if (session->Dispatch(event)) {
        break;
      }
    }
  }
  return moved;
}

void Driver::React(bool moved) {
  for (Session* session : running_) {
    session->React(moved);
  }
}

void Driver::Charge(const Session::StepTime& time) {
  for (Session* session : running_) {
    session->Charge(time);
  }
}

Status Driver::RunAll() {
  while (!idle()) {
    Status status = Step(1.0);
    if (!status) {
      return status;
    }
  }
  return {};
}

}  // namespace hyper

#include "hyper/driver.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "src/decode/admission.h"

namespace hyper {
namespace {

// What the sessions take that have started, but for one where it is given.
template <class Entries>
Occupancy Taken(const Entries& started, const Session* left_out) {
  Occupancy now;
  for (const auto& entry : started) {
    const Pool& pool = entry.session->pool();
    if (entry.session != left_out) {
      now.Add(pool.reservation(), entry.how, pool.cells(), entry.session->parked());
    }
  }
  return now;
}

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

void Driver::Add(Session* session, Admission how) { queued_.push_back({session, how, 0}); }

void Driver::Remove(Session* session) {
  const auto is = [session](const Entry& entry) { return entry.session == session; };
  std::erase_if(queued_, is);
  ends_ += static_cast<int64_t>(std::erase_if(running_, is));
}

// The sessions that the next step starts. What has to wait for lanes or cells keeps those behind it
// waiting, except for reserved ones within the part that is kept for them; so does a parked
// session, which goes on before any other starts.
std::vector<Driver::Entry> Driver::Startable() const {
  if (queued_.empty()) {
    return {};
  }
  Occupancy now = Taken(running_, nullptr);
  bool alone = running_.empty();
  bool behind = std::any_of(running_.begin(), running_.end(),
                            [](const Entry& entry) { return entry.session->parked(); });
  const Capabilities& can = engine_.capabilities();
  std::vector<Entry> next;
  for (const Entry& entry : queued_) {
    const Pool& pool = entry.session->pool();
    const Reservation& more = pool.reservation();
    const auto held = static_cast<int64_t>(pool.prompt().tokens.size()) + more.lanes;
    const bool fits = entry.how == Admission::kReserved ? FitsReserved(now, more, can)
                                                        : FitsByUse(now, more, held, kept_, can);
    const bool turn =
        !behind || (entry.how == Admission::kReserved && KeepsWithin(kept_, now, more, can));
    if (!alone && !(fits && turn)) {
      behind = true;
      continue;
    }
    now.Add(more, entry.how, held, /*parked=*/false);
    alone = false;
    next.push_back(entry);
  }
  return next;
}

int Driver::LanesDue() const {
  int lanes = 0;
  for (const Entry& entry : running_) {
    lanes += entry.session->pool().reservation().lanes;
  }
  for (const Entry& entry : Startable()) {
    lanes += entry.session->pool().reservation().lanes;
  }
  return lanes;
}

int Driver::FreeLanes() const {
  const Capabilities& can = engine_.capabilities();
  const Occupancy now = Taken(running_, nullptr);
  const int kept = std::max(kept_.lanes - now.reserved.lanes, 0);
  return std::max(std::min(can.max_lanes, can.max_rows) - now.lanes - kept, 0);
}

// Parked sessions go on in the order of their start, each once another session has ended and what
// it will need soon is free.
void Driver::Resume() {
  for (Entry& entry : running_) {
    if (!entry.session->parked()) {
      continue;
    }
    const Occupancy now = Taken(running_, entry.session);
    const bool alone = std::all_of(running_.begin(), running_.end(),
                                   [](const Entry& other) { return other.session->parked(); });
    const Pool& pool = entry.session->pool();
    const bool fits = ends_ > entry.parked_at && FitsByUse(now, pool.reservation(), pool.cells(),
                                                           kept_, engine_.capabilities());
    if (!alone && !fits) {
      return;
    }
    entry.session->Resume();
  }
}

void Driver::Admit() {
  Resume();
  for (const Entry& entry : Startable()) {
    std::erase_if(queued_, [&](const Entry& queued) { return queued.session == entry.session; });
    running_.push_back(entry);
    entry.session->Start(++starts_);
  }
  Retire();  // those that had nothing to do
}

void Driver::Retire() {
  ends_ += static_cast<int64_t>(
      std::erase_if(running_, [](const Entry& entry) { return entry.session->finished(); }));
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
  const bool moved = Dispatch(*events);
  Entry* victim = ToPark(moved);
  React(moved || victim != nullptr);
  if (victim != nullptr && !victim->session->finished()) {
    victim->parked_at = ends_;
    victim->session->Park();
    ++parkings_;
  }
  Charge(clock.Time());
  Retire();
  return {};
}

// The engine's failure is every session's.
Result<std::span<const Event>> Driver::Poll(double timeout_s) {
  Result<std::span<const Event>> events = engine_.Poll(timeout_s);
  if (!events) {
    for (const Entry& entry : running_) {
      entry.session->Fail(events.error());
    }
    running_.clear();
    return events;
  }
  for (const std::string& notice : engine_.TakeNotices()) {
    for (const Entry& entry : running_) {
      entry.session->pool().Emit(NoticeRecord{notice});
    }
  }
  return events;
}

// Gives each event to the session whose lane it is about. Returns whether some lane went on.
bool Driver::Dispatch(std::span<const Event> events) {
  bool moved = false;
  for (const Event& event : events) {
    moved |= event.kind != EventKind::kStalled;
    for (const Entry& entry : running_) {
      if (entry.session->Dispatch(event)) {
        break;
      }
    }
  }
  return moved;
}

// The session that must give its cells up, or none: the youngest by use, where no lane could move
// or a reserved session waits for cells. One alone on the engine keeps what it has.
Driver::Entry* Driver::ToPark(bool moved) {
  bool pressed = false;
  int active = 0;
  Entry* youngest = nullptr;
  for (Entry& entry : running_) {
    if (entry.session->parked()) {
      continue;
    }
    ++active;
    pressed |= entry.session->stalled() && (!moved || entry.how == Admission::kReserved);
    if (entry.how == Admission::kByUse && entry.session->MayPark()) {
      youngest = &entry;
    }
  }
  return pressed && active > 1 ? youngest : nullptr;
}

// Where no lane could move and none can be parked, sessions give up paths of their own: those by
// use, and reserved ones only where no other is short.
void Driver::React(bool moved) {
  const bool others_give = std::any_of(running_.begin(), running_.end(), [](const Entry& entry) {
    return entry.how == Admission::kByUse && entry.session->stalled();
  });
  for (const Entry& entry : running_) {
    entry.session->React(moved || (others_give && entry.how == Admission::kReserved));
  }
}

void Driver::Charge(const Session::StepTime& time) {
  for (const Entry& entry : running_) {
    entry.session->Charge(time);
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

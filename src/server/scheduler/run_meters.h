// What runs took and did, for /metrics. Kept by the scheduler's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "hyper/records.h"
#include "hyper/session.h"
#include "src/server/scheduler/histogram.h"

namespace hyper::server {

// The moments of one run, in seconds of one clock.
class RunTimes {
 public:
  explicit RunTimes(double submitted_s) : submitted_s_(submitted_s) {}

  double submitted_s() const { return submitted_s_; }

 private:
  friend struct RunMeters;

  double submitted_s_;
  bool started_ = false;
  int64_t tokens_ = 0;       // seen so far
  double last_token_s_ = 0;  // when the newest of them came
};

struct RunMeters {
  Seconds queue;                                // from the request to the start
  Seconds first_token;                          // from the request to the first token of any path
  Seconds between_tokens;                       // from step to step that brought tokens
  Seconds end_to_end;                           // from the request to the run's end
  Shares vote_margin;                           // share of the winner, less that of the second
  std::array<int64_t, kActionCount> actions{};  // decisions, by effect
  std::array<int64_t, kNamesOf<PathStatus>.size()> paths{};  // that ended, by how
  std::map<std::pair<std::string, std::string>, int64_t>
      runs{};                // that ended, by method and status
  int64_t saved_tokens = 0;  // by decided votes

  // A step of the driver is over.
  void Stepped(RunTimes& times, const Session& session, double now_s);
  void Decided(const DecisionRecord& decision) {
    ++actions[static_cast<size_t>(decision.effect())];
  }
  void PathEnded(const FinishRecord& end) { ++paths[static_cast<size_t>(end.status)]; }
  //   result  null: the run has none
  void Ended(const RunTimes& times, const std::string& method, const std::string& status,
             const SessionResult* result, double now_s);
  // Adds what others counted.
  void Add(const RunMeters& other);
};

}  // namespace hyper::server

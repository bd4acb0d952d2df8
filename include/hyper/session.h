// A session: one question answered by one method over one pool. The driver advances it; its results
// are plain values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyper/method.h"
#include "hyper/pool.h"

namespace hyper {
class SessionPool;  // private: declared where nothing is exported
}

#pragma GCC visibility push(default)
namespace hyper {

class Session;
struct RunPlan;      // hyper/ask.h
struct SessionSpec;  // hyper/ask.h
Result<std::unique_ptr<Session>> OpenSession(Engine& engine, const RunPlan& plan, SessionSpec spec,
                                             std::unique_ptr<Method> method);

// Score of one answer under one vote rule.
struct AnswerTally {
  std::string answer;
  double score = 0;
  double share = 0;  // of the sum of all scores
  int paths = 0;
  bool candidate = true;  // false: outside the K_a most frequent answers
};

// How one vote rule went; `scores` is sorted, the winner first.
struct VoteOutcome {
  std::optional<std::string> answer;
  std::vector<AnswerTally> scores;
  bool tie = false;  // the winner was picked by a tie rule
  int clipped = 0;   // paths whose degenerate confidence was clipped
};

// Bounds of a session; 0: none.
struct SessionLimits {
  int64_t budget_tokens = 0;  // effective tokens
  double time_s = 0;
};

struct SessionResult {
  std::optional<std::string> answer;
  std::string vote_rule;
  std::map<std::string, VoteOutcome> votes;  // by rule
  int voting_paths = 0;
  int failed_paths = 0;        // that the engine gave up, such as when its server refused
  bool partial = false;        // stopped before the method was done, or some paths failed
  std::string partial_reason;  // what stopped it and what is missing
  Ledger ledger;
};

// Made by OpenSession (hyper/ask.h), which checks that the engine can run it.
class Session {
 public:
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Pool& pool();
  const Pool& pool() const;
  const Method& method() const { return *method_; }
  bool started() const { return started_; }
  bool finished() const { return finished_; }
  // Its cells are lent to other sessions; it goes on later (Admission::kByUse, hyper/driver.h).
  bool parked() const { return parked_; }
  // An engine or method failure that ended the session or left it without an answer; OK while
  // there is none. After a failure no vote is an answer of the model, so none may be graded.
  const Status& status() const { return status_; }

  // Records since the last call.
  std::vector<Record> TakeRecords();

  // Reserves lanes more, with the cells that their paths may take. For lanes that are free in the
  // engine (Driver::FreeLanes).
  void Widen(int lanes);
  const SessionLimits& limits() const { return limits_; }
  // From the next step on.
  void SetLimits(const SessionLimits& limits) { limits_ = limits; }

  // Stops the session: running paths are cancelled, the vote so far is the result, marked partial.
  void Stop(const std::string& reason);

  // The votes over the paths so far; final once finished().
  SessionResult Result() const;

 private:
  friend class Driver;
  friend hyper::Result<std::unique_ptr<Session>> OpenSession(Engine& engine, const RunPlan& plan,
                                                             SessionSpec spec,
                                                             std::unique_ptr<Method> method);

  Session(Engine& engine, Pool::Config config, std::unique_ptr<Method> method,
          SessionLimits limits);

  struct StepTime {  // seconds of one step of the driver
    double wall_s = 0;
    double engine_s = 0;
    double sampler_s = 0;
    double statistics_s = 0;
  };

  void Start(uint32_t owner);  // of its lanes: LaneSpec
  // Gives the cells of all lanes up, and goes on where it was. A parked session gets no tokens.
  void Park();
  void Resume();
  bool MayPark() const;               // false: it holds no cells, or a score is due
  bool stalled() const;               // a lane of it found no cells in the last poll
  bool Dispatch(const Event& event);  // false: not an event of this session's lanes
  // Every event of a poll has been dispatched. `engine_moved`: some lane of the engine went on.
  void React(bool engine_moved);
  // Sessions side by side are charged the whole of a step each.
  void Charge(const StepTime& time);
  void Fail(const Error& error);
  void Advance();
  void NotifyMethod();
  void RelieveStall();
  void StopIfDecided();
  void CheckLimits();
  void Conclude();
  void NoteFailures();
  void NotePenalties();

  struct Happened {  // what the method is told after a poll
    PathId path = kNoPath;
    EventKind kind = EventKind::kToken;
    uint64_t request = 0;
    std::vector<std::vector<float>> scores;
    ScoreTops tops;
  };

  std::unique_ptr<SessionPool> pool_;
  std::unique_ptr<Method> method_;
  SessionLimits limits_;
  Status status_;
  Status lane_failure_;        // the first of a lane or a score
  int64_t unsure_tokens_ = 0;  // without a confidence, though the engine can give them
  std::vector<Happened> happened_;
  size_t asked_ended_ = 0;  // paths that had ended when the stop rule was asked
  bool started_ = false;
  bool finished_ = false;
  bool parked_ = false;
  bool partial_ = false;
  std::string partial_reason_;
};

}  // namespace hyper
#pragma GCC visibility pop

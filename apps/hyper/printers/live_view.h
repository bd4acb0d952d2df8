// The pool while it runs, on stderr.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/hyper/printers/live_frame.h"
#include "hyper/names.h"
#include "hyper/records.h"
#include "hyper/session.h"

namespace hyper::app {

// What the view may do.
enum class LiveMode {
  kScreen,      // a terminal: the whole screen, redrawn in place
  kLines,       // a line for each path, decision and phase
  kBeats,       // a line for each phase and one every ten seconds
  kHeartbeats,  // that one alone
  kOff,
};

// `--live`: auto draws on a terminal and tells phases elsewhere; always also prints a line for each
// path and decision where stderr is no terminal.
enum class LiveWhen { kAuto, kAlways, kNever };

// The mode of that choice for the present stderr. `for_programs`: the result is read by one, and
// auto only shows that there is life.
LiveMode LiveModeOf(LiveWhen when, bool for_programs = false);

// Tells on stderr what takes longer than a second, and every ten seconds that it still does; on a
// screen in one line with the seconds, once a second.
class SlowNote {
 public:
  SlowNote(std::string text, bool on_screen);
  ~SlowNote();
  SlowNote(const SlowNote&) = delete;
  SlowNote& operator=(const SlowNote&) = delete;

 private:
  void Loop();

  const std::string text_;
  const bool on_screen_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;   // guarded by mutex_
  std::thread thread_;  // last: it uses all of the above
};

class LiveView {
 public:
  explicit LiveView(LiveMode mode) : mode_(mode) {}
  ~LiveView() { Clear(); }
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // What stays the same: the words above the frame and the time limit of the run (0: none). The
  // run's clock starts here.
  void Start(const std::string& title, double limit_s);
  void OnRecord(const Record& record);
  // Shows the pool, at most ten times a second.
  void Draw(const Session& session);
  // Tells what a run will take; on a screen once, so that nothing scrolls.
  void Estimate(const std::string& text);
  // A line while there is no pool yet; without a terminal only where the phase takes long.
  void Phase(const std::string& text);
  // Takes everything away that is not to stay.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  void Tell(const std::string& line);
  void AddEvent(const std::string& text);
  void OnDecision(const DecisionRecord& decision);
  void Observe(const Session& session);

  LiveMode mode_;
  LiveState state_;
  int idle_decisions_ = 0;  // in a row
  bool short_ = false;      // KV cells or lanes ran short
  std::string estimate_;
  size_t counted_ = 0;  // ended paths when the votes were counted
  struct Sampling {     // of a path's curve
    int stride = 1;     // tokens between two values
    int next = 1;       // tokens of the path when the next value is due
  };
  std::vector<Sampling> samplings_;  // by path
  bool phase_shown_ = false;
  std::unique_ptr<SlowNote> slow_;  // the phase
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_draw_ = Clock::now();
};

}  // namespace hyper::app

template <>
inline constexpr std::array hyper::kNamesOf<hyper::app::LiveWhen> = {"auto", "always", "never"};

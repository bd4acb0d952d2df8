// The pool while it runs, on stderr.
#pragma once

#include <array>
#include <chrono>
#include <string>

#include "hyper/names.h"
#include "hyper/pool.h"
#include "hyper/records.h"

namespace hyper::app {

// What the view may do: redraw a status block in place (a terminal), print lines only, or nothing.
enum class LiveMode { kRedraw, kLines, kOff };

// `--live`: auto redraws on a terminal and is silent elsewhere; always also prints lines where
// stderr is no terminal.
enum class LiveWhen { kAuto, kAlways, kNever };

// The mode of that choice for the present stderr.
LiveMode LiveModeOf(LiveWhen when);

// A line for each finished path and decision and, on a terminal, two lines redrawn in place: paths,
// mean confidence, diversity, last action; tokens and elapsed time.
class LiveView {
 public:
  explicit LiveView(LiveMode mode) : mode_(mode) {}
  ~LiveView() { Clear(); }
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void OnRecord(const Record& record);
  // Redraws the block, at most ten times a second.
  void Draw(const Pool& pool);
  // A line in place of the block, while there is no pool yet.
  void Phase(const std::string& text);
  // Takes the block away.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  void Print(const std::string& line);
  void ShowBlock(const std::string& first, const std::string& second);

  LiveMode mode_;
  std::string last_decision_ = "warm-up";
  double diversity_ = 0;
  int drawn_lines_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_draw_{};
};

}  // namespace hyper::app

template <>
inline constexpr std::array hyper::kNamesOf<hyper::app::LiveWhen> = {"auto", "always", "never"};

// The live view as a pure function: what is known of a run, and the lines that show it on a screen
// of a given size.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyper/records.h"

namespace hyper::app {

class ScreenLine;

struct LivePath {
  PathId id = kNoPath;
  PathStatus status = PathStatus::kRunning;
  int tokens = 0;
  double confidence = 0;     // window mean, nats; NaN: unknown
  std::vector<float> curve;  // the same over time, oldest first
  std::string text;          // the end of what it wrote
  std::string answer;        // empty: none
};

struct LiveAnswer {
  std::string answer;
  double share = 0;  // of the vote so far
  int paths = 0;
};

struct LiveState {
  std::string title;                // model and method
  std::string phase;                // "warm-up", "pool"
  std::vector<LivePath> paths;      // in order of id
  int expected_paths = 0;           // that the run will have opened in all
  int max_tokens = 0;               // of a path; 0: not known
  std::optional<double> threshold;  // of the confidence, once warm-up has settled it
  std::vector<LiveAnswer> answers;  // the leading one first
  std::vector<std::string> events;  // actions, prunings and notices, newest last
  int64_t tokens = 0;
  double elapsed_s = 0;
  double limit_s = 0;  // 0: none
};

struct Screen {
  int columns = 80;
  int rows = 24;
  bool colour = false;
};

// How far the run is.
struct Progress {
  double done = 0;    // share of the work, [0, 1]
  double left_s = 0;  // seconds to come
};

// Paths that still run are expected to become as long as those that have ended by themselves, on
// average; where they are longer, as the longest of those, then as long as a path may be. A time
// limit ends them earlier. Nothing while no path has ended and there is no limit.
// Pure.
std::optional<Progress> Foresee(const LiveState& state);

// A bar of whole and eighth blocks; `share` in [0, 1] of `columns` columns. Pure.
std::string Bar(double share, int columns);

// Adds that bar in the accent colour, and a dim track behind it up to `columns` columns.
void AddProgressBar(ScreenLine& line, double share, int columns);

// A character of a sparkline.
struct SparkCell {
  const char* glyph = " ";
  bool below = false;  // the threshold
};

// `values` between `low` and `high`, the newest at the right: solid blocks, dotted ones below the
// threshold, so that they differ without colours too; blank where a value is unknown. Where there
// are more values than `columns`, a cell is the mean of a part. Pure.
std::vector<SparkCell> Sparkline(std::span<const float> values, double low, double high,
                                 std::optional<double> threshold, int columns);

// The last characters of a text that fill at most `columns` columns, white space run together.
// Pure.
std::string LastWords(const std::string& text, int columns);

// The frame: at most `rows` lines of at most `columns` columns, with colours where the screen has
// them. Where paths are more than there is room for, they stand in two columns on a wide screen,
// and the oldest of those that have ended are left out. Pure.
std::vector<std::string> LiveFrame(const LiveState& state, const Screen& screen);

// The state in one line, for where there is no terminal. Pure.
std::string LiveLine(const LiveState& state);

}  // namespace hyper::app

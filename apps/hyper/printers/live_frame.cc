#include "apps/hyper/printers/live_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "apps/hyper/command.h"
#include "apps/hyper/printers/run_text.h"
#include "apps/hyper/printers/screen_line.h"

namespace hyper::app {
namespace {

constexpr double kMostOfARunningPath = 0.95;
constexpr double kMostOfARun = 0.99;  // while a path runs
constexpr int kTwoColumnsFrom = 160;  // columns of the screen
constexpr std::array kSolid = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array kDotted = {"⣀", "⣤", "⣶", "⣿"};

bool EndedByItself(const LivePath& path) {
  return path.status == PathStatus::kFinished || path.status == PathStatus::kLength;
}

std::string Duration(double seconds) {
  constexpr int kMinute = 60;
  const int whole = static_cast<int>(std::ceil(seconds));
  if (whole < kMinute) {
    return fmt::format("{} s", whole);
  }
  return whole < kMinute * kMinute
             ? fmt::format("{}:{:02} min", whole / kMinute, whole % kMinute)
             : fmt::format("{}:{:02} h", whole / (kMinute * kMinute), whole / kMinute % kMinute);
}

Style StyleOf(PathStatus status) {
  switch (status) {
    case PathStatus::kRunning:
      return Style::kAccent;
    case PathStatus::kFinished:
      return Style::kGood;
    case PathStatus::kMerged:
    case PathStatus::kLength:
    case PathStatus::kCancelled:
      return Style::kDim;
    default:
      return Style::kBad;
  }
}

std::string RateText(const LiveState& state) {
  return state.elapsed_s > 0
             ? fmt::format("{:.0f}/s", static_cast<double>(state.tokens) / state.elapsed_s)
             : "";
}

// The scale that all paths share.
struct Scale {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  int longest = 1;  // tokens
};

Scale ScaleOf(const LiveState& state) {
  Scale scale;
  const auto take = [&scale](double value) {
    if (std::isfinite(value)) {
      scale.low = std::min(scale.low, value);
      scale.high = std::max(scale.high, value);
    }
  };
  for (const LivePath& path : state.paths) {
    std::for_each(path.curve.begin(), path.curve.end(), take);
    scale.longest = std::max(scale.longest, path.tokens);
  }
  take(state.threshold.value_or(std::numeric_limits<double>::quiet_NaN()));
  return scale;
}

ScreenLine TitleLine(const LiveState& state, int columns) {
  const std::string time = fmt::format("{:.1f} s", state.elapsed_s);
  ScreenLine line(columns);
  line.Add(FirstColumns(state.title, columns - ColumnsOf(time) - 1), Style::kBold);
  return line.To(columns - ColumnsOf(time)).Add(time);
}

ScreenLine ProgressLine(const LiveState& state, int columns) {
  constexpr int kPhase = 9;
  const int bar = columns < 100 ? 10 : std::min(columns / 4, 40);
  int running = 0;
  for (const LivePath& path : state.paths) {
    running += path.status == PathStatus::kRunning ? 1 : 0;
  }
  ScreenLine line(columns);
  line.Add(state.phase, Style::kBold).To(kPhase);
  const std::optional<Progress> progress = Foresee(state);
  if (progress) {
    AddProgressBar(line, progress->done, bar);
    line.Add(
        fmt::format(" {:2.0f} %  {} left  ", 100 * progress->done, Duration(progress->left_s)));
  }
  return line.Add(fmt::format("{} of {} paths running  {} tokens  {}", running, state.paths.size(),
                              Grouped(state.tokens), RateText(state)));
}

ScreenLine AnswerLine(const LiveState& state, size_t rank, int columns) {
  constexpr int kAnswerAt = 9;
  const int bar = std::clamp(columns / 4, 8, 40);
  ScreenLine line(columns);
  line.Add(rank == 0 ? "answers" : "", Style::kBold).To(kAnswerAt);
  if (rank >= state.answers.size()) {
    return rank == 0 ? line.Add("none yet", Style::kDim) : line;
  }
  const LiveAnswer& answer = state.answers[rank];
  const Style style = rank == 0 ? Style::kGood : Style::kDim;
  line.Add(Bar(answer.share, bar), style).To(kAnswerAt + bar);
  line.Add(fmt::format(" {:2.0f} %  {} {}  ", 100 * answer.share, answer.paths,
                       answer.paths == 1 ? "path " : "paths"));
  return line.Add(OneLine(answer.answer), rank == 0 ? Style::kBold : Style::kPlain);
}

// Where the parts of a path's row begin.
struct Places {
  explicit Places(int columns)
      : bar(std::clamp(columns / 10, 6, 16)), curve(std::clamp(columns / 7, 8, 32)) {}
  int bar;    // columns of the length bar
  int curve;  // columns of the sparkline
  int bar_at() const { return 5; }
  int tokens_at() const { return bar_at() + bar + 1; }
  int confidence_at() const { return tokens_at() + 7; }
  int curve_at() const { return confidence_at() + 7; }
  int status_at() const { return curve_at() + curve + 1; }
  int text_at() const { return status_at() + 11; }
};

// The legend of the sparklines stands beside their heading.
ScreenLine PathHeader(const std::optional<double>& threshold, int columns) {
  const Places at(columns);
  ScreenLine line(columns);
  line.Add("path", Style::kDim).To(at.bar_at()).Add("length", Style::kDim);
  line.To(at.confidence_at()).Add("confidence", Style::kDim);
  if (threshold) {
    line.Add(fmt::format(" {}<{}", kDotted[1], ShortNumber(*threshold)), Style::kBad);
  }
  line.To(at.status_at()).Add("status", Style::kDim);
  return line.To(at.text_at()).Add("last words", Style::kDim);
}

ScreenLine PathLine(const LivePath& path, const LiveState& state, const Scale& scale, int columns) {
  const Places at(columns);
  const bool below = state.threshold && path.confidence < *state.threshold;
  const Style style = StyleOf(path.status);
  ScreenLine line(columns);
  line.Add(fmt::format("{:>4} ", path.id), Style::kDim);
  line.Add(Bar(static_cast<double>(path.tokens) / scale.longest, at.bar), style);
  line.To(at.tokens_at()).Add(fmt::format("{:>6} ", Grouped(path.tokens)));
  line.To(at.confidence_at());
  line.Add(fmt::format("{:>5}{} ", ShortNumber(path.confidence), below ? '<' : ' '),
           below ? Style::kBad : Style::kPlain);
  line.To(at.curve_at());
  for (const SparkCell& cell :
       Sparkline(path.curve, scale.low, scale.high, state.threshold, at.curve)) {
    line.Add(cell.glyph, !state.threshold ? Style::kPlain
                         : cell.below     ? Style::kBad
                                          : Style::kGood);
  }
  line.To(at.status_at()).Add(NameOf(path.status), style).To(at.text_at());
  const int rest = columns - line.columns();
  if (!path.answer.empty()) {
    return line.Add("= " + OneLine(path.answer), Style::kBold);
  }
  return line.Add(LastWords(path.text, rest),
                  path.status == PathStatus::kRunning ? Style::kPlain : Style::kDim);
}

// The paths that `places` have room for: all, else without the oldest that have ended.
std::vector<const LivePath*> Shown(const LiveState& state, size_t places) {
  std::vector<const LivePath*> shown;
  size_t spare = state.paths.size() > places ? state.paths.size() - places : 0;
  for (const LivePath& path : state.paths) {
    if (spare > 0 && path.status != PathStatus::kRunning) {
      --spare;
    } else {
      shown.push_back(&path);
    }
  }
  shown.resize(std::min(shown.size(), places));
  return shown;
}

std::string LeftOut(const LiveState& state, const std::vector<const LivePath*>& shown) {
  std::map<PathStatus, int> counts;
  for (const LivePath& path : state.paths) {
    ++counts[path.status];
  }
  for (const LivePath* path : shown) {
    --counts[path->status];
  }
  std::string text;
  for (const auto& [status, count] : counts) {
    text +=
        count > 0 ? fmt::format("{}{} {}", text.empty() ? "" : ", ", count, NameOf(status)) : "";
  }
  return "     and " + text;
}

// Two lines side by side on a screen, or the first alone.
ScreenLine Beside(const ScreenLine& left, const ScreenLine* right, int columns) {
  ScreenLine both(columns);
  both.Add(left);
  return right == nullptr ? both : both.To((columns + 2) / 2).Add(*right);
}

// The rows of paths below their headings, at most `rows` and the line of the headings.
void AddPaths(const LiveState& state, int columns, int rows, std::vector<ScreenLine>& lines) {
  const bool two = columns >= kTwoColumnsFrom && state.paths.size() > static_cast<size_t>(rows);
  const int wide = two ? (columns - 2) / 2 : columns;
  const size_t count = two ? 2 : 1;
  const bool all = state.paths.size() <= static_cast<size_t>(rows) * count;
  const int used = all ? rows : rows - 1;
  const std::vector<const LivePath*> shown =
      Shown(state, static_cast<size_t>(std::max(0, used)) * count);
  const size_t height = (shown.size() + count - 1) / count;
  const Scale scale = ScaleOf(state);
  const ScreenLine header = PathHeader(state.threshold, wide);
  lines.push_back(Beside(header, two ? &header : nullptr, columns));
  for (size_t i = 0; i < height; ++i) {
    const ScreenLine line = PathLine(*shown[i], state, scale, wide);
    std::optional<ScreenLine> other;
    if (two && i + height < shown.size()) {
      other = PathLine(*shown[i + height], state, scale, wide);
    }
    lines.push_back(Beside(line, other ? &*other : nullptr, columns));
  }
  if (!all && rows > 0) {
    lines.push_back(ScreenLine(columns).Add(LeftOut(state, shown), Style::kDim));
  }
}

// How much of a running path is done, by the first of `lengths` that it has not nearly reached.
double ShareOfPath(int tokens, std::span<const double> lengths) {
  for (const double length : lengths) {
    if (tokens <= kMostOfARunningPath * length) {
      return tokens / length;
    }
  }
  return kMostOfARunningPath;
}

}  // namespace

std::optional<Progress> Foresee(const LiveState& state) {
  double sum = 0;
  int ended = 0;
  int longest = 0;
  bool running = false;
  for (const LivePath& path : state.paths) {
    sum += EndedByItself(path) ? path.tokens : 0;
    ended += EndedByItself(path) ? 1 : 0;
    longest = EndedByItself(path) ? std::max(longest, path.tokens) : longest;
    running = running || path.status == PathStatus::kRunning;
  }
  Progress progress;
  if (ended > 0) {
    const std::array lengths = {std::max(1.0, sum / ended), static_cast<double>(longest),
                                static_cast<double>(state.max_tokens)};
    double done = 0;
    for (const LivePath& path : state.paths) {
      done += path.status == PathStatus::kRunning ? ShareOfPath(path.tokens, lengths) : 1;
    }
    const auto all =
        std::max<double>(state.expected_paths, static_cast<double>(state.paths.size()));
    progress.done = running ? std::min(kMostOfARun, done / all) : done / all;
    progress.left_s = state.elapsed_s * (1 - progress.done) / std::max(progress.done, 1e-6);
  }
  if (state.limit_s > 0) {
    const double left = std::max(0.0, state.limit_s - state.elapsed_s);
    progress.left_s = ended > 0 ? std::min(progress.left_s, left) : left;
    progress.done = std::max(progress.done, std::min(1.0, state.elapsed_s / state.limit_s));
  }
  return ended > 0 || state.limit_s > 0 ? std::optional(progress) : std::nullopt;
}

std::string Bar(double share, int columns) {
  constexpr int kParts = 8;
  constexpr const char* kPartial[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns * kParts));
  std::string bar;
  for (int i = 0; i < eighths / kParts; ++i) {
    bar += "█";
  }
  return bar + kPartial[eighths % kParts];
}

void AddProgressBar(ScreenLine& line, double share, int columns) {
  const int end = line.columns() + columns;
  line.Add(Bar(share, columns), Style::kAccent);
  for (int column = line.columns(); column < end; ++column) {
    line.Add("░", Style::kDim);
  }
}

std::vector<SparkCell> Sparkline(std::span<const float> values, double low, double high,
                                 std::optional<double> threshold, int columns) {
  std::vector<SparkCell> line(std::min(values.size(), static_cast<size_t>(std::max(0, columns))));
  for (size_t cell = 0; cell < line.size(); ++cell) {
    const size_t begin = cell * values.size() / line.size();
    const size_t end = (cell + 1) * values.size() / line.size();
    const double sum = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                       values.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    const double mean = sum / static_cast<double>(end - begin);
    const double share = high > low ? std::clamp((mean - low) / (high - low), 0.0, 1.0) : 0.5;
    if (std::isfinite(mean)) {
      const bool below = threshold && mean < *threshold;
      const std::span<const char* const> glyphs =
          below ? std::span<const char* const>(kDotted) : std::span<const char* const>(kSolid);
      line[cell] = {
          glyphs[static_cast<size_t>(std::lround(share * static_cast<double>(glyphs.size() - 1)))],
          below};
    }
  }
  return line;
}

std::string LastWords(const std::string& text, int columns) {
  std::string words;
  for (const char c : base::ValidUtf8(text)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space || (!words.empty() && words.back() != ' ')) {
      words += space ? ' ' : c;
    }
  }
  return std::string(LastColumns(OneLine(words), columns));
}

std::vector<std::string> LiveFrame(const LiveState& state, const Screen& screen) {
  constexpr int kTall = 40;
  const int columns = std::max(1, screen.columns);
  const int answers = screen.rows >= kTall ? 5 : 3;
  const int events = screen.rows >= kTall ? 8 : 3;
  constexpr int kOther = 5;  // title, progress, the header of the paths and two empty lines
  const int room = screen.rows - kOther - answers - events;
  std::vector<ScreenLine> lines = {TitleLine(state, columns), ProgressLine(state, columns)};
  for (int rank = 0; rank < answers; ++rank) {
    lines.push_back(AnswerLine(state, static_cast<size_t>(rank), columns));
  }
  lines.emplace_back(columns);
  AddPaths(state, columns, room, lines);
  lines.resize(static_cast<size_t>(std::max(0, screen.rows - events)), ScreenLine(columns));
  const size_t first =
      state.events.size() - std::min(state.events.size(), static_cast<size_t>(events));
  for (size_t i = first; i < state.events.size(); ++i) {
    lines.push_back(ScreenLine(columns).Add(OneLine(state.events[i]), Style::kDim));
  }
  lines.resize(std::min(lines.size(), static_cast<size_t>(std::max(0, screen.rows))),
               ScreenLine(columns));
  std::vector<std::string> frame;
  frame.reserve(lines.size());
  for (const ScreenLine& line : lines) {
    frame.push_back(line.Text(screen.colour));
  }
  return frame;
}

std::string LiveLine(const LiveState& state) {
  const auto ended =
      std::count_if(state.paths.begin(), state.paths.end(),
                    [](const LivePath& path) { return path.status != PathStatus::kRunning; });
  std::string text = fmt::format("{} after {:.0f} s: {} of {} paths ended, {} tokens, {}",
                                 state.phase, state.elapsed_s, ended, state.paths.size(),
                                 Grouped(state.tokens), RateText(state));
  if (!state.answers.empty()) {
    constexpr int kAnswerColumns = 40;
    text += fmt::format("; {} leads with {:.0f} %",
                        FirstColumns(OneLine(state.answers.front().answer), kAnswerColumns),
                        100 * state.answers.front().share);
  }
  const std::optional<Progress> progress = Foresee(state);
  return text + (progress ? fmt::format("; {} left", Duration(progress->left_s)) : "");
}

}  // namespace hyper::app

#include "apps/hyper/printers/live_frame.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/hyper/printers/screen_line.h"

namespace hyper::app {
namespace {

LivePath PathOf(PathId id, PathStatus status, int tokens, double confidence,
                const std::string& text, const std::string& answer = "") {
  LivePath path;
  path.id = id;
  path.status = status;
  path.tokens = tokens;
  path.confidence = confidence;
  path.curve = {4.0F, 6.0F, static_cast<float>(confidence)};
  path.text = text;
  path.answer = answer;
  return path;
}

LiveState SmallState() {
  LiveState state;
  state.title = "hyper on tiny, seed 5";
  state.phase = "pool";
  state.paths = {PathOf(0, PathStatus::kFinished, 100, 8.0, "so the answer is 7", "7"),
                 PathOf(1, PathStatus::kRunning, 50, 4.0, "first\nadd  the   next part"),
                 PathOf(2, PathStatus::kPruned, 25, 3.5, "well")};
  state.expected_paths = 4;
  state.threshold = 4.5;
  state.answers = {{"7", 1.0, 1}};
  state.events = {"one", "two", "three", "path 2 pruned: window 3.50 < threshold 4.50"};
  state.tokens = 175;
  state.elapsed_s = 2.5;
  return state;
}

std::vector<std::string> Trimmed(std::vector<std::string> frame) {
  for (std::string& line : frame) {
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return frame;
}

// Written by hand: 100 of 100 tokens fill the bar, 50 half of it; path 0 and 2 have ended and path
// 1 is half way, so that 2.5 of 4 paths are done after 2.5 s, and 1.5 s are left.
TEST(LiveFrame, ShowsTheWholeRun) {
  const std::vector<std::string> want = {
      "hyper on tiny, seed 5                                                      2.5 s",
      "pool     ██████▎░░░ 62 %  2 s left  1 of 3 paths running  175 tokens  70/s",
      "answers  ████████████████████ 100 %  1 path   7",
      "",
      "",
      "",
      "path length          confidence ⣤<4.50  status     last words",
      "   0 ████████    100  8.00  ⣀▅█         finished   = 7",
      "   1 ████         50  4.00< ⣀▅⣀         running    first add the next part",
      "   2 ██           25  3.50< ⣀▅⣀         pruned     well",
      "",
      "",
      "",
      "",
      "",
      "",
      "",
      "",
      "",
      "",
      "",
      "two",
      "three",
      "path 2 pruned: window 3.50 < threshold 4.50"};
  EXPECT_EQ(Trimmed(LiveFrame(SmallState(), {80, 24, false})), want);
}

TEST(LiveFrame, IsColouredOnlyWhereTheScreenIs) {
  const std::vector<std::string> plain = LiveFrame(SmallState(), {80, 24, false});
  const std::vector<std::string> coloured = LiveFrame(SmallState(), {80, 24, true});
  EXPECT_NE(coloured[8].find("\x1b[31m 4.00<"), std::string::npos) << "below the threshold: red";
  EXPECT_NE(coloured[7].find("\x1b[32mfinished"), std::string::npos);
  EXPECT_NE(coloured[8].find(" ⣀\x1b[0m\x1b[32m▅\x1b[0m\x1b[31m⣀\x1b[0m"), std::string::npos)
      << "each cell against the threshold: " << coloured[8];
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(plain[i].find('\x1b'), std::string::npos);
    std::string bare = coloured[i];
    for (size_t at = 0; (at = bare.find('\x1b')) != std::string::npos;) {
      bare.erase(at, bare.find('m', at) - at + 1);
    }
    EXPECT_EQ(bare, plain[i]);
  }
}

LiveState WideState(int paths) {
  LiveState state = SmallState();
  state.paths.clear();
  for (int i = 0; i < paths; ++i) {
    state.paths.push_back(PathOf(i, i % 3 == 0 ? PathStatus::kFinished : PathStatus::kRunning,
                                 1000 + i, 5.0, "数学 text \x1b[31m " + std::string(300, 'x')));
    state.paths.back().curve.assign(500, 5.0F);
  }
  state.answers.assign(12, {"a very long answer " + std::string(200, 'y'), 0.08, 3});
  return state;
}

TEST(LiveFrame, FitsEveryScreen) {
  for (const int rows : {1, 2, 7, 12, 24, 25, 39, 40, 50, 100}) {
    for (const int columns : {1, 20, 79, 80, 81, 120, 159, 160, 200, 300}) {
      for (const int paths : {0, 1, 16, 200}) {
        const std::vector<std::string> frame = LiveFrame(WideState(paths), {columns, rows, false});
        EXPECT_LE(frame.size(), static_cast<size_t>(rows));
        for (const std::string& line : frame) {
          EXPECT_LE(ColumnsOf(line), columns) << line;
          EXPECT_EQ(line.find('\x1b'), std::string::npos);
        }
        if (columns >= 79 && rows >= 24 && paths > 0) {
          EXPECT_NE(frame[1].find(" left  "), std::string::npos) << frame[1];
        }
      }
    }
  }
}

TEST(LiveFrame, LeavesOutTheOldestThatHaveEnded) {
  const std::vector<std::string> frame = LiveFrame(WideState(20), {80, 24, false});
  std::string all;
  for (const std::string& line : frame) {
    all += line + "\n";
  }
  // 13 rows: 12 paths and a line on the other 8, of which 7 have ended.
  EXPECT_EQ(all.find("\n   0 "), std::string::npos) << all;
  EXPECT_NE(all.find("\n   1 "), std::string::npos) << all;
  EXPECT_NE(all.find("\n     and 1 running, 7 finished\n"), std::string::npos) << all;
}

TEST(LiveFrame, PutsTwoColumnsOnAWideScreen) {
  const std::vector<std::string> frame = LiveFrame(WideState(60), {200, 50, false});
  const size_t left = frame[8].find("last words");
  const size_t right = frame[8].find("last words", left + 1);
  ASSERT_NE(right, std::string::npos) << "each column has its headings: " << frame[8];
  EXPECT_EQ(ColumnsOf(frame[8].substr(left, right - left)), 101);
  EXPECT_EQ(frame[9].rfind("   1 ", 0), std::string::npos);
  EXPECT_EQ(frame[9].rfind("   0 ", 0), 0U) << frame[9];
  EXPECT_NE(frame[9].find("  30 "), std::string::npos) << frame[9];
}

TEST(Foresee, TakesTheMeanLengthOfThePathsThatEnded) {
  LiveState state = SmallState();
  const std::optional<Progress> progress = Foresee(state);
  ASSERT_TRUE(progress.has_value());
  EXPECT_DOUBLE_EQ(progress->done, 2.5 / 4);
  EXPECT_DOUBLE_EQ(progress->left_s, 1.5);
  state.limit_s = 3;
  EXPECT_DOUBLE_EQ(Foresee(state)->left_s, 0.5) << "the limit comes first";
  EXPECT_DOUBLE_EQ(Foresee(state)->done, 2.5 / 3);
  state.paths.clear();
  EXPECT_DOUBLE_EQ(Foresee(state)->left_s, 0.5);
  state.limit_s = 0;
  EXPECT_FALSE(Foresee(state).has_value());
}

TEST(Foresee, NeverCallsARunningPathDone) {
  LiveState state = SmallState();
  state.paths[1].tokens = 5000;
  state.expected_paths = 3;
  EXPECT_DOUBLE_EQ(Foresee(state)->done, (2 + 0.95) / 3);
  state.max_tokens = 20'000;
  EXPECT_DOUBLE_EQ(Foresee(state)->done, (2 + 0.25) / 3) << "it may go on to its limit";
  state.paths[1].tokens = 90;
  state.paths.push_back(state.paths[0]);
  state.paths.back().tokens = 60;
  EXPECT_DOUBLE_EQ(Foresee(state)->done, (3 + 90.0 / 100) / 4) << "longer than the mean of 80";
  state.expected_paths = 4;
  state.paths.insert(state.paths.end(), 200, state.paths[0]);
  EXPECT_DOUBLE_EQ(Foresee(state)->done, 0.99);
}

std::string Spark(const std::vector<float>& values, double low, double high, int columns,
                  std::optional<double> threshold = std::nullopt) {
  std::string line;
  for (const SparkCell& cell : Sparkline(values, low, high, threshold, columns)) {
    line += cell.glyph + std::string(cell.below ? "<" : "");
  }
  return line;
}

TEST(Sparkline, ShowsTheMeanOfEachPart) {
  const std::vector<float> values = {0, 0, 7, 7};
  EXPECT_EQ(Spark(values, 0, 7, 4), "▁▁██");
  EXPECT_EQ(Spark(values, 0, 7, 2), "▁█");
  EXPECT_EQ(Spark(values, 0, 7, 1), "▅");
  EXPECT_EQ(Spark(values, 0, 7, 9), "▁▁██");
  EXPECT_EQ(Spark(values, 7, 7, 4), "▅▅▅▅");
  EXPECT_EQ(Spark({NAN, 7}, 0, 7, 2), " █");
  EXPECT_EQ(Spark({}, 0, 7, 4), "");
}

TEST(Sparkline, IsDottedBelowTheThreshold) {
  EXPECT_EQ(Spark({0, 3, 5, 6, 7}, 0, 7, 5, 5.5), "⣀<⣤<⣶<▇█");
  EXPECT_EQ(Spark({5, 5}, 0, 7, 2, 5.0), "▆▆") << "at the threshold a path stays";
  EXPECT_EQ(Spark({7, 7}, 0, 7, 2, 8.0), "⣿<⣿<");
  EXPECT_EQ(Spark({7, 0}, 0, 7, 1, 4.0), "⣶<") << "the mean of the part counts";
  EXPECT_EQ(Spark({NAN, 7}, 0, 7, 2, 5.5), " █");
}

TEST(ProgressBar, HasATrack) {
  ScreenLine line(20);
  line.Add("x ");
  AddProgressBar(line, 0.5, 4);
  EXPECT_EQ(line.Text(false), "x ██░░");
  EXPECT_EQ(line.Text(true), "x \x1b[36m██\x1b[0m\x1b[2m░░\x1b[0m");
  ScreenLine narrow(3);
  AddProgressBar(narrow, 0.25, 8);
  EXPECT_EQ(narrow.Text(false), "██░");
}

TEST(LastWords, AreTheEndOnOneLine) {
  EXPECT_EQ(LastWords("one\n two\tthree", 9), "two three");
  EXPECT_EQ(LastWords("数学", 3), "学");
  EXPECT_EQ(LastWords("a\x1b[2Jb", 80), "a\\x1B[2Jb");
  EXPECT_EQ(LastWords("\x85\xA6 a", 80), "\xEF\xBF\xBD\xEF\xBF\xBD a");
}

TEST(LiveLine, IsOneLine) {
  EXPECT_EQ(LiveLine(SmallState()),
            "pool after 2 s: 2 of 3 paths ended, 175 tokens, 70/s; 7 leads with 100 %; 2 s left");
  LiveState state;
  state.phase = "warm-up";
  EXPECT_EQ(LiveLine(state), "warm-up after 0 s: 0 of 0 paths ended, 0 tokens, ");
}

TEST(ScreenLine, CutsAtColumns) {
  EXPECT_EQ(ScreenLine(5).Add("abc").To(4).Add("de").Text(false), "abc d");
  EXPECT_EQ(ScreenLine(3).Add("数学").Text(false), "数");
  EXPECT_EQ(ScreenLine(9).Add("x", Style::kBold).Text(true), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(ScreenLine(4).To(2).Add(ScreenLine(9).Add("abc", Style::kGood)).Text(false), "  ab");
}

}  // namespace
}  // namespace hyper::app

// What hyper run shows: texts of paths, the live view, phases without a terminal.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli_program.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

TEST(CliRun, PrintsTheWinnersTextAndThreeLines) {
  const ProcessResult result = RunProcess(Scripted({}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const size_t answer = result.out.find("\n\nanswer   42\nvotes    ");
  ASSERT_NE(answer, std::string::npos) << result.out;
  EXPECT_NE(result.out.substr(0, answer).find("\\boxed{42}"), std::string::npos) << result.out;
  EXPECT_EQ(std::count(result.out.begin() + static_cast<std::ptrdiff_t>(answer) + 2,
                       result.out.end(), '\n'),
            3)
      << result.out;
  EXPECT_NE(result.out.find(" paths agree\n"), std::string::npos) << result.out;
}

// The texts are those of --json with the same seed.
TEST(CliRun, ShowsTheTextsThatAreAskedFor) {
  const json run = json::parse(RunProcess(Scripted({"--json"})).out);
  const std::string text = run["paths"][2]["text"];
  const ProcessResult path = RunProcess(Scripted({"--show", "2"}));
  EXPECT_EQ(path.out.rfind("path 2 (", 0), 0U) << path.out;
  EXPECT_NE(path.out.find(":\n" + text + "\n"), std::string::npos) << path.out;
  const ProcessResult losers = RunProcess(Scripted({"--show", "losers"}));
  EXPECT_EQ(losers.out.find("\\boxed{42}"), std::string::npos) << losers.out;
  EXPECT_NE(losers.out.find("\\boxed{"), std::string::npos) << losers.out;
  const ProcessResult none = RunProcess(Scripted({"--show", "9999"}));
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.err.find("--show 9999 names no text"), std::string::npos) << none.err;
  EXPECT_EQ(RunProcess(Scripted({"--show", "best"})).exit_code, 64);
}

TEST(CliRun, QuietIsTheAnswerAlone) {
  const ProcessResult result = RunProcess(Scripted({"-q"}));
  EXPECT_EQ(result.out, "42\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(RunProcess(Scripted({"-q", "--max-tokens", "5"})).out, "\n");
  for (const char* other : {"-v", "--json", "--stream"}) {
    EXPECT_EQ(RunProcess(Scripted({"-q", other})).exit_code, 64) << other;
  }
}

TEST(CliRun, StreamsTheLeadingPath) {
  const ProcessResult first = RunProcess(Scripted({"--stream"}));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out.rfind("add the next part", 0), 0U) << first.out;
  EXPECT_NE(first.out.find("\n\nanswer   42\n"), std::string::npos) << first.out;
  EXPECT_EQ(RunProcess(Scripted({"--stream"})).out, first.out);
}

// What a text shows without its escape codes and carriage returns.
std::string Bare(std::string text) {
  for (size_t at = 0; (at = text.find('\x1b', at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of("ABCDHJKhlm", at + 2), text.size() - 1);
    text.erase(at, end - at + 1);
  }
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

TEST(CliRun, TerminalShowsThePoolInPlace) {
  for (const auto& [columns, rows] : {std::pair(80, 24), std::pair(200, 50)}) {
    const ProcessResult result = RunOnTerminal(Bundled({"--seed", "3"}), columns, rows);
    EXPECT_EQ(result.exit_code, 0) << result.out;
    const size_t enter = result.out.find("\x1b[?1049h");
    const size_t leave = result.out.find("\x1b[?1049l");
    ASSERT_NE(enter, std::string::npos) << result.out;
    ASSERT_NE(leave, std::string::npos) << result.out;
    // The screen is gone when the answer comes, and nothing is drawn below it.
    const size_t answer = result.out.find("answer   ", leave);
    ASSERT_NE(answer, std::string::npos) << result.out;
    EXPECT_EQ(result.out.find('\x1b', leave + 8), std::string::npos);
    const std::string drawn = result.out.substr(enter, leave - enter);
    for (const char* part : {"hyper on ", ", seed 3", "answers", "confidence", "running"}) {
      EXPECT_NE(drawn.find(part), std::string::npos) << part;
    }
    // A frame that is longer than the screen would scroll.
    size_t frames = 0;
    for (size_t at = drawn.find("\x1b[H"); at != std::string::npos; ++frames) {
      const size_t next = drawn.find("\x1b[H", at + 1);
      const std::string frame = Bare(drawn.substr(at, next - at));
      EXPECT_LT(std::count(frame.begin(), frame.end(), '\n'), rows) << frame;
      std::istringstream lines(frame);
      for (std::string line; std::getline(lines, line);) {
        const auto characters = std::count_if(line.begin(), line.end(), [](char c) {
          return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        });
        EXPECT_LE(characters, columns) << line;
      }
      at = next;
    }
    EXPECT_GT(frames, 0U);
  }
  EXPECT_EQ(RunOnTerminal(Bundled({"--seed", "3", "--live", "never"})).out.find('\x1b'),
            std::string::npos);
}

TEST(CliRun, TerminalWithoutColourHasNone) {
  std::vector<std::string> arguments = Bundled({"--seed", "3"});
  const std::string colour = "\x1b[3";
  EXPECT_NE(RunOnTerminal(arguments).out.find(colour), std::string::npos);
  arguments.insert(arguments.begin(), {"/usr/bin/env", "NO_COLOR=1"});
  EXPECT_EQ(RunOnTerminal(arguments).out.find(colour), std::string::npos);
  arguments[1] = "TERM=dumb";
  EXPECT_EQ(RunOnTerminal(arguments).out.find('\x1b'), std::string::npos);
}

TEST(CliRun, WithoutATerminalPhasesAreTold) {
  const ProcessResult run = RunProcess(Bundled({"--seed", "3"}));
  const size_t warmup = run.err.find("warm-up: 3 paths\n");
  EXPECT_NE(warmup, std::string::npos) << run.err;
  EXPECT_LT(warmup, run.err.find("warm-up done: ")) << run.err;
  // For programs there is the estimate alone.
  const std::string err = RunProcess(Bundled({"--seed", "3", "--json"})).err;
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_NE(err.find(" tokens/s: about "), std::string::npos) << err;
  EXPECT_EQ(RunProcess(Bundled({"--seed", "3", "--json", "--preset", "short"})).err, "");
}

}  // namespace
}  // namespace hyper::test

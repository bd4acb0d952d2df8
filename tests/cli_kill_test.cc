// hyper eval killed with SIGKILL again and again, and resumed: nothing doubled, nothing lost, and
// in the end the study that an undisturbed run makes.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kKills = 24;
constexpr int kItems = 4 * 3 * 2;  // rows, questions, repeats

std::vector<std::string> EvalOf(const std::string& study, int parallel) {
  return {HYPER_PROGRAM, "eval",
          "--engine",    "scripted",
          "--methods",   "hyper,sc,self-certainty,deepconf",
          "--levels",    "2",
          "--questions", "3",
          "--repeats",   "2",
          "--width",     "6",
          "--parallel",  std::to_string(parallel),
          "--table",     "main",
          "--format",    "csv",
          "--study",     study};
}

// Every answer of a study by row, question and repeat, without what depends on the clock. Reports
// an answer that is there twice.
std::map<std::string, json> AnswersOf(const std::string& study) {
  std::map<std::string, json> answers;
  if (!std::filesystem::exists(study)) {
    return answers;
  }
  const ProcessResult exported =
      RunProcess({HYPER_PROGRAM, "export", study, "--jsonl", "--series"});
  // Killed before the file was a study at all: it holds nothing.
  if (exported.exit_code != 0) {
    return answers;
  }
  std::istringstream lines(exported.out);
  for (std::string line; std::getline(lines, line);) {
    json item = json::parse(line);
    if (item["status"] != "done") {
      continue;
    }
    const std::string key = item["run"]["label"].get<std::string>() + " " +
                            item["question"]["name"].get<std::string>() + " " +
                            item["repeat"].dump();
    item.erase("timing");
    item.erase("grade");  // made at the end, and again on resume
    EXPECT_TRUE(answers.emplace(key, std::move(item)).second) << key << " is there twice";
  }
  return answers;
}

// As if the last write had been cut off: bytes that are no whole record at the end of the journal.
void AddHalfARecord(const std::string& study) {
  const std::string journal = study + "-wal";
  if (!std::filesystem::exists(journal) || std::filesystem::file_size(journal) == 0) {
    return;
  }
  std::ofstream(journal, std::ios::binary | std::ios::app) << std::string(700, '\x5a');
}

class KillTest : public ::testing::Test {
 protected:
  // Runs the command until it comes to its end, killing it at random points on the way; returns the
  // number of kills.
  int RunWithKills(const std::string& study, int parallel, Clock::duration whole) {
    std::map<std::string, json> seen;
    for (int kills = 0;; ++kills) {
      // A little more time in each round, so that it ends on any machine.
      const double most = 0.2 + 0.05 * kills;
      const double share = std::uniform_real_distribution<double>(0, most)(random_);
      Process process(EvalOf(study, parallel));
      std::this_thread::sleep_for(whole * share);
      process.Signal(SIGKILL);
      const ProcessResult result = process.Wait();
      EXPECT_TRUE(result.signal == SIGKILL || result.exit_code == 0) << result.err;
      if (result.signal != SIGKILL) {
        return kills;
      }
      if (kills % 2 == 1) {
        AddHalfARecord(study);
      }
      const std::map<std::string, json> now = AnswersOf(study);
      for (const auto& [key, answer] : seen) {
        EXPECT_EQ(now.count(key), 1U) << key << " is lost";
        if (now.count(key) == 1) {
          EXPECT_EQ(now.at(key), answer) << key << " has changed";
        }
      }
      seen = now;
    }
  }

  TemporaryFolder folder_;
  std::mt19937 random_{20261128};
};

TEST_F(KillTest, KilledManyTimesTheStudyIsThatOfAnUndisturbedRun) {
  const std::string whole = folder_.File("whole.db");
  const auto start = Clock::now();
  const ProcessResult undisturbed = RunProcess(EvalOf(whole, 1));
  const Clock::duration duration = Clock::now() - start;
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.err;
  const std::map<std::string, json> expected = AnswersOf(whole);
  ASSERT_EQ(expected.size(), static_cast<size_t>(kItems));
  int kills = 0;
  for (int round = 0; kills < kKills && !HasFailure(); ++round) {
    const std::string study = folder_.File("killed" + std::to_string(round) + ".db");
    const int parallel = 1 + round % 2;
    kills += RunWithKills(study, parallel, duration);
    EXPECT_EQ(AnswersOf(study), expected) << "study " << round;
    // Nothing is left to do, and the table is the same.
    const ProcessResult again = RunProcess(EvalOf(study, parallel));
    EXPECT_EQ(again.out, undisturbed.out);
    EXPECT_EQ(again.err, "");
  }
  const ProcessResult graded = RunProcess({HYPER_PROGRAM, "grade", folder_.File("killed0.db")});
  EXPECT_EQ(graded.out, "24 answers graded, 0 verdicts changed\n") << graded.err;
}

// Ctrl-C: the tables of what there is, an exit code that says so, and the rest on resume.
TEST_F(KillTest, InterruptedTheTablesArePrintedAndTheStudyGoesOn) {
  const std::string study = folder_.File("stopped.db");
  std::vector<std::string> command = {
      HYPER_PROGRAM, "eval", "--engine", "scripted", "--methods", "sc",  "--questions", "200",
      "--repeats",   "4",    "--width",  "8",        "--study",   study, "--format",    "json"};
  Process process(command);
  while (process.ErrorsSoFar().find("repeat 0") == std::string::npos) {
    std::this_thread::yield();
  }
  process.Signal(SIGINT);
  const ProcessResult stopped = process.Wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_EQ(json::parse(stopped.out)["name"], "results");
  EXPECT_NE(stopped.err.find(" tokens/s, "), std::string::npos);
  const size_t done = AnswersOf(study).size();
  EXPECT_GT(done, 0U);
  EXPECT_LT(done, 800U);
  command = {HYPER_PROGRAM, "eval", "--engine", "scripted", "--methods", "sc", "--resume",
             "--questions", "1",    "--width",  "8",        "--study",   study};
  EXPECT_EQ(RunProcess(command).exit_code, 0);
  command.back() = folder_.File("none.db");
  EXPECT_EQ(RunProcess(command).exit_code, 66);
}

}  // namespace
}  // namespace hyper::test

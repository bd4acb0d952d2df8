// hyper calibrate with the bundled model: what it records, prints and writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli_program.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace hyper::test {
namespace {

using nlohmann::json;

// A pool of few questions, and the profile that follows.
class CliCalibrate : public ::testing::Test {
 protected:
  static ProcessResult Calibrate(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"calibrate",   "--warmup", "4",
                                          "--resamples", "1",        "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProcess(Hyper(arguments));
  }

  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    study_ = folder_->File("pool.db");
    profile_ = folder_->File("p.json");
    recorded_ = new ProcessResult(
        Calibrate({"--levels", "3", "--questions", "16", "--paths", "12", "--threads", "1",
                   "--study", study_, "--out", profile_, "--tolerance", "20"}));
  }
  static void TearDownTestSuite() {
    delete recorded_;
    delete folder_;
  }

  static TemporaryFolder* folder_;
  static ProcessResult* recorded_;
  static std::string study_;
  static std::string profile_;
};

TemporaryFolder* CliCalibrate::folder_ = nullptr;
ProcessResult* CliCalibrate::recorded_ = nullptr;
std::string CliCalibrate::study_;
std::string CliCalibrate::profile_;

TEST_F(CliCalibrate, RecordsChoosesAndReports) {
  ASSERT_EQ(recorded_->exit_code, 0) << recorded_->err;
  EXPECT_NE(recorded_->err.find("16/16 "), std::string::npos) << recorded_->err;
  EXPECT_NE(recorded_->err.find("profile " + profile_), std::string::npos) << recorded_->err;
  const json tables = json::parse(recorded_->out);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0]["name"], "signals");
  EXPECT_EQ(tables[1]["name"], "frontier");
  EXPECT_EQ(tables[2]["name"], "held-out");
  const json profile = json::parse(ReadWholeFile(profile_));
  EXPECT_EQ(profile["format"], "hyper profile 1");
  const std::string hash = profile["model"]["hash"];
  EXPECT_TRUE(hash.starts_with("sha256:")) << hash;
  const json& evidence = profile["evidence"];
  EXPECT_EQ(evidence["questions"], json({8, 8}));
  EXPECT_EQ(evidence["labels"]["gold"], 16);
  EXPECT_EQ(evidence["paths"], 12);
  // Six signals, each with its mean and five windows; each interval holds its mean.
  EXPECT_EQ(evidence["signals"].size(), 36U);
  for (const json& signal : evidence["signals"]) {
    EXPECT_LE(signal["roc_area"]["low"], signal["roc_area"]["mean"]) << signal;
    EXPECT_GE(signal["roc_area"]["high"], signal["roc_area"]["mean"]) << signal;
  }
  EXPECT_EQ(evidence["second_half"][0]["setting"], "all paths");
  EXPECT_EQ(evidence["second_half"].back()["setting"], evidence["chosen"]);
}

TEST_F(CliCalibrate, GoesOnWithWhatIsRecorded) {
  const ProcessResult again =
      Calibrate({"--levels", "3", "--questions", "16", "--paths", "12", "--threads", "1", "--study",
                 study_, "--out", folder_->File("q.json"), "--tolerance", "20"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, recorded_->out);
  EXPECT_EQ(again.err.find("tokens/s"), std::string::npos) << again.err << "nothing is decoded";
  const ProcessResult pool = Calibrate({study_, "--out", "none", "--tolerance", "20"});
  ASSERT_EQ(pool.exit_code, 0) << pool.err;
  EXPECT_EQ(pool.out, recorded_->out);
}

// The profile as `hyper calibrate` writes it, with options that a run shows.
std::string ProfileOf(const std::string& hash) {
  return json{{"format", "hyper profile 1"},
              {"model", {{"name", "m"}, {"hash", hash}}},
              {"options", {{"confidence", "surprise"}, {"window", "4"}, {"stop", "0.9"}}}}
      .dump();
}

TEST_F(CliCalibrate, AutoTakesTheProfile) {
  const json made = json::parse(ReadWholeFile(profile_));
  const std::string file =
      WriteFile(folder_->File("auto.json"), ProfileOf(made["model"]["hash"].get<std::string>()));
  const auto run = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"run",       "--effort", "low",       "--pace",
                                          "500",       "--json",   "--seed",    "3",
                                          "--threads", "1",        kWordProblem};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProcess(Hyper(arguments));
  };
  const ProcessResult with = run({"--profile", file, "--stop", "0.97"});
  ASSERT_EQ(with.exit_code, 0) << with.err;
  EXPECT_NE(with.err.find("by the model's profile: --confidence surprise --window 4\n"),
            std::string::npos)
      << with.err;
  const json record = json::parse(with.out);
  ExpectConsistent(record);
  EXPECT_EQ(record["profile"], json({{"confidence", "surprise"}, {"window", "4"}}));
  EXPECT_EQ(record["options"]["confidence"], "surprise");
  EXPECT_EQ(record["options"]["window"], 4);
  EXPECT_EQ(record["options"]["stop"], "0.97") << "the caller's own";
  const json without = json::parse(run({"--profile", "none"}).out);
  EXPECT_FALSE(without.contains("profile"));
  EXPECT_EQ(without["options"]["confidence"], "logprob") << "what auto takes";
  // Another preset is what it is.
  EXPECT_FALSE(json::parse(run({"--profile", file, "--preset", "short"}).out).contains("profile"));
  const std::string other = WriteFile(folder_->File("other.json"), ProfileOf("sha256:12"));
  for (const char* command : {"run", "serve", "eval"}) {
    std::vector<std::string> arguments = {command, "--profile", other};
    if (command == std::string("run")) {
      arguments.emplace_back(kWordProblem);
    }
    const ProcessResult refused = RunProcess(Hyper(arguments));
    EXPECT_EQ(refused.exit_code, 64) << command << refused.err;
    EXPECT_NE(refused.err.find("sha256:12"), std::string::npos) << refused.err;
  }
}

TEST_F(CliCalibrate, TakesQuestionsWithoutAnswers) {
  std::string questions;
  for (int i = 0; i < 24; ++i) {
    questions += "Start with " + std::to_string(12 + i) + ", add 7, multiply by 5, subtract " +
                 std::to_string(3 + i) + ".\n";
  }
  const std::string file = WriteFile(folder_->File("questions.txt"), questions);
  const std::string profile = folder_->File("own.json");
  const ProcessResult made = Calibrate({"--prompts", file, "--paths", "8", "--threads", "1",
                                        "--study", folder_->File("own.db"), "--out", profile});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json labels = json::parse(ReadWholeFile(profile))["evidence"]["labels"];
  EXPECT_EQ(labels["gold"], 0);
  EXPECT_EQ(labels["consensus"].get<int>() + labels["dropped"].get<int>(), 24);
  EXPECT_GE(labels["consensus"].get<int>(), 16);
}

TEST_F(CliCalibrate, SaysWhatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"absent.db"}, "absent.db"},
      {{study_, "--suite", "tinymath"}, "--suite"},
      {{study_, "--labels", "silver"}, "silver"},
      {{study_, "--width", "64"}, "12 paths, and 4 + 64"},
      {{"--levels", "9"}, "9"},
      {{"--questions", "3"}, "--questions"},
      {{study_, "--out", "/absent/folder/p.json"}, "/absent/folder/p.json"},
  };
  for (const auto& [arguments, words] : cases) {
    const ProcessResult result = Calibrate(arguments);
    EXPECT_NE(result.exit_code, 0) << words;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace hyper::test

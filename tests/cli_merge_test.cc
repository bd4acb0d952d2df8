// hyper eval --shard and hyper merge as processes, on the scripted engine.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

class MergeCommandTest : public ::testing::Test {
 protected:
  static ProcessResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HYPER_PROGRAM);
    return RunProcess(arguments);
  }

  // Evaluates two rows over five questions, two repeats; returns the file of the study.
  std::string Evaluate(const std::string& name, const std::vector<std::string>& more) {
    const std::string study = folder_.File(name);
    std::vector<std::string> arguments = {
        "eval", "--engine",    "scripted", "--methods", "sc,hyper", "--levels",
        "2,3",  "--align",     "off",      "--width",   "4",        "--repeats",
        "2",    "--questions", "5",        "--study",   study};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult made = Run(arguments);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return study;
  }

  // The answers of a study with everything but times.
  static std::vector<json> Answers(const std::string& study) {
    const ProcessResult exported = Run({"export", study, "--jsonl", "--series"});
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    std::vector<json> answers;
    std::istringstream lines(exported.out);
    for (std::string line; std::getline(lines, line);) {
      json answer = json::parse(line);
      answer.erase("timing");
      answers.push_back(std::move(answer));
    }
    return answers;
  }

  TemporaryFolder folder_;
};

TEST_F(MergeCommandTest, MergedPartsAreTheStudyThatRanWhole) {
  const std::string whole = Evaluate("whole.db", {});
  std::vector<std::string> parts;
  size_t answers = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    parts.push_back(Evaluate(std::string("part") + shard[0] + ".db", {"--shard", shard}));
    answers += Answers(parts.back()).size();
  }
  EXPECT_EQ(answers, 20U) << "no question in two parts";
  const std::string merged = folder_.File("merged.db");
  const ProcessResult result = Run({"merge", parts[0], parts[1], parts[2], "-o", merged});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, merged + ": 3 studies, 2 rows, 5 questions, 20 answers\n");
  EXPECT_EQ(Answers(merged), Answers(whole));
  const auto tables = [](const std::string& study) {
    return Run({"eval", "--report-only", "--study", study, "--table", "main,samples", "--format",
                "csv"})
        .out;
  };
  EXPECT_EQ(tables(merged), tables(whole));
  // The merged study goes on where the parts ended: there is nothing left to do.
  EXPECT_EQ(Answers(Evaluate("merged.db", {"--resume"})).size(), 20U);
}

TEST_F(MergeCommandTest, ContradictionsAreRefusedWithBothSides) {
  const std::string first = Evaluate("first.db", {"--shard", "1/5"});
  const std::string other = Evaluate("other.db", {"--shard", "1/5", "--window", "4"});
  const std::string merged = folder_.File("merged.db");
  const ProcessResult result = Run({"merge", first, other, "-o", merged});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_NE(result.err.find(first), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(other), std::string::npos) << result.err;
}

TEST_F(MergeCommandTest, ShardsAreChecked) {
  for (const char* shard : {"0/4", "5/4", "3", "a/b", "/4", "1/0"}) {
    const ProcessResult result = Run({"eval", "--engine", "scripted", "--align", "off", "--shard",
                                      shard, "--study", folder_.File("s.db")});
    EXPECT_EQ(result.exit_code, 64) << shard;
    EXPECT_NE(result.err.find("--shard"), std::string::npos) << result.err;
  }
  const ProcessResult measured =
      Run({"eval", "--engine", "scripted", "--shard", "1/2", "--study", folder_.File("s.db")});
  EXPECT_EQ(measured.exit_code, 64);
  EXPECT_NE(measured.err.find("--align"), std::string::npos) << measured.err;
}

}  // namespace
}  // namespace hyper::test

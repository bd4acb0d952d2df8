// Preset "auto" and --plan as a user meets them: what is chosen, told and repeated.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli_program.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

TEST(CliPlan, TellsMemoryWithoutAQuestion) {
  const ProcessResult fits = RunProcess(Hyper({"run", "--plan", "--ctx", "4096"}));
  EXPECT_EQ(fits.exit_code, 0) << fits.err;
  EXPECT_NE(fits.out.find("4,096 cells of f16"), std::string::npos) << fits.out;
  EXPECT_NE(fits.out.find(": fits\n"), std::string::npos) << fits.out;
  const ProcessResult huge = RunProcess(Hyper({"run", "--plan", "--ctx", "900000000"}));
  EXPECT_EQ(huge.exit_code, 71) << huge.err;
  EXPECT_NE(huge.out.find("does not fit"), std::string::npos) << huge.out;
  EXPECT_EQ(RunProcess(Hyper({"run", "--plan", "--engine", "scripted"})).exit_code, 64);
}

// The choice goes by the clock; with what it chose given as options, the clock does not matter.
TEST(CliRun, AutoSaysWhatItChoseAndCanBeRepeated) {
  const std::vector<std::string> common = {"run",    "--preset", "auto",   "--threads", "1",
                                           "--seed", "3",        "--json", kWordProblem};
  std::vector<std::string> arguments = common;
  arguments.insert(arguments.end(), {"--effort", "low"});
  const ProcessResult first = RunProcess(Hyper(arguments));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find(" paths of about 350 tokens at "), std::string::npos) << first.err;
  EXPECT_NE(first.err.find(" tokens/s: about "), std::string::npos) << first.err;
  const json run = json::parse(first.out);
  ExpectConsistent(run);
  EXPECT_EQ(run["preset"], "auto");
  EXPECT_EQ(run["options"]["loop-guard"], "on");
  EXPECT_EQ(run["options"]["stop"], "0.95") << "what fits the bundled model";
  arguments = common;
  arguments.insert(arguments.end(), {"--effort", "high"});
  for (const auto& [name, value] : run["options"].items()) {
    arguments.push_back("--" + name);
    arguments.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  const ProcessResult second = RunProcess(Hyper(arguments));
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.out, first.out);
}

TEST(CliRun, AutoGoesByThePaceThatIsGiven) {
  const auto width = [](const char* pace) {
    const ProcessResult run = RunProcess(Hyper(
        {"run", "--pace", pace, "--effort", "low", "--threads", "1", "--json", kWordProblem}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find(std::string(" at ") + pace + " tokens/s"), std::string::npos) << run.err;
    const json parsed = json::parse(run.out);
    EXPECT_EQ(parsed["preset"], "auto");
    return parsed["options"]["width"].get<int>();
  };
  EXPECT_EQ(width("1000"), 16);  // 24 paths with the warm-up's
  EXPECT_EQ(width("30"), 4);     // 1,200 tokens in 40 s: six paths
}

// Once while it stays the same.
TEST(CliRun, AutoEstimatesQuestionsUnlessQuiet) {
  const TemporaryFolder folder;
  const std::string file = WriteFile(folder.File("questions.txt"),
                                     "Start with 12, add 7.\nStart with 12, add 7, add 5.\n");
  std::vector<std::string> arguments =
      Hyper({"run", "--preset", "auto", "--effort", "low", "--threads", "1", "--questions", file});
  const auto estimates = [&arguments] {
    const ProcessResult run = RunProcess(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 2) << run.out;
    int count = 0;
    for (size_t at = 0; (at = run.err.find(" tokens/s: about ", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(estimates(), 1);
  arguments.emplace_back("-q");
  EXPECT_EQ(estimates(), 0);
}

TEST(CliRun, FewCellsNarrowThePoolWithoutLoss) {
  const ProcessResult result = RunProcess(Bundled(
      {"--json", "--ctx", "256", "--max-tokens", "200", "--threshold", "off", "--seed", "3"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  ExpectConsistent(run);
  EXPECT_LE(run["ledger"]["cells_peak"], 256);
  const auto short_of_cells = [](const json& path) {
    return path["reason"].is_string() &&
           path["reason"].get<std::string>().find("KV cells") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(run["paths"].begin(), run["paths"].end(), short_of_cells));
}

}  // namespace
}  // namespace hyper::test

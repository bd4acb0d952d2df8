// hyper run with the engine's own flags: width beyond one context, layouts and types of the KV
// cache.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

constexpr const char* kQuestion = "Start with 25, add 13, add 40. What is the result?";

ProcessResult RunHyper(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HYPER_PROGRAM);
  return RunProcess(arguments);
}

TEST(CliEngine, WiderThanOneContext) {
  const ProcessResult plan = RunHyper({"run", "--plan", "--width", "512"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_NE(plan.out.find("for 848 lanes in 4 contexts"), std::string::npos) << plan.out;
  const ProcessResult result =
      RunHyper({"run", "--method", "sc", "--width", "260", "--max-tokens", "3", "--threads", "1",
                "--seed", "1", "--json", kQuestion});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  EXPECT_EQ(run["paths"].size(), 260U);
  EXPECT_EQ(run["ledger"]["lanes_peak"], 260);
  // Path i says the same in a narrow pool.
  const ProcessResult few = RunHyper({"run", "--method", "sc", "--width", "4", "--max-tokens", "3",
                                      "--threads", "1", "--seed", "1", "--json", kQuestion});
  const json narrow = json::parse(few.out);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(run["paths"][i]["text"], narrow["paths"][i]["text"]) << i;
  }
}

TEST(CliEngine, CellsThatRunShortAreSaidAndTheAnswerComes) {
  const ProcessResult result = RunHyper(
      {"run", "--preset", "short", "--width", "6", "--warmup", "4", "--threads", "1", "--ctx",
       "256", "--max-tokens", "200", "--threshold", "off", "--seed", "3", "--json", kQuestion});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  ASSERT_FALSE(run["warnings"].empty());
  EXPECT_NE(run["warnings"][0].get<std::string>().find("expansion stops"), std::string::npos);
  EXPECT_EQ(run["answer"], "78");
}

TEST(CliEngine, EveryLayoutAndTypeOfTheKvCacheAnswers) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--kv", "unified", "--kv-type", "q8_0"},
           {"--kv", "streams", "--determinism", "fast", "--ctx", "2048"},
           {"--kv", "auto", "--determinism", "fast", "--kv-type", "q4_0"}}) {
    std::vector<std::string> arguments = {"run",       "--width", "4",      "--warmup", "2",
                                          "--threads", "1",       "--seed", "3",        "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.push_back(kQuestion);
    const ProcessResult result = RunHyper(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json run = json::parse(result.out);
    EXPECT_FALSE(run["answer"].is_null()) << flags[1];
    if (flags[1] == "streams") {  // the record says that refinement is off
      EXPECT_EQ(run["ledger"]["refined"], 0);
      for (const json& decision : run["decisions"]) {
        EXPECT_TRUE(decision["scores"]["single_token"].is_null());
      }
    }
  }
  const ProcessResult plan = RunHyper({"run", "--plan", "--kv", "streams", "--determinism", "fast",
                                       "--width", "20", "--ctx", "8192"});
  EXPECT_NE(plan.out.find("a buffer for each"), std::string::npos) << plan.out;
}

}  // namespace
}  // namespace hyper::test

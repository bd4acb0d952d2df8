// hyper bench: that its figures add up.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli_program.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

TEST(CliBench, SharesSumToOne) {
  const ProcessResult result = RunProcess(Hyper(
      {"bench", "--runs", "2", "--width", "4", "--tokens", "16", "--threads", "1", "--json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json bench = json::parse(result.out);
  EXPECT_EQ(bench["runs"].size(), 2U);
  EXPECT_LE(bench["tokens_per_s"]["low"], bench["tokens_per_s"]["median"]);
  EXPECT_LE(bench["tokens_per_s"]["median"], bench["tokens_per_s"]["high"]);
  double sum = 0;
  for (const auto& [part, share] : bench["shares"].items()) {
    EXPECT_GE(share.get<double>(), 0) << part;
    sum += share.get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(RunProcess(Hyper({"bench", "--engine", "scripted", "--runs", "1"})).exit_code, 0);
}

TEST(CliBench, ThePromptIsTimedApart) {
  const ProcessResult result =
      RunProcess(Hyper({"bench", "--runs", "1", "--width", "3", "--tokens", "8", "--prompt-tokens",
                        "300", "--threads", "1", "--json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out)["runs"][0];
  EXPECT_EQ(run["prompt_tokens"], 300);
  EXPECT_EQ(run["first_tokens"], 3);
  EXPECT_GT(run["prompt_s"], 0);
  EXPECT_LT(run["prompt_s"], run["wall_s"]);
}

TEST(CliBench, OnePathAndManyAreMeasured) {
  for (const char* width : {"1", "70"}) {
    const ProcessResult result = RunProcess(Hyper(
        {"bench", "--runs", "1", "--width", width, "--tokens", "4", "--threads", "1", "--json"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const json bench = json::parse(result.out);
    EXPECT_EQ(bench["runs"][0]["tokens"], 4 * std::stoi(width));
    EXPECT_FALSE(bench["cpu_backend"].get<std::string>().empty());
  }
}

}  // namespace
}  // namespace hyper::test

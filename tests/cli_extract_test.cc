// hyper extract as a process: one JSON object on stdout, exit code 0 with or without an answer.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

json Extract(std::vector<std::string> arguments, const std::string& text) {
  arguments.insert(arguments.begin(), {HYPER_PROGRAM, "extract"});
  const ProcessResult result = RunProcess(arguments, text);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out.find('\n'), result.out.size() - 1) << result.out;
  return json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

TEST(CliExtract, PrintsAnswerRawRuleAndPlace) {
  const std::string text = "so 8,000 it is: \\boxed{8,000}.\n";
  const json found = Extract({"--kind", "math"}, text);
  EXPECT_EQ(found["answer"], "8000");
  EXPECT_EQ(found["raw"], "8,000");
  EXPECT_EQ(found["rule"], "box");
  EXPECT_EQ(found["tentative"], false);
  EXPECT_EQ(found["begin"], text.rfind("8,000"));
  EXPECT_EQ(found["end"], text.rfind("8,000") + 5);
}

TEST(CliExtract, NoAnswerIsNull) {
  for (const char* text : {"", "nothing here\n", "ANSWER: None of the above"}) {
    const json found = Extract({"--kind", "choice"}, text);
    EXPECT_TRUE(found["answer"].is_null()) << text;
    EXPECT_TRUE(found["raw"].is_null()) << text;
    EXPECT_TRUE(found["rule"].is_null()) << text;
    EXPECT_EQ(found["tentative"], false) << text;
  }
}

TEST(CliExtract, TakesOptionsAndFiles) {
  const TemporaryFolder folder;
  const std::string path = WriteFile(folder.File("reply.txt"), "Answer: I think it is J");
  EXPECT_EQ(Extract({"--kind", "choice", "--options", "A-J", path}, "")["answer"], "J");
  EXPECT_TRUE(Extract({"--kind", "choice", path}, "")["answer"].is_null());
}

TEST(CliExtract, ReasoningIsTentativeUnlessAsked) {
  const std::string text = "I get \\boxed{7} maybe";
  const json tentative = Extract({"--opened-by-template", "--unfinished"}, text);
  EXPECT_EQ(tentative["answer"], "7");
  EXPECT_EQ(tentative["tentative"], true);
  EXPECT_EQ(Extract({"--opened-by-template", "--reasoning", "final"}, text)["tentative"], false);
  EXPECT_TRUE(
      Extract({"--opened-by-template", "--reasoning", "ignored"}, text)["answer"].is_null());
}

TEST(CliExtract, BytesThatAreNoTextStayJson) {
  const json found = Extract({"--kind", "text"}, "Answer: \xFF\x01\n");
  ASSERT_TRUE(found.is_object());
  EXPECT_EQ(found["answer"], "\xEF\xBF\xBD\x01");
}

TEST(CliExtract, HelpShowsExamples) {
  const ProcessResult result = RunProcess({HYPER_PROGRAM, "extract", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("hyper extract --kind"), std::string::npos);
}

}  // namespace
}  // namespace hyper::test

// hyper data, and eval and grade with a judge, as processes against scripted servers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/recording_server.h"

namespace hyper::test {
namespace {

using nlohmann::json;

ProcessResult RunDataCommand(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{HYPER_PROGRAM};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProcess(arguments);
}

TEST(DataCommandTest, FetchesWhatEvalTakes) {
  const RecordingServer hub([](const ServerRequest&) {
    const json row = {{"problem", "What is 1 + 1?"}, {"answer", "2"}, {"unique_id", "a"}};
    return ServerReply{
        200, json({{"rows", {{{"row_idx", 0}, {"row", row}, {"truncated_cells", json::array()}}}},
                   {"num_rows_total", 1}})
                 .dump()};
  });
  const TemporaryFolder folder;
  const std::string file = folder.File("math.jsonl");
  const ProcessResult got =
      RunDataCommand({"data", "get", "math500", "--hub", hub.address() + "/", "--output", file});
  ASSERT_EQ(got.exit_code, 0) << got.err;
  EXPECT_NE(got.out.find("1 rows, sha256 "), std::string::npos) << got.out;
  EXPECT_NE(hub.requests()[0].target.find("dataset=HuggingFaceH4%2FMATH-500"), std::string::npos);
  const ProcessResult ran =
      RunDataCommand({"eval", "--engine", "scripted", "--suite", "math500", "--data", file,
                      "--methods", "sc", "--width", "2", "--study", folder.File("s.db")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST(DataCommandTest, MistakesAreOneLineAndAnExitCode) {
  const std::vector<std::pair<std::vector<std::string>, int>> cases = {
      {{"data", "get", "math500", "--hub", ""}, 64},
      {{"data", "get", "tinymath", "--hub", "http://127.0.0.1:1"}, 64},
      {{"data", "get", "nothing", "--hub", "http://127.0.0.1:1"}, 64},
      {{"data"}, 64},
  };
  for (const auto& [arguments, code] : cases) {
    const ProcessResult result = RunDataCommand(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_NE(RunDataCommand({"data", "list"}).out.find("HuggingFaceH4/MATH-500"), std::string::npos);
}

TEST(JudgeFlagTest, FreeTextIsJudged) {
  const RecordingServer judge([](const ServerRequest&) {
    return ServerReply{200,
                       json({{"choices", {{{"message", {{"content", "correct: yes"}}}}}}}).dump()};
  });
  const TemporaryFolder folder;
  const std::string data =
      WriteFile(folder.File("hle.jsonl"),
                R"({"id": "a", "question": "Which?", "answer": "the long way round", )"
                R"("answer_type": "exactMatch", "image": "", "category": "made"})"
                "\n");
  const std::string study = folder.File("s.db");
  const ProcessResult ran = RunDataCommand(
      {"eval", "--engine", "scripted", "--suite", "hle", "--data", data, "--methods", "sc",
       "--width", "2", "--ctx", "100000", "--study", study, "--format", "json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const ProcessResult before = RunDataCommand({"export", study, "--jsonl"});
  const json item = json::parse(before.out);
  ASSERT_FALSE(item["answer"].is_null());
  EXPECT_EQ(item["grade"]["verdict"], "not_graded");
  const ProcessResult graded = RunDataCommand({"grade", study, "--judge", judge.address() + "/v1"});
  EXPECT_NE(graded.out.find("not_graded -> right"), std::string::npos) << graded.out << graded.err;
}

}  // namespace
}  // namespace hyper::test

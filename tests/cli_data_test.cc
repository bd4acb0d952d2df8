// hyper data and models, and eval and grade with a judge, as processes against scripted servers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
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

// Eight paths that agree but for one; four of them, one after another, decide.
TEST(ImportCommandTest, APublishedPoolBecomesAStudyThatEvalReplays) {
  const TemporaryFolder folder;
  json paths = json::array();
  for (int i = 0; i < 8; ++i) {
    paths.push_back({json::array({"1"}), 1000 + i, i == 7 ? "ERR" : "\\frac{1}{2}"});
  }
  const json question = {{"question", "how much?"}, {"gold_answer", "0.5"}, {"each_branch", paths}};
  WriteFile(folder.File("set.json"), json::array({question}).dump());
  const std::string study = folder.File("pools.db");
  const ProcessResult made = RunDataCommand({"import", folder.File(""), "--study", study});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("1 questions (set), 8 paths each"), std::string::npos) << made.out;
  const std::string replays = folder.File("replays.db");
  const ProcessResult ran = RunDataCommand(
      {"eval", "--pool", study + ":sc", "--study", replays, "--methods", "sc", "--row",
       "one=sc:width=8,stop=0.95,launch=one", "--row", "cap=sc-cap:length-cap=1003"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::istringstream lines(RunDataCommand({"export", replays, "--jsonl"}).out);
  std::map<std::string, json> costs;
  for (std::string line; std::getline(lines, line);) {
    const json item = json::parse(line);
    EXPECT_EQ(item["grade"]["verdict"], "right");
    costs[item["run"]["label"]] = item["ledger"];
  }
  EXPECT_EQ(costs["one"]["generated"], 4 * 1000 + 0 + 1 + 2 + 3);
  EXPECT_EQ(costs["sc"]["generated"], 8 * 1000 + 28);
  EXPECT_EQ(costs["sc"]["positions"], 1007);
  EXPECT_EQ(costs["cap"]["generated"], 1000 + 1001 + 1002 + 5 * 1003);
  // Read as strings the gold is none of the answers.
  const std::string strings = folder.File("strings.db");
  ASSERT_EQ(RunDataCommand({"import", folder.File(""), "--study", strings, "--strings"}).exit_code,
            0);
  EXPECT_EQ(json::parse(RunDataCommand({"export", strings, "--jsonl"}).out)["grade"]["verdict"],
            "wrong");
}

TEST(ImportCommandTest, MistakesAreOneLineAndAnExitCode) {
  const TemporaryFolder folder;
  const std::string study = folder.File("s.db");
  const auto code = [&](const std::vector<std::string>& arguments) {
    const ProcessResult result = RunDataCommand(arguments);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.exit_code;
  };
  EXPECT_EQ(code({"import", folder.File("none"), "--study", study}), 66);
  EXPECT_EQ(code({"import", folder.File(""), "--study", study}), 66);
  EXPECT_EQ(code({"import", folder.File("")}), 64);
  WriteFile(folder.File("set.json"), R"([{"question": "q", "each_branch": []}])");
  EXPECT_EQ(code({"import", folder.File(""), "--study", study}), 65);
  EXPECT_FALSE(std::filesystem::exists(study));
}

// The bundled model lies where that of a name is looked for.
TEST(ModelsCommandTest, AModelIsListedAndRunByItsName) {
  const ProcessResult list = RunDataCommand({"models", "list", "--json"});
  ASSERT_EQ(list.exit_code, 0) << list.err;
  const json models = json::parse(list.out);
  EXPECT_EQ(models[0]["name"], "smollm2-135m");
  EXPECT_EQ(models[0]["fetched"], false);
  const TemporaryFolder folder;
  const std::string file = folder.File("data/hyper/models/" + models[0]["file"].get<std::string>());
  std::filesystem::create_directories(folder.File("data/hyper/models"));
  std::filesystem::create_symlink(HYPER_MODEL, file);
  const auto run = [&folder](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"/usr/bin/env", "XDG_DATA_HOME=" + folder.File("data"),
                                       HYPER_PROGRAM};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProcess(arguments);
  };
  EXPECT_NE(run({"models", "list"}).out.find("(fetched)"), std::string::npos);
  const ProcessResult ran = run({"run", "-q", "-m", "smollm2-135m", "--preset", "short", "--seed",
                                 "1", "Start with 12, add 7, multiply by 5. What is the result?"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("95"), std::string::npos) << ran.out;
  const ProcessResult changed =
      run({"models", "get", "smollm2-135m", "--hub", "http://127.0.0.1:1"});
  EXPECT_EQ(changed.exit_code, 65) << changed.err;
  EXPECT_NE(changed.err.find(file + " is there, but is not smollm2-135m"), std::string::npos)
      << changed.err;
}

TEST(ModelsCommandTest, MistakesAreOneLineAndAnExitCode) {
  const RecordingServer hub([](const ServerRequest&) { return ServerReply{200, "<html>"}; });
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char* words;
  } cases[] = {
      {{"models"}, 64, "it takes list or get"},
      {{"models", "lsit"}, 64, "'lsit' is not known; did you mean list?"},
      {{"models", "get"}, 64, "NAME"},
      {{"models", "get", "qwen-4b", "--hub", hub.address()}, 64, "did you mean qwen3-4b?"},
      {{"models", "get", "smollm2-135m", "--hub", hub.address()}, 65, "instead of b179c9523d"},
      {{"models", "get", "smollm2-135m", "--hub", "http://127.0.0.1:1"},
       69,
       "127.0.0.1:1 cannot be reached"},
      {{"run", "-m", "qwen3-4b", "?"}, 66, "'hyper models get qwen3-4b' fetches it"},
      {{"run", "-m", "qwen-4b", "?"}, 66, "did you mean qwen3-4b?"},
  };
  for (const auto& one : cases) {
    const ProcessResult result = RunDataCommand(one.arguments);
    EXPECT_EQ(result.exit_code, one.code) << result.err;
    EXPECT_NE(result.err.find(one.words), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }
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

// hyper run as a process: its answers, records and limits, and that they add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli_program.h"
#include "tests/support/json_schema.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

TEST(CliRun, PlainTextHasAnswerVotesAndCost) {
  const ProcessResult result = RunProcess(Scripted({"-v"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("\nanswer   42\n"), std::string::npos) << result.out;
  for (const char* part : {"* length_confidence", "majority", "confidence", "length", "deepconf",
                           "importance_sampling", "tokens generated", "effective", "seed 5"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is not in\n" << result.out;
  }
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_NE(result.err.find("\ntime     "), std::string::npos) << result.err;
}

TEST(CliRun, JsonFitsItsSchemaAndAddsUp) {
  for (const char* method : {"hyper", "sc"}) {
    const ProcessResult result = RunProcess(Scripted({"--json", "--method", method}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    const json run = json::parse(result.out);
    ExpectConsistent(run);
    EXPECT_EQ(run["answer"], "42");
    EXPECT_EQ(run["method"], method);
    EXPECT_EQ(run["seed"], 5);
    EXPECT_EQ(run["partial"], false);
    EXPECT_EQ(run["options"]["width"], 32);
    EXPECT_FALSE(run.contains("timing"));
  }
}

TEST(CliRun, ADecidedRunIsWholeAndSaysWhatItSaved) {
  const std::vector<std::string> flags = {"--method", "sc", "--stop", "0.9", "--launch", "one"};
  std::vector<std::string> with_json = flags;
  with_json.emplace_back("--json");
  const json run = json::parse(RunProcess(Scripted(with_json)).out);
  ExpectConsistent(run);
  EXPECT_EQ(run["partial"], false);
  const json& stop = run["stop"];
  EXPECT_EQ(stop["basis"], "beta");
  EXPECT_EQ(stop["answer"], run["answer"]);
  EXPECT_EQ(stop["paths"], 32);
  EXPECT_EQ(stop["unopened"].get<size_t>() + run["paths"].size(), 32U);
  EXPECT_EQ(run["ledger"]["saved"], stop["saved"]);
  EXPECT_EQ(run["ledger"]["positions"], run["ledger"]["generated"]);
  const ProcessResult plain = RunProcess(Scripted(flags));
  EXPECT_NE(plain.out.find("\nstop     decided at 0.9"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find(" of 32 paths cancelled or not opened, about "), std::string::npos);
}

TEST(CliRun, TimingIsAddedOnRequest) {
  const json run = json::parse(RunProcess(Scripted({"--json", "--timing"})).out);
  EXPECT_EQ(SchemaViolation(Schema(), run), "");
  EXPECT_GT(run["timing"]["wall_s"].get<double>(), 0);
}

TEST(CliRun, EveryOptionReachesTheRun) {
  const json run = json::parse(
      RunProcess(Scripted({"--json", "--width", "8", "--interval", "4", "--tau", "0.25",
                           "--two-pass", "false", "--actions", "none,branch", "--horizon", "2"}))
          .out);
  EXPECT_EQ(run["options"]["width"], 8);
  EXPECT_EQ(run["options"]["interval"], 4);
  EXPECT_EQ(run["options"]["tau"], 0.25);
  EXPECT_EQ(run["options"]["two-pass"], false);
  EXPECT_EQ(run["options"]["horizon"], 2);
  for (const json& decision : run["decisions"]) {
    EXPECT_TRUE(decision["action"] == "none" || decision["action"] == "branch");
  }
  EXPECT_EQ(run["decisions"].at(1)["position"], 5);
}

// Examples that need no file of the user's run as they stand, with the bundled model.
TEST(CliRun, ExamplesOfTheHelpComeOutRight) {
  const std::string help = RunProcess(Hyper({"run", "--help"})).out;
  std::istringstream lines(help.substr(help.find("Examples:")));
  const TemporaryFolder folder;
  int examples = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool command = line.starts_with("  hyper ") || line.starts_with("  echo ");
    if (!command || line.find("qwen3.gguf") != std::string::npos) {
      continue;
    }
    ++examples;
    // A drawn seed may draw a wrong answer.
    line += line.find("--seed") == std::string::npos ? " --seed 1" : "";
    const ProcessResult run = RunProcess(
        {"/bin/sh", "-c",
         "cd " + folder.File("") + " && hyper() { " + HYPER_PROGRAM + " \"$@\"; } && " + line});
    EXPECT_EQ(run.exit_code, 0) << line << run.err;
    const bool quiet = line.find(" -q ") != std::string::npos;
    const std::string answer = quiet ? run.out : run.out.substr(run.out.rfind("answer   "), 12);
    EXPECT_EQ(answer, quiet ? "26\n" : "answer   78\n") << line;
  }
  EXPECT_EQ(examples, 2);
}

TEST(CliRun, QuestionComesFromArgumentInputOrFile) {
  const TemporaryFolder folder;
  const std::string file = WriteFile(folder.File("question.txt"), "What is 6 * 7?\n");
  const std::vector<std::string> base{"run",    "--engine", "scripted", "--json",
                                      "--seed", "1",        "--width",  "4"};
  const auto question_of = [&base](const std::vector<std::string>& more, const std::string& input) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json::parse(RunProcess(Hyper(arguments), input).out)["question"];
  };
  EXPECT_EQ(question_of({"--file", file}, ""), "What is 6 * 7?");
  EXPECT_EQ(question_of({"-"}, "What is 6 * 7?\r\n"), "What is 6 * 7?");
  EXPECT_EQ(question_of({}, "What is 6 * 7?\n"), "What is 6 * 7?");
  EXPECT_EQ(question_of({"--", "-6 * 7 = ?"}, ""), "-6 * 7 = ?");
}

TEST(CliRun, DrawsASeedThatRepeatsTheRun) {
  std::vector<std::string> arguments{"run", "--engine", "scripted", "--json", "2 + 2 = ?"};
  const ProcessResult first = RunProcess(Hyper(arguments));
  const json run = json::parse(first.out);
  EXPECT_NE(json::parse(RunProcess(Hyper(arguments)).out)["seed"], run["seed"]);
  arguments.insert(arguments.end(), {"--seed", run["seed"].dump()});
  EXPECT_EQ(RunProcess(Hyper(arguments)).out, first.out);
}

TEST(CliRun, BudgetGivesThePartialVote) {
  const ProcessResult result =
      RunProcess(Scripted({"--json", "--budget-tokens", "300", "--trace", "/dev/null"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  ExpectConsistent(run);
  EXPECT_EQ(run["partial"], true);
  EXPECT_NE(run["partial_reason"].get<std::string>().find("300"), std::string::npos);
  EXPECT_GE(run["ledger"]["effective"], 300);
  EXPECT_LT(run["ledger"]["effective"], 300 + 64);
  const ProcessResult text = RunProcess(Scripted({"--budget-tokens", "300"}));
  EXPECT_NE(text.out.find("partial  the budget of 300"), std::string::npos) << text.out;
}

TEST(CliRun, AllPathsWithoutAnswerIsNoAnswer) {
  const ProcessResult result = RunProcess(Scripted({"--json", "--max-tokens", "5"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  ExpectConsistent(run);
  EXPECT_TRUE(run["answer"].is_null());
  EXPECT_NE(RunProcess(Scripted({"--max-tokens", "5"}))
                .out.find("\nanswer   none\nvotes    no path gave an answer\n"),
            std::string::npos);
}

// Recomputes the ledger from the records of the trace, not from its own fields.
TEST(CliRun, TraceHoldsEveryRecordOfTheRun) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.jsonl");
  const ProcessResult result = RunProcess(Bundled({"--json", "--seed", "3", "--trace", path}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(NamesIn(folder.File(".")), std::vector<std::string>{"run.jsonl"});
  const json run = json::parse(result.out);
  ExpectConsistent(run);
  const std::vector<json> lines = Lines(path);
  std::map<std::string, int64_t> counts;
  int64_t extra_routes = 0;
  std::map<int, std::string> texts;
  for (const json& line : lines) {
    ++counts[line["record"]];
    if (line["record"] == "token") {
      extra_routes += line["routes"].get<int64_t>() - 1;
    }
  }
  EXPECT_EQ(lines.front()["record"], "run");
  EXPECT_EQ(lines.back()["record"], "result");
  EXPECT_EQ(lines.back()["answer"], run["answer"]);
  EXPECT_EQ(counts["token"], run["ledger"]["generated"]);
  EXPECT_EQ(extra_routes, run["ledger"]["extra_routes"]);
  EXPECT_EQ(counts["path"], run["paths"].size());
  EXPECT_EQ(counts["finish"], run["paths"].size());
  EXPECT_EQ(counts["decision"], run["decisions"].size());
  EXPECT_EQ(counts["warmup"], 1);
}

TEST(CliRun, FullDiskKeepsTheAnswerAndFailsTheTrace) {
  const ProcessResult result = RunProcess(Scripted({"--trace", "/dev/full", "--json"}));
  EXPECT_EQ(result.exit_code, 74);
  EXPECT_EQ(json::parse(result.out)["answer"], "42");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find("No space left"), std::string::npos) << result.err;
}

TEST(CliRun, FullDiskUnderTheResultIsAnError) {
  const std::string command =
      std::string(HYPER_PROGRAM) + " run --engine scripted --seed 1 --json '1 + 1 = ?' >/dev/full";
  const ProcessResult result = RunProcess({"/bin/sh", "-c", command});
  EXPECT_EQ(result.exit_code, 74);
  EXPECT_NE(result.err.find("standard output"), std::string::npos) << result.err;
}

TEST(CliRun, StrictRunsAreEqualForAnyThreads) {
  const ProcessResult one = RunProcess(Bundled({"--json", "--seed", "3"}));
  const ProcessResult two = RunProcess(Bundled({"--json", "--seed", "3"}, "2"));
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, two.out);
  const json run = json::parse(one.out);
  ExpectConsistent(run);
  EXPECT_EQ(run["preset"], "auto");
  EXPECT_EQ(run["model"]["hash"].get<std::string>().empty(), false);
  EXPECT_NE(RunProcess(Bundled({"--json", "--seed", "4"})).out, one.out);
}

TEST(CliRun, TimeGivesThePartialVote) {
  const ProcessResult result = RunProcess(Bundled({"--json", "--time", "1ms"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  ExpectConsistent(run);
  EXPECT_EQ(run["partial"], true);
  EXPECT_NE(run["partial_reason"].get<std::string>().find("still running"), std::string::npos);
}

TEST(CliRun, InterruptGivesThePartialVote) {
  const TemporaryFolder folder;
  Process process(Hyper({"run", "--json", "--live", "always", "--seed", "2", "--width", "64",
                         "--threads", "1", "--threshold", "off", "--stop", "never", "--trace",
                         folder.File("t.jsonl"), kWordProblem}));
  while (process.ErrorsSoFar().find(" lowest ") == std::string::npos) {  // a path that has ended
    std::this_thread::yield();
  }
  process.Signal(SIGINT);
  const ProcessResult result = process.Wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const json run = json::parse(result.out);
  ExpectConsistent(run);
  EXPECT_EQ(run["partial"], true);
  EXPECT_TRUE(std::any_of(run["paths"].begin(), run["paths"].end(),
                          [](const json& path) { return path["status"] == "cancelled"; }));
  EXPECT_EQ(Lines(folder.File("t.jsonl")).back()["partial"], true);
}

TEST(CliRun, MoreThreadsThanCpusAreClamped) {
  const ProcessResult plain = RunProcess(Bundled({"--json", "--seed", "3", "--max-tokens", "8"}));
  const ProcessResult many =
      RunProcess(Bundled({"--json", "--seed", "3", "--max-tokens", "8"}, "1000"));
  EXPECT_EQ(many.exit_code, 0);
  EXPECT_EQ(many.out, plain.out);
  EXPECT_NE(many.err.find("--threads 1000"), std::string::npos) << many.err;
}

TEST(CliRun, BytesThatAreNoTextStayValidJson) {
  const ProcessResult result =
      RunProcess(Hyper({"run", "--engine", "scripted", "--seed", "1", "--json", "a \xFF\xC3 b"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["question"], "a \xEF\xBF\xBD\xEF\xBF\xBD b");
}

TEST(CliRun, TagsInTheQuestionAreNotTheModels) {
  const ProcessResult result = RunProcess(Hyper(
      {"run", "--engine", "scripted", "--seed", "1", "--json", "<think> 1 + 1 </think> = ?"}));
  EXPECT_EQ(json::parse(result.out)["answer"], "42");
}

TEST(CliRun, ModelWithoutChatTemplateWarnsOnce) {
  const TemporaryFolder folder;
  std::string model = ReadWholeFile(HYPER_MODEL);
  const std::string key = "tokenizer.chat_template";
  const size_t at = model.find(key);
  ASSERT_NE(at, std::string::npos);
  model.replace(at, key.size(), "tokenizer.chat_no_plate");
  const std::string file = WriteFile(folder.File("tinymath-moe-bare.gguf"), model);
  const ProcessResult result =
      RunProcess(Hyper({"run", "--json", "--model", file, "--preset", "short", "--width", "2",
                        "--threads", "1", "--seed", "1", kWordProblem}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  EXPECT_EQ(run["warnings"].size(), 1U);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find("template"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace hyper::test

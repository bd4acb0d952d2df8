// hyper run and hyper bench as processes: what they print, and that it adds up.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/json_schema.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

constexpr const char* kQuestion =
    "Rosa has 14 bags with 30 cards each. Rosa buys 36 more. How many cards does Rosa have now?";

std::vector<std::string> Hyper(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{HYPER_PROGRAM};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A run without a model.
std::vector<std::string> Scripted(const std::vector<std::string>& more) {
  std::vector<std::string> arguments =
      Hyper({"run", "--engine", "scripted", "--preset", "short", "--seed", "5", "1 + 1 = ?"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A narrow run of the bundled model. One thread: others wait for each other by spinning, which is
// slow where tests share the machine.
std::vector<std::string> Bundled(const std::vector<std::string>& more,
                                 const std::string& threads = "1") {
  std::vector<std::string> arguments =
      Hyper({"run", "--width", "6", "--warmup", "4", "--threads", threads, kQuestion});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<json> Lines(const std::string& path) {
  std::vector<json> lines;
  std::istringstream text(ReadWholeFile(path));
  for (std::string line; std::getline(text, line);) {
    lines.push_back(json::parse(line));
  }
  return lines;
}

json Schema() { return json::parse(ReadWholeFile(HYPER_SOURCE_DIR "/docs/run.schema.json")); }

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

void ExpectColumns(const std::string& text, size_t most) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), most) << line;
  }
}

// The votes, paths and ledger of a run agree with each other.
void ExpectConsistent(const json& run) {
  EXPECT_EQ(SchemaViolation(Schema(), run), "");
  const json& ledger = run["ledger"];
  EXPECT_EQ(run["answer"], run["votes"][run["vote_rule"].get<std::string>()]["answer"]);
  EXPECT_EQ(ledger["lanes_opened"], run["paths"].size());
  int64_t generated = 0;
  int votes = 0;
  for (const json& path : run["paths"]) {
    generated += path["tokens"].get<int64_t>() - path["fork_position"].get<int64_t>();
    votes += path["answer"].is_null() || path["status"] == "merged" ? 0 : 1;
  }
  EXPECT_EQ(ledger["generated"], generated);
  EXPECT_EQ(run["voting_paths"], votes);
  EXPECT_EQ(ledger["effective"].get<int64_t>(),
            generated + ledger["extra_routes"].get<int64_t>() + ledger["probe"].get<int64_t>() +
                ledger["judge"].get<int64_t>() + ledger["value"].get<int64_t>());
}

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

TEST(CliRun, PrintsTheWinnersTextAndThreeLines) {
  const ProcessResult result = RunProcess(Scripted({}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const size_t answer = result.out.find("\n\nanswer   42\nvotes    ");
  ASSERT_NE(answer, std::string::npos) << result.out;
  EXPECT_NE(result.out.substr(0, answer).find("\\boxed{42}"), std::string::npos) << result.out;
  EXPECT_EQ(std::count(result.out.begin() + static_cast<std::ptrdiff_t>(answer) + 2,
                       result.out.end(), '\n'),
            3)
      << result.out;
  EXPECT_NE(result.out.find(" paths agree\n"), std::string::npos) << result.out;
}

// The texts are those of --json with the same seed.
TEST(CliRun, ShowsTheTextsThatAreAskedFor) {
  const json run = json::parse(RunProcess(Scripted({"--json"})).out);
  const std::string text = run["paths"][2]["text"];
  const ProcessResult path = RunProcess(Scripted({"--show", "2"}));
  EXPECT_EQ(path.out.rfind("path 2 (", 0), 0U) << path.out;
  EXPECT_NE(path.out.find(":\n" + text + "\n"), std::string::npos) << path.out;
  const ProcessResult losers = RunProcess(Scripted({"--show", "losers"}));
  EXPECT_EQ(losers.out.find("\\boxed{42}"), std::string::npos) << losers.out;
  EXPECT_NE(losers.out.find("\\boxed{"), std::string::npos) << losers.out;
  const ProcessResult none = RunProcess(Scripted({"--show", "9999"}));
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.err.find("--show 9999 names no text"), std::string::npos) << none.err;
  EXPECT_EQ(RunProcess(Scripted({"--show", "best"})).exit_code, 64);
}

TEST(CliRun, QuietIsTheAnswerAlone) {
  const ProcessResult result = RunProcess(Scripted({"-q"}));
  EXPECT_EQ(result.out, "42\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(RunProcess(Scripted({"-q", "--max-tokens", "5"})).out, "\n");
  for (const char* other : {"-v", "--json", "--stream"}) {
    EXPECT_EQ(RunProcess(Scripted({"-q", other})).exit_code, 64) << other;
  }
}

TEST(CliRun, StreamsTheLeadingPath) {
  const ProcessResult first = RunProcess(Scripted({"--stream"}));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out.rfind("add the next part", 0), 0U) << first.out;
  EXPECT_NE(first.out.find("\nanswer   42\n"), std::string::npos) << first.out;
  EXPECT_EQ(RunProcess(Scripted({"--stream"})).out, first.out);
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

TEST(CliRun, HelpShowsMeaningRangeSymbolAndDefault) {
  const ProcessResult result = RunProcess(Hyper({"run", "--help-all"}));
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part : {"--width", "S_max", "1 to 4096", "[80; short: 32]",
                           "--lambda-confidence", "Examples:", "Exit codes:"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  ExpectColumns(result.out, 80);
}

TEST(CliRun, ShortHelpFitsAScreen) {
  const ProcessResult result = RunProcess(Hyper({"run", "--help"}));
  EXPECT_EQ(result.exit_code, 0);
  ExpectColumns(result.out, 80);
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 40) << result.out;
  for (const char* part :
       {"-m,--model", "-n,--width", "-q,--quiet", "-v,--verbose", "--stream", "--preset",
        "--effort", "--time", "--stop", "--help-all", "Examples:", "Exit codes:"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(result.out.find("--lambda"), std::string::npos);
  EXPECT_EQ(RunProcess(Hyper({"help", "run"})).out, result.out);
}

TEST(CliHelp, ExplainsMethods) {
  const ProcessResult tot = RunProcess(Hyper({"help", "tot-judge"}));
  EXPECT_EQ(tot.exit_code, 0) << tot.err;
  EXPECT_NE(tot.out.find("--search"), std::string::npos) << tot.out;
  EXPECT_NE(RunProcess(Hyper({"help", "methods"})).out.find("deepconf-high"), std::string::npos);
  const ProcessResult none = RunProcess(Hyper({"help", "deepcnf"}));
  EXPECT_EQ(none.exit_code, 64);
  EXPECT_NE(none.err.find("did you mean deepconf?"), std::string::npos) << none.err;
}

TEST(CliHelp, SaysWhatMayHaveBeenMeant) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"runn"}, "did you mean run?"},
      {{"run", "--modle", "x", "hi"}, "option '--modle' is not known; did you mean --model?"},
      {{"run", "--widht=3", "hi"}, "option '--widht' is not known; did you mean --width?"},
      {{"run", "--method", "hypr", "hi"}, "did you mean hyper?"},
      {{"serve", "--prt", "1"}, "did you mean --port?"},
  };
  for (const auto& [arguments, words] : cases) {
    const ProcessResult result = RunProcess(Hyper(arguments));
    EXPECT_EQ(result.exit_code, 64) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
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
    const std::string answer = quiet ? run.out : run.out.substr(run.out.rfind("answer   "), 13);
    EXPECT_EQ(answer, quiet ? "95\n" : "answer   420\n") << line;
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

// The choice goes by the clock; with what it chose given as options, the clock does not matter.
TEST(CliRun, AutoSaysWhatItChoseAndCanBeRepeated) {
  const std::vector<std::string> common = {"run",    "--preset", "auto",   "--threads", "1",
                                           "--seed", "3",        "--json", kQuestion};
  std::vector<std::string> arguments = common;
  arguments.insert(arguments.end(), {"--effort", "low"});
  const ProcessResult first = RunProcess(Hyper(arguments));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find(" paths of about 150 tokens at "), std::string::npos) << first.err;
  EXPECT_NE(first.err.find(" tokens/s: about "), std::string::npos) << first.err;
  const json run = json::parse(first.out);
  ExpectConsistent(run);
  EXPECT_EQ(run["preset"], "auto");
  EXPECT_EQ(run["options"]["loop-guard"], "on");
  EXPECT_EQ(run["options"]["warmup-barrier"], "off");
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
    const ProcessResult run = RunProcess(
        Hyper({"run", "--pace", pace, "--effort", "low", "--threads", "1", "--json", kQuestion}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find(std::string(" at ") + pace + " tokens/s"), std::string::npos) << run.err;
    const json parsed = json::parse(run.out);
    EXPECT_EQ(parsed["preset"], "auto");
    return parsed["options"]["width"].get<int>();
  };
  EXPECT_EQ(width("1000"), 16);  // 24 paths with the warm-up's
  EXPECT_EQ(width("30"), 6);     // 1,200 tokens in 40 s: eight paths
}

TEST(CliRun, AutoEstimatesEveryQuestionUnlessQuiet) {
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
  EXPECT_EQ(estimates(), 2);
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
                         folder.File("t.jsonl"), kQuestion}));
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

// What a text shows without its escape codes and carriage returns.
std::string Bare(std::string text) {
  for (size_t at = 0; (at = text.find('\x1b', at)) != std::string::npos;) {
    const size_t end = std::min(text.find_first_of("ABCDHJKhlm", at + 2), text.size() - 1);
    text.erase(at, end - at + 1);
  }
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

TEST(CliRun, TerminalShowsThePoolInPlace) {
  for (const auto& [columns, rows] : {std::pair(80, 24), std::pair(200, 50)}) {
    const ProcessResult result = RunOnTerminal(Bundled({"--seed", "3"}), columns, rows);
    EXPECT_EQ(result.exit_code, 0) << result.out;
    const size_t enter = result.out.find("\x1b[?1049h");
    const size_t leave = result.out.find("\x1b[?1049l");
    ASSERT_NE(enter, std::string::npos) << result.out;
    ASSERT_NE(leave, std::string::npos) << result.out;
    // The screen is gone when the answer comes, and nothing is drawn below it.
    const size_t answer = result.out.find("answer   ", leave);
    ASSERT_NE(answer, std::string::npos) << result.out;
    EXPECT_EQ(result.out.find('\x1b', leave + 8), std::string::npos);
    const std::string drawn = result.out.substr(enter, leave - enter);
    for (const char* part : {"hyper on ", ", seed 3", "answers", "confidence", "running"}) {
      EXPECT_NE(drawn.find(part), std::string::npos) << part;
    }
    // A frame that is longer than the screen would scroll.
    size_t frames = 0;
    for (size_t at = drawn.find("\x1b[H"); at != std::string::npos; ++frames) {
      const size_t next = drawn.find("\x1b[H", at + 1);
      const std::string frame = Bare(drawn.substr(at, next - at));
      EXPECT_LT(std::count(frame.begin(), frame.end(), '\n'), rows) << frame;
      std::istringstream lines(frame);
      for (std::string line; std::getline(lines, line);) {
        const auto characters = std::count_if(line.begin(), line.end(), [](char c) {
          return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        });
        EXPECT_LE(characters, columns) << line;
      }
      at = next;
    }
    EXPECT_GT(frames, 0U);
  }
  EXPECT_EQ(RunOnTerminal(Bundled({"--seed", "3", "--live", "never"})).out.find('\x1b'),
            std::string::npos);
}

TEST(CliRun, TerminalWithoutColourHasNone) {
  std::vector<std::string> arguments = Bundled({"--seed", "3"});
  const std::string colour = "\x1b[3";
  EXPECT_NE(RunOnTerminal(arguments).out.find(colour), std::string::npos);
  arguments.insert(arguments.begin(), {"/usr/bin/env", "NO_COLOR=1"});
  EXPECT_EQ(RunOnTerminal(arguments).out.find(colour), std::string::npos);
  arguments[1] = "TERM=dumb";
  EXPECT_EQ(RunOnTerminal(arguments).out.find('\x1b'), std::string::npos);
}

TEST(CliRun, WithoutATerminalPhasesAreTold) {
  const ProcessResult run = RunProcess(Bundled({"--seed", "3"}));
  const size_t warmup = run.err.find("warm-up: 3 paths\n");
  EXPECT_NE(warmup, std::string::npos) << run.err;
  EXPECT_LT(warmup, run.err.find("warm-up done: ")) << run.err;
  // For programs there is the estimate alone.
  const std::string err = RunProcess(Bundled({"--seed", "3", "--json"})).err;
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_NE(err.find(" tokens/s: about "), std::string::npos) << err;
  EXPECT_EQ(RunProcess(Bundled({"--seed", "3", "--json", "--preset", "short"})).err, "");
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
                        "--threads", "1", kQuestion}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json run = json::parse(result.out);
  EXPECT_EQ(run["warnings"].size(), 1U);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find("template"), std::string::npos) << result.err;
}

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

TEST(Cli, HelpListsCommandsAndExitCodes) {
  const ProcessResult result = RunProcess(Hyper({"--help"}));
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part : {"run ", "bench ", "130"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(RunProcess(Hyper({})).exit_code, 64);
  EXPECT_EQ(RunProcess(Hyper({"--version"})).out.rfind("hyper ", 0), 0U);
}

// Options of two parts that bear the same name stop a command before it reads its first argument.
TEST(Cli, EveryCommandHasHelpWithExamples) {
  for (const char* command :
       {"run",     "serve",   "eval",   "inspect", "compare", "grade",    "merge",
        "figures", "report",  "export", "data",    "models",  "bench",    "equal",
        "probe",   "extract", "chat",   "again",   "log",     "complete", "help"}) {
    const ProcessResult result = RunProcess(Hyper({command, "--help"}));
    EXPECT_EQ(result.exit_code, 0) << command << ": " << result.err;
    EXPECT_NE(result.out.find("Examples:"), std::string::npos) << command;
  }
}

}  // namespace
}  // namespace hyper::test

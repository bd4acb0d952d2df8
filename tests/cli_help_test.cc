// The help of every command, of methods, and what may have been meant.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli_program.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

constexpr int kColumns = 80;
constexpr int kLines = 40;

void ExpectColumns(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), kColumns) << line;
  }
}

void ExpectScreen(const std::string& text) {
  ExpectColumns(text);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kLines) << text;
}

// The first words of the lines below a heading, up to a line that is empty.
std::vector<std::string> NamesBelow(const std::string& heading, const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text.substr(std::min(text.find(heading), text.size())));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && !line.empty()) {
    std::istringstream words(line);
    words >> names.emplace_back();
  }
  return names;
}

TEST(CliRun, HelpShowsMeaningRangeSymbolAndDefault) {
  const ProcessResult result = RunProcess(Hyper({"run", "--help-all"}));
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part : {"--width", "S_max", "1 to 4096", "[80; short: 32; auto: chosen]",
                           "--lambda-confidence", "Examples:", "Exit codes:"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  ExpectColumns(result.out);
}

TEST(CliRun, ShortHelpFitsAScreen) {
  const ProcessResult result = RunProcess(Hyper({"run", "--help"}));
  EXPECT_EQ(result.exit_code, 0);
  ExpectScreen(result.out);
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
      {{"methods"}, "try 'hyper help methods'"},
      {{"deepconf"}, "try 'hyper help deepconf'"},
      {{"run", "--modle", "x", "hi"}, "option '--modle' is not known; did you mean --model?"},
      {{"run", "--widht=3", "hi"}, "option '--widht' is not known; did you mean --width?"},
      {{"run", "--method", "hypr", "hi"}, "did you mean hyper?"},
      {{"run", "Rosa", "has", "14"}, "'has' is one argument too many; put a text"},
      {{"models"}, "the subcommand is missing; it takes list or get"},
      {{"serve", "--prt", "1"}, "did you mean --port?"},
  };
  for (const auto& [arguments, words] : cases) {
    const ProcessResult result = RunProcess(Hyper(arguments));
    EXPECT_EQ(result.exit_code, 64) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
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
TEST(Cli, EveryCommandHasHelpWithExamplesOnAScreen) {
  const std::vector<std::string> commands =
      NamesBelow("commands:", RunProcess(Hyper({"--help"})).out);
  EXPECT_GE(commands.size(), 23U);
  for (const std::string& command : commands) {
    const ProcessResult result = RunProcess(Hyper({command, "--help"}));
    EXPECT_EQ(result.exit_code, 0) << command << ": " << result.err;
    EXPECT_NE(result.out.find("Examples:"), std::string::npos) << command;
    ExpectScreen(result.out);
    for (const std::string& part : NamesBelow("Subcommands:", result.out)) {
      const ProcessResult of_part = RunProcess(Hyper({command, part, "--help"}));
      EXPECT_EQ(of_part.exit_code, 0) << command << " " << part << ": " << of_part.err;
      ExpectScreen(of_part.out);
    }
  }
}

// The short help leaves out only what --help-all has.
TEST(Cli, HelpInLayers) {
  struct Layers {
    const char* command;
    const char* everyday;
    const char* other;
  };
  for (const Layers& layers : {Layers{"eval", "--methods", "--lambda-confidence"},
                               Layers{"sweep", "--grid", "--lambda-confidence"},
                               Layers{"serve", "--port", "--plain-tokens"},
                               Layers{"bench", "--runs", "--context-lanes"}}) {
    const std::string brief = RunProcess(Hyper({layers.command, "--help"})).out;
    const std::string whole = RunProcess(Hyper({layers.command, "--help-all"})).out;
    ExpectColumns(whole);
    EXPECT_NE(brief.find("--help-all"), std::string::npos) << layers.command;
    EXPECT_NE(brief.find(layers.everyday), std::string::npos) << layers.everyday;
    EXPECT_EQ(brief.find(layers.other), std::string::npos) << layers.other;
    EXPECT_NE(whole.find(layers.everyday), std::string::npos) << layers.everyday;
    EXPECT_NE(whole.find(layers.other), std::string::npos) << layers.other;
  }
}

}  // namespace
}  // namespace hyper::test

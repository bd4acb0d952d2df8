// The examples of README, docs and help that need nothing of the user's, with the bundled model:
// each is run, and its answer is the right one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

// Every question that a page asks, with its answer, computed by hand.
const std::map<std::string, std::string>& Answers() {
  static const std::map<std::string, std::string> kAnswers = {
      {"Ben has 44 boxes with 23 books each. How many books?", "1012"},
      {"Ben has 44 boxes with 23 books each and gives away 73. How many are left?", "939"},
      {"Rosa has 14 bags with 30 cards each. How many cards has she?", "420"},
      {"Start with 12, add 7, multiply by 5.", "95"},
      {"Tara has 9 shelves with 27 books each. Pia brings 6 packs of 8 books. Tara gives away 119. "
       "Then the number grows to 12 times as many. Tara gives away 157. How many books does Tara "
       "have now?",
       "1907"},
  };
  return kAnswers;
}

std::vector<std::string> MatchesIn(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

// README, Makefile and the pages of docs/, by name.
std::map<std::string, std::string> Pages() {
  const std::filesystem::path root = HYPER_SOURCE_DIR;
  std::map<std::string, std::string> pages;
  for (const char* name : {"README.md", "Makefile"}) {
    pages[name] = ReadWholeFile((root / name).string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") {
      pages[entry.path().filename().string()] = ReadWholeFile(entry.path().string());
    }
  }
  return pages;
}

// The arguments of `hyper run` for what is posted to a server's chat: its method, its seed, its
// options and its question.
std::vector<std::string> ArgumentsOf(const json& body) {
  std::vector<std::string> arguments;
  const std::string model = body.at("model");
  if (const size_t colon = model.find(':'); colon != std::string::npos) {
    arguments = {"--method", model.substr(colon + 1)};
  }
  if (body.contains("seed")) {
    arguments.insert(arguments.end(), {"--seed", body["seed"].dump()});
  }
  const json options = body.value("hyper", json::object());
  for (const auto& [name, value] : options.items()) {
    arguments.insert(arguments.end(), {"--" + name, value.dump()});
  }
  arguments.push_back(body.at("messages").back().at("content"));
  return arguments;
}

// Runs `hyper run` with `arguments`, the question last; a drawn seed may draw a wrong answer.
void ExpectRight(std::vector<std::string> arguments, const std::string& page) {
  const std::string question = arguments.back();
  SCOPED_TRACE(page + ": " + question);
  ASSERT_TRUE(Answers().contains(question)) << "add its answer to this test";
  if (std::find(arguments.begin(), arguments.end(), "--seed") == arguments.end()) {
    arguments.insert(arguments.begin(), {"--seed", "1"});
  }
  arguments.insert(arguments.begin(), {HYPER_PROGRAM, "run", "--threads", "1", "--json"});
  const ProcessResult run = RunProcess(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["answer"], Answers().at(question));
}

// `--engine` names a server that the reader has: there only the question matters.
TEST(Examples, QuestionsOfThePagesAreAnsweredRight) {
  std::map<std::vector<std::string>, std::string> runs;  // what to run, and where it stands
  for (const auto& [page, text] : Pages()) {
    for (const std::string& question : MatchesIn(text, "hyper run[^\n]* \"([^\"$<]+)\"")) {
      runs[{question}] = page;
    }
    for (const std::string& body : MatchesIn(text, "-d '([^']+)'")) {
      runs[ArgumentsOf(json::parse(body))] = page;
    }
  }
  const std::string demo =
      MatchesIn(Pages()["Makefile"], "QUESTION \\?= ((?:[^\n]*\\\\\n)?[^\n]*)")[0];
  runs[{std::regex_replace(demo, std::regex("\\s*\\\\\\s+"), " ")}] = "Makefile";
  EXPECT_GE(runs.size(), 4U) << "no longer found by this test";
  for (const auto& [arguments, page] : runs) {
    ExpectRight(arguments, page);
  }
}

TEST(Examples, PairsOfTheHelpAreEqual) {
  const std::string help = RunProcess({HYPER_PROGRAM, "equal", "--help"}).out;
  const std::vector<std::string> lines = MatchesIn(help, "\n  hyper (equal [^\n]*)");
  EXPECT_GE(lines.size(), 5U);
  for (const std::string& line : lines) {
    const ProcessResult equal =
        RunProcess({"/bin/sh", "-c", std::string(HYPER_PROGRAM) + " " + line});
    EXPECT_EQ(equal.exit_code, 0) << line << equal.out << equal.err;
  }
}

TEST(Examples, ExtractFindsTheAnswerOfItsHelp) {
  const std::string help = RunProcess({HYPER_PROGRAM, "extract", "--help"}).out;
  const std::vector<std::string> lines = MatchesIn(help, "\n  (echo [^\n]*)");
  EXPECT_GE(lines.size(), 1U);
  for (const std::string& line : lines) {
    const ProcessResult run = RunProcess(
        {"/bin/sh", "-c", "hyper() { " + std::string(HYPER_PROGRAM) + " \"$@\"; } && " + line});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const std::string box = MatchesIn(line, "boxed\\{([^}]*)\\}").at(0);
    EXPECT_EQ(json::parse(run.out)["answer"], box) << line;
  }
}

}  // namespace
}  // namespace hyper::test

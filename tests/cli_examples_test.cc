// The examples of README, docs and every help, with the bundled model: each is run, and its answer
// is the right one.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "src/base/clock.h"
#include "tests/support/patience.h"
#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

// Every question that a page asks, with its answer, computed by hand.
const std::map<std::string, std::string>& Answers() {
  static const std::map<std::string, std::string> kAnswers = {
      {"Two numbers differ by 7 and their product is 330. What is the larger number?", "22"},
      {"Start with 25, add 13, add 40. What is the result?", "78"},
      {"Solve 5x+43=173 for x.", "26"},
      {"Start with 13. Do this 9 times: multiply by 3, add 27, and keep the remainder when "
       "divided by 41. What is the result?",
       "25"},
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
      if (const json request = json::parse(body); request.contains("messages")) {
        runs[ArgumentsOf(request)] = page;
      }
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

// The examples in a help text: the indented lines below "Examples:", each with the lines that begin
// further in.
std::vector<std::string> ExamplesIn(const std::string& help) {
  std::vector<std::string> examples;
  std::istringstream lines(help.substr(std::min(help.find("\nExample"), help.size())));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);  // "Examples:"
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line.starts_with("    ")) {
      examples.back() += "\n" + line;
    } else {
      examples.push_back(line.substr(2));
    }
  }
  return examples;
}

std::string Help(const std::string& command) {
  return "\n" + RunProcess({HYPER_PROGRAM, command, "--help"}).out;
}

std::vector<std::string> Commands() {
  return MatchesIn(RunProcess({HYPER_PROGRAM, "--help"}).out, "\n  ([a-z]+)  +[a-z]");
}

// A folder with what the examples name: files, studies, a model, a place for completions. Options
// that the examples leave open are small ones.
class ReadersFolder {
 public:
  ReadersFolder() {
    namespace fs = std::filesystem;
    const std::string pools = "Parallel-Probe/evaluation/Qwen3-8B-128";
    for (const std::string& name :
         {std::string("bin"), std::string("config/hyper"), std::string(".zfunc"), pools,
          std::string(".config/fish/completions"),
          std::string(".local/share/bash-completion/completions")}) {
      fs::create_directories(folder_.File(name));
    }
    fs::create_symlink(HYPER_PROGRAM, folder_.File("bin/hyper"));
    fs::create_symlink(HYPER_MODEL, folder_.File("qwen3.gguf"));
    WriteFile(folder_.File("config/hyper/config.toml"),
              "threads = 1\nseed = 1\nmax-tokens = 150\n[eval]\nwidth = 8\n");
    WriteFile(folder_.File("question.txt"), "Solve 5x+43=173 for x.\n");
    WriteFile(folder_.File("reply.txt"), "Both others fail. The answer is (B).\n");
    WriteFile(folder_.File("trace.txt"), "so 3 + 4 = 7.\n</think>\nThe answer is 7.\n");
    WriteFile(folder_.File("key.txt"), "secret\n");
    WriteFile(
        folder_.File("math500.jsonl"),
        R"({"unique_id": "a", "problem": "Start with 12, add 7.", "answer": "19", "level": 1})"
        "\n");
    const json paths(16, json::array({json::array(), 500, "19"}));
    WriteFile(folder_.File(pools + "/aime24.json"),
              json::array({{{"question", "Start with 12, add 7."},
                            {"gold_answer", "19"},
                            {"each_branch", paths}}})
                  .dump());
    Run("hyper eval --methods sc,hyper --levels 2 --questions 3 --repeats 2 --width 16 --align off "
        "--study study.db >/dev/null && cp study.db other.db && cp study.db before.db && "
        "cp study.db after.db");
  }

  // Runs `line` in a shell in the folder.
  ProcessResult Run(const std::string& line, const std::string& input = "") const {
    ProcessResult result = RunProcess({"/bin/sh", "-c", InFolder(line)}, input);
    EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.out << result.err;
    return result;
  }

  std::string InFolder(const std::string& line) const {
    const std::string folder = folder_.File("");
    return "cd '" + folder + "' && export HOME='" + folder + "' XDG_DATA_HOME='" + folder +
           "data' XDG_CONFIG_HOME='" + folder + "config' PATH='" + folder + "bin':\"$PATH\" && " +
           line;
  }

 private:
  TemporaryFolder folder_;
};

// `hyper serve` on a free port, ended as a user would.
class ServeProcess {
 public:
  ServeProcess(const ReadersFolder& folder, const std::string& line)
      : process_({"/bin/sh", "-c", folder.InFolder("exec " + line + " --port 0")}) {
    const double deadline = base::SteadyClock().Now() + 60 * Patience();
    while (address().empty() && base::SteadyClock().Now() < deadline) {
      base::SteadyClock().Wait(-1, 0.02);
    }
  }

  // "127.0.0.1:PORT"; empty before it serves.
  std::string address() const {
    const std::vector<std::string> found =
        MatchesIn(process_.OutputSoFar(), "at http://([0-9.:]+)/\n");
    return found.empty() ? "" : found.front();
  }

  ProcessResult End() {
    process_.Signal(SIGINT);
    return process_.Wait();
  }

 private:
  Process process_;
};

// What an example prints, by a part of its line.
const std::vector<std::pair<std::string, std::string>>& Prints() {
  static const std::vector<std::pair<std::string, std::string>> kPrints = {
      {"hyper run \"Two numbers differ", "\nanswer   22\n"},
      {"hyper run \"Start with 25", "\nanswer   78\n"},
      {"-m qwen3.gguf", ""},  // asked with an instruction that the bundled model does not know
      {"--file question.txt", "\nanswer   26\n"},
      {"hyper run -q --seed 1", "26\n"},
      {"hyper run --method", "\nanswer   26\n"},
      {"hyper chat\n", "\nanswer   26\n"},
      {"hyper again\n", "\nanswer   26\n"},
      {"hyper again -n 64", "\nanswer   26\n"},
      {"hyper log\n", "run_1 "},
      {"curl ", "boxed{26}"},
      {"hyper equal --json", "\"verdict\":\"equal\""},
      {"hyper equal", "equal"},
      {"echo 'The answer is", "\"answer\":\"42\""},
      {"reply.txt", "\"answer\":\"B\""},
      {"trace.txt", "\"answer\":\"7\""},
      {"hyper inspect", ""},
      {"--table ablation --format latex", "\\begin{tabular}"},
      {"--format markdown", "| p McNemar"},
      {"hyper compare", "McNemar"},
      {"hyper data list", "math500"},
      {"hyper import", "row sc of Qwen3-8B-128, 1 questions (aime24), 16 paths each"},
      {"hyper probe", "http://127.0.0.1"},
      {"hyper plan", "questions/hour"},
      {"hyper calibrate", "Second half"},
      {"hyper help deepconf", "consensus"},
  };
  return kPrints;
}

// All but those that need a hub or a judge elsewhere.
TEST(Examples, OfEveryCommandsHelpRun) {
  const ReadersFolder folder;
  ServeProcess server(folder, "hyper serve");
  ASSERT_NE(server.address(), "");
  const std::regex own_server("127\\.0\\.0\\.1:8080|localhost:8080|first:8000|second:8000");
  const std::regex elsewhere("(models|data) get |https://host/|-m qwen3-4b");
  int run = 0;
  int left_out = 0;
  for (const std::string& command : Commands()) {
    const std::vector<std::string> examples = ExamplesIn(Help(command));
    EXPECT_FALSE(examples.empty()) << command;
    for (const std::string& example : examples) {
      SCOPED_TRACE(example);
      if (std::regex_search(example, elsewhere)) {
        ++left_out;
        continue;
      }
      ++run;
      if (example.starts_with("hyper serve")) {
        const std::string line = example.substr(0, example.find(" --port"));
        ServeProcess serve(folder, line.substr(0, line.find("  #")));
        EXPECT_NE(serve.address(), "");
        EXPECT_EQ(serve.End().exit_code, 0);
        continue;
      }
      std::string line = std::regex_replace(example, own_server, server.address());
      line = std::regex_replace(line, std::regex("'\\{\"model\""), "'{\"seed\": 1, \"model\"");
      line =
          std::regex_replace(line, std::regex("hyper run --engine"), "hyper run --seed 1 --engine");
      if (example.starts_with("hyper again")) {  // repeats the last run, whatever that was
        folder.Run("hyper run --seed 1 'Solve 5x+43=173 for x.'", "");
      }
      const std::string question =
          example.starts_with("hyper chat") ? "Solve 5x+43=173 for x.\n" : "";
      const std::string out = folder.Run(line, question).out;
      for (const auto& [part, print] : Prints()) {
        if ((example + "\n").find(part) != std::string::npos) {
          EXPECT_NE(out.find(print), std::string::npos) << out;
          break;
        }
      }
    }
  }
  EXPECT_GE(run, 45);
  EXPECT_EQ(left_out, 6);
  EXPECT_EQ(server.End().exit_code, 0);
}

// `hyper help METHOD` ends with the same question for every method.
TEST(Examples, OfEveryMethodsHelpAreAnsweredRight) {
  const ReadersFolder folder;
  const std::string methods = RunProcess({HYPER_PROGRAM, "help", "methods"}).out;
  for (const std::string& method : MatchesIn(methods, "\n  ([a-z][a-z0-9-]*)")) {
    const std::vector<std::string> examples =
        ExamplesIn("\n" + RunProcess({HYPER_PROGRAM, "help", method}).out);
    ASSERT_EQ(examples.size(), 1U) << method;
    EXPECT_NE(examples[0].find("--method " + method + " "), std::string::npos);
    const std::string out = folder.Run(examples[0] + " --width 8 --seed 1").out;
    // Those that pick one path may pick a wrong one.
    const bool picks = method.starts_with("bon") || method.find("tail") != std::string::npos ||
                       method == "self-certainty" || method == "mcts-conf";
    EXPECT_NE(out.find(picks ? "\nanswer " : "\nanswer   26\n"), std::string::npos)
        << examples[0] << out;
  }
}

}  // namespace
}  // namespace hyper::test

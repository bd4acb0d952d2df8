// Everyday commands as processes: many questions, the log, again, chat, the
// config file, completions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

// A data and config folder of a test's own.
class CliDaily : public testing::Test {
 protected:
  ProcessResult Hyper(std::vector<std::string> arguments, const std::string &input = "") const {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/env", "XDG_DATA_HOME=" + folder_.File("data"),
                      "XDG_CONFIG_HOME=" + folder_.File("config"), HYPER_PROGRAM});
    return RunProcess(arguments, input);
  }
  // `hyper run` without a model.
  ProcessResult Run(std::vector<std::string> more, const std::string &input = "") const {
    more.insert(more.begin(), {"run", "--engine", "scripted", "--preset", "short", "--width", "4"});
    return Hyper(more, input);
  }
  static std::vector<json> Lines(const std::string &text) {
    std::vector<json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(json::parse(line));
    }
    return lines;
  }

  TemporaryFolder folder_;
};

TEST_F(CliDaily, ManyQuestionsGiveALineEach) {
  const std::string file = WriteFile(folder_.File("q.txt"), "1 + 1 = ?\n\n2 + 2 = ?\n3 + 3 = ?\n");
  const ProcessResult run = Run({"--seed", "5", "--questions", file});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::vector<json> lines = Lines(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["id"], "3");
  EXPECT_EQ(lines[1]["question"], "2 + 2 = ?");
  EXPECT_EQ(lines[1]["answer"], "42");
  EXPECT_EQ(lines[1]["seed"], 5);
  EXPECT_NE(lines[1]["text"].get<std::string>().find("\\boxed{42}"), std::string::npos);
  EXPECT_NE(lines[0]["text"], lines[1]["text"]) << "each question draws its own numbers";
  EXPECT_NE(run.err.find("3 of 3: 42 ("), std::string::npos) << run.err;
  EXPECT_EQ(Run({"--seed", "5", "--questions", file}).out, run.out);
}

TEST_F(CliDaily, AQuestionOfManyMayHaveItsOwnSeed) {
  const std::string file = WriteFile(folder_.File("q.jsonl"),
                                     "2 + 2 = ?\n"
                                     R"({"question": "1 + 1 = ?", "seed": 8})"
                                     "\n");
  const std::vector<json> lines = Lines(Run({"--seed", "5", "--questions", file}).out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["seed"], 5);
  EXPECT_EQ(lines[1]["seed"], 8);
  const json alone = json::parse(Run({"--seed", "8", "--json", "1 + 1 = ?"}).out);
  EXPECT_EQ(lines[1]["tokens"], alone["ledger"]["effective"]) << "as the question by itself";
  EXPECT_TRUE(std::any_of(alone["paths"].begin(), alone["paths"].end(),
                          [&](const json &path) { return path["text"] == lines[1]["text"]; }));
  const json other = json::parse(Run({"--seed", "5", "--json", "1 + 1 = ?"}).out);
  EXPECT_NE(lines[1]["tokens"], other["ledger"]["effective"]);
}

TEST_F(CliDaily, ManyQuestionsGoOnWhereTheyStopped) {
  const std::string file = WriteFile(folder_.File("q.txt"), "1 + 1 = ?\n2 + 2 = ?\n3 + 3 = ?\n");
  const std::string out = folder_.File("out.jsonl");
  const std::vector<std::string> arguments = {"--seed", "5", "--questions", file, "-o", out};
  ASSERT_EQ(Run(arguments).exit_code, 0);
  const std::string whole = ReadWholeFile(out);
  // As a program that was killed in the middle of the second line leaves it.
  WriteFile(out, whole.substr(0, whole.find('\n') + 20));
  const ProcessResult again = Run(arguments);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(ReadWholeFile(out), whole);
  EXPECT_EQ(again.err.find("1 of 3"), std::string::npos) << again.err;
  EXPECT_NE(again.err.find("2 of 3"), std::string::npos) << again.err;
  EXPECT_EQ(Run(arguments).err.find(" of 3"), std::string::npos) << "all are answered";
  const ProcessResult other = Run({"--questions", file, "-o", file});
  EXPECT_EQ(other.exit_code, 64);
  EXPECT_NE(other.err.find("holds no replies"), std::string::npos) << other.err;
}

TEST_F(CliDaily, BatchRequestsGetBatchResponses) {
  const std::string file = WriteFile(
      folder_.File("q.jsonl"),
      R"({"custom_id": "a-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "1 + 1 = ?"}]}})"
      "\n");
  const ProcessResult run = Run({"--seed", "5", "--questions", file});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json line = json::parse(run.out);
  EXPECT_EQ(line["custom_id"], "a-1");
  EXPECT_TRUE(line["error"].is_null());
  EXPECT_EQ(line["response"]["status_code"], 200);
  const json &body = line["response"]["body"];
  EXPECT_EQ(body["object"], "chat.completion");
  EXPECT_EQ(body["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
  EXPECT_GT(body["usage"]["completion_tokens"], 0);
  EXPECT_EQ(body["hyper"]["answer"], "42");
}

TEST_F(CliDaily, ManyQuestionsAreRefusedByTheirLine) {
  const std::string file = WriteFile(folder_.File("q.txt"), "1 + 1 = ?\n{oops\n");
  const ProcessResult run = Run({"--questions", file});
  EXPECT_EQ(run.exit_code, 64);
  EXPECT_NE(run.err.find("line 2"), std::string::npos) << run.err;
  EXPECT_EQ(Run({"--questions", folder_.File("none")}).exit_code, 66);
  EXPECT_EQ(Run({"--questions", file, "--json"}).exit_code, 64);
  EXPECT_EQ(Run({"--questions", file, "and one more"}).exit_code, 64);
}

TEST_F(CliDaily, OutputGoesToAFile) {
  const std::string out = folder_.File("out.txt");
  const ProcessResult run = Run({"-q", "--seed", "1", "-o", out, "1 + 1 = ?"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(ReadWholeFile(out), "42\n");
  EXPECT_EQ(Run({"-o", folder_.File("no/such"), "1 + 1 = ?"}).exit_code, 74);
}

TEST_F(CliDaily, RunsAreLoggedAndRepeated) {
  const ProcessResult empty = Hyper({"log"});
  EXPECT_EQ(empty.exit_code, 66);
  EXPECT_NE(empty.err.find("no run is in the log yet"), std::string::npos) << empty.err;
  EXPECT_EQ(Hyper({"again"}).exit_code, 66);
  const ProcessResult first = Run({"--json", "--temperature", "0.5", "1 + 1 = ?"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  Run({"--no-log", "not kept"});
  Run({"-q", "2 + 2 = ?"});
  const std::vector<json> runs = Lines(Hyper({"log", "--json"}).out);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["question"], "2 + 2 = ?");
  EXPECT_EQ(runs[1]["question"], "1 + 1 = ?");
  EXPECT_EQ(runs[1]["answer"], json::parse(first.out)["answer"]);
  EXPECT_EQ(runs[1]["id"], "run_1");
  const std::string list = Hyper({"log"}).out;
  EXPECT_NE(list.find("run_2"), std::string::npos) << list;
  EXPECT_NE(list.find("hyper"), std::string::npos) << list;
  Run({"-q", "a question that is too long for what is left of a line of the list"});
  const std::string cut = Hyper({"log", "-n", "1"}).out;
  EXPECT_EQ(cut.substr(cut.size() - 4), "...\n") << cut;
  EXPECT_LE(cut.size(), 81U) << cut;
  EXPECT_EQ(Hyper({"log", "run_1"})
                .out.rfind("run      run_1\nquestion 1 + 1 = ?\nmethod   hyper, model fake\n"
                           "answer   42\n",
                           0),
            0U)
      << Hyper({"log", "run_1"}).out;
  // The same seed, drawn at first, and the same options give the same bytes.
  EXPECT_EQ(Hyper({"again", "run_1"}).out, first.out);
  const json wide = json::parse(Hyper({"again", "run_1", "-n", "6"}).out);
  EXPECT_EQ(wide["options"]["width"], 6);
  EXPECT_EQ(wide["options"]["temperature"], 0.5);
  EXPECT_EQ(wide["seed"], json::parse(first.out)["seed"]);
  EXPECT_EQ(json::parse(Hyper({"again", "run_1", "--seed", "9"}).out)["seed"], 9);
  EXPECT_EQ(Hyper({"again", "run_99"}).exit_code, 66);
  EXPECT_NE(Hyper({"log", "run_99"}).err.find("hyper log: run 'run_99' is not in the log"),
            std::string::npos);
  EXPECT_EQ(Hyper({"again", "run_1", "--widht", "3"}).exit_code, 64);
}

TEST_F(CliDaily, ALogThatCannotBeWrittenCostsNoAnswer) {
  WriteFile(folder_.File("data"), "a file where the folder should be");
  const ProcessResult run = Run({"-q", "--seed", "1", "1 + 1 = ?"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "42\n");
  EXPECT_NE(run.err.find("--no-log"), std::string::npos) << run.err;
}

TEST_F(CliDaily, AChatKnowsWhatWasSaid) {
  const ProcessResult chat =
      Hyper({"chat", "--engine", "scripted", "--preset", "short", "--width", "4", "--seed", "5"},
            "1 + 1 = ?\n\nand now?\n/new\nonce more?\n/exit\nnever read\n");
  EXPECT_EQ(chat.exit_code, 0) << chat.err;
  size_t answers = 0;
  for (size_t at = 0; (at = chat.out.find("\nanswer   42\n", at)) != std::string::npos; ++at) {
    ++answers;
  }
  EXPECT_EQ(answers, 3U) << chat.out;
  // The prompts are in the log: the second turn has the first one and its
  // reply, the third none.
  const std::vector<json> runs = Lines(Hyper({"log", "--json"}).out);
  ASSERT_EQ(runs.size(), 3U);
  const std::string data = folder_.File("data/hyper/runs.db");
  const auto prompt_of = [&](const char *id) {
    return Lines(Hyper({"inspect", data, id, "--json"}).out).front().dump();
  };
  EXPECT_NE(prompt_of("run_2").find("1 + 1 = ?"), std::string::npos);
  EXPECT_NE(prompt_of("run_2").find("boxed{"), std::string::npos);
  EXPECT_EQ(prompt_of("run_3").find("1 + 1 = ?"), std::string::npos);
  EXPECT_EQ(Hyper({"chat", "--json"}).exit_code, 64);
}

TEST_F(CliDaily, TheConfigFileGivesWhatTheCommandLineDoesNot) {
  std::filesystem::create_directories(folder_.File("config/hyper"));
  const std::string file = folder_.File("config/hyper/config.toml");
  WriteFile(file,
            "engine = \"scripted\"\npreset = \"short\"\nport = "
            "1\n\n[run]\nwidth = 3\njson = true\n"
            "\n[bench]\nwidth = 5\n");
  json run = json::parse(Hyper({"run", "1 + 1 = ?"}).out);
  EXPECT_EQ(run["engine"], "scripted");
  EXPECT_EQ(run["options"]["width"], 3);
  run = json::parse(Hyper({"run", "--width", "4", "1 + 1 = ?"}).out);
  EXPECT_EQ(run["options"]["width"], 4);
  WriteFile(file, "[run]\nwidht = 3\n");
  const ProcessResult wrong = Hyper({"run", "1 + 1 = ?"});
  EXPECT_EQ(wrong.exit_code, 64);
  EXPECT_NE(wrong.err.find("did you mean width?"), std::string::npos) << wrong.err;
  for (const std::string &text :
       std::vector<std::string>{"foo = 1\n", "[runn]\nwidth = 3\n", "[bench]\nfoo = 3\n"}) {
    WriteFile(file, text);
    const ProcessResult unknown = Hyper({"run", "1 + 1 = ?"});
    EXPECT_EQ(unknown.exit_code, 64) << text;
    EXPECT_NE(unknown.err.find(file + ":"), std::string::npos) << unknown.err;
    EXPECT_NE(unknown.err.find(" is not a"), std::string::npos) << unknown.err;
  }
  // Sections of other commands, and second names of options.
  WriteFile(file,
            "[complete]\nall-into = \"x\"\n[bench]\nwidth = 2\n[run]\nconfidence-set = \"topk\"\n");
  const ProcessResult other = Hyper({"equal", "1", "1"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(other.out.find("usage"), std::string::npos) << other.out;
  EXPECT_EQ(Hyper({"run", "--engine", "scripted", "1 + 1 = ?"}).exit_code, 0);
  EXPECT_EQ(Hyper({"run", "--config", folder_.File("none.toml"), "x"}).exit_code, 64);
}

TEST_F(CliDaily, AnErrorOfTheConfigFileNamesLineValueReasonAndRemedy) {
  std::filesystem::create_directories(folder_.File("config/hyper"));
  const std::string file = folder_.File("config/hyper/config.toml");
  struct Case {
    const char *text;
    int line;
    std::vector<const char *> parts;
  };
  const std::vector<Case> cases = {
      {"engine = \"scripted\"\nsystem = \"be kind\n",
       2,
       {"be kind", "no closing quote", "end the"}},
      {"\nwidth = \"three\"\n", 2, {"width = three", "whole number", "it takes 1 to 4096"}},
      {"json = 3\n", 1, {"json = 3", "takes true or false"}},
      {"[run]\nwidth = [3, 4]\n", 2, {"width = [3, 4]", "one value", "leave the brackets out"}},
      {"[run]\nwidht = 3\n", 2, {"widht = 3", "hyper run", "did you mean width?"}},
      {"engine = \"scripted\"\n[runn]\nwidth = 3\n", 3, {"[runn]", "did you mean run?"}},
      {"help = true\n", 1, {"help = true", "not an option", "leave it out"}},
      {"width = 5000\n", 1, {"width = 5000", "outside its range", "it takes 1 to 4096"}},
      {"time = \"soon\"\n", 1, {"time = soon", "it takes a time", "30s"}},
      {"method = \"hypr\"\n", 1, {"method = hypr", "not known", "did you mean hyper?"}},
      {"method = \"sc\"\neta = 0.5\n", 2, {"eta = 0.5", "sc"}},
  };
  for (const Case &one : cases) {
    WriteFile(file, one.text);
    const ProcessResult run = Hyper({"run", "--preset", "short", "1 + 1 = ?"});
    EXPECT_EQ(run.exit_code, 64) << one.text << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(file + ":" + std::to_string(one.line) + ": "), std::string::npos)
        << run.err;
    for (const char *part : one.parts) {
      EXPECT_NE(run.err.find(part), std::string::npos) << part << ": " << run.err;
    }
    EXPECT_EQ(Hyper({"run", "--help"}).exit_code, 0) << "help comes whatever the file holds";
  }
  // What the command line gives is not the file's fault; its section comes before the top.
  WriteFile(file, "width = 5\neffort = \"high\"\njson = true\n[run]\njson = false\n");
  const ProcessResult own = Run({"--effort", "much", "1 + 1 = ?"});
  EXPECT_EQ(own.err.find(file), std::string::npos) << own.err;
  EXPECT_NE(Run({"1 + 1 = ?"}).out.substr(0, 1), "{") << "no JSON";
}

TEST_F(CliDaily, TheModelComesFromTheEnvironment) {
  const std::string missing = "HYPER_MODEL=" + folder_.File("none.gguf");
  const ProcessResult run = RunProcess({"/usr/bin/env", missing, HYPER_PROGRAM, "run", "x"});
  EXPECT_EQ(run.exit_code, 66);
  EXPECT_NE(run.err.find("none.gguf"), std::string::npos) << run.err;
}

TEST_F(CliDaily, BashCompletesCommandsOptionsAndWords) {
  const std::string script = WriteFile(folder_.File("c.bash"), Hyper({"complete", "bash"}).out);
  const auto completed = [&](const std::string &words, int at) {
    return RunProcess({"/bin/bash", "-c",
                       "source " + script + "; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                           std::to_string(at) + "; _hyper; echo ${COMPREPLY[@]}"})
        .out;
  };
  EXPECT_EQ(completed("hyper ser", 1), "serve\n");
  EXPECT_EQ(completed("hyper run --wid", 2), "--width\n");
  EXPECT_EQ(completed("hyper run --method deepconf-h", 3), "deepconf-high\n");
  EXPECT_EQ(completed("hyper run --live a", 3), "auto always\n");
  EXPECT_EQ(completed("hyper serve --por", 2), "--port\n");
}

TEST_F(CliDaily, EveryCommandHasAManPageAndCompletions) {
  const std::string share = folder_.File("share");
  ASSERT_EQ(Hyper({"complete", "--all-into", share}).exit_code, 0);
  for (const char *file : {"man/man1/hyper.1", "man/man1/hyper-run.1", "man/man1/hyper-serve.1",
                           "bash-completion/completions/hyper", "zsh/site-functions/_hyper",
                           "fish/vendor_completions.d/hyper.fish"}) {
    EXPECT_FALSE(ReadWholeFile(share + "/" + file).empty()) << file;
  }
  const std::string page = ReadWholeFile(share + "/man/man1/hyper-run.1");
  EXPECT_NE(page.find("\\-\\-lambda"), std::string::npos);
  EXPECT_NE(page.find(".B \\-n, \\-\\-width N"), std::string::npos) << page;
  EXPECT_NE(ReadWholeFile(share + "/fish/vendor_completions.d/hyper.fish").find("-l width -s n -r"),
            std::string::npos);
  EXPECT_EQ(Hyper({"complete", "tcsh"}).exit_code, 64);
}

}  // namespace
}  // namespace hyper::test

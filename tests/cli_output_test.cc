// Where the program's output goes wrong, and texts of odd shapes: the work is done all the same.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

constexpr const char* kRun = " run --engine scripted --seed 1 ";

// A line of the shell, after the program.
ProcessResult Shell(const std::string& line) {
  return RunProcess({"/bin/sh", "-c", HYPER_PROGRAM + line});
}

TEST(CliOutput, ErrorsThatCannotBeWrittenCostNothing) {
  for (const char* where : {"2>/dev/full", "2>&-"}) {
    const ProcessResult run =
        Shell(std::string(kRun) + "--live always --json '1 + 1 = ?' " + where);
    EXPECT_EQ(run.exit_code, 0) << where << run.signal;
    EXPECT_EQ(json::parse(run.out)["answer"], "42");
    EXPECT_EQ(Shell(std::string(" run --width 0 x ") + where).exit_code, 64);
    EXPECT_EQ(Shell(std::string(" nothing ") + where).exit_code, 64);
  }
}

TEST(CliOutput, AStudyGoesOnWhenNobodyReadsItsProgress) {
  const TemporaryFolder folder;
  const ProcessResult study = Shell(
      " eval --engine scripted --methods sc --width 2 --align off --levels 0 --questions 3 "
      "--study " +
      folder.File("s.db") + " 2>&1 | head -1");
  EXPECT_EQ(study.signal, 0);
  const ProcessResult stored = Shell(" export " + folder.File("s.db"));
  EXPECT_EQ(std::count(stored.out.begin(), stored.out.end(), '\n'), 3) << stored.err;
}

TEST(CliOutput, AReaderThatLeavesIsNoFullDisk) {
  const ProcessResult run = Shell(std::string(kRun) + "--json '1 + 1 = ?' | head -c 10");
  EXPECT_EQ(run.out.size(), 10U);
  EXPECT_EQ(run.err, "");
  const ProcessResult closed = Shell(std::string(kRun) + "'1 + 1 = ?' >&-");
  EXPECT_EQ(closed.exit_code, 74);
  EXPECT_NE(closed.err.find("Bad file descriptor"), std::string::npos) << closed.err;
}

TEST(CliOutput, HelpIsOutputToo) {
  for (const char* line : {" --help", " --version", " run --help"}) {
    const ProcessResult help = Shell(std::string(line) + " >/dev/full");
    EXPECT_EQ(help.exit_code, 74) << line;
    EXPECT_NE(help.err.find("No space left"), std::string::npos) << help.err;
  }
}

TEST(CliOutput, TextsAreBounded) {
  for (const char* line : {" run --engine scripted --file /dev/zero", " extract /dev/zero"}) {
    const ProcessResult run = Shell(line);
    EXPECT_EQ(run.exit_code, 64) << line;
    EXPECT_NE(run.err.find("16 MiB"), std::string::npos) << run.err;
  }
}

TEST(CliOutput, AByteOrderMarkIsNoText) {
  const TemporaryFolder folder;
  const std::string file = WriteFile(folder.File("q.txt"),
                                     "\xEF\xBB\xBF"
                                     "1 + 1 = ?");
  const ProcessResult marked = Shell(std::string(kRun) + "--json --file " + file);
  const ProcessResult plain = Shell(std::string(kRun) + "--json '1 + 1 = ?'");
  EXPECT_EQ(marked.out, plain.out);
}

TEST(CliOutput, AStudyIsReadWhereNothingMayBeWritten) {
  if (geteuid() != 0 || access("/usr/bin/setpriv", X_OK) != 0) {
    GTEST_SKIP() << "needs to act for somebody without rights";
  }
  const std::string nobody = "/usr/bin/setpriv --reuid=65534 --clear-groups ";
  if (RunProcess({"/bin/sh", "-c", nobody + HYPER_PROGRAM + " --version"}).exit_code != 0) {
    GTEST_SKIP() << "the program lies where others may not read";
  }
  const TemporaryFolder folder;
  const std::string file = folder.File("s.db");
  ASSERT_EQ(Shell(" eval --engine scripted --methods sc --width 2 --align off --levels 0 "
                  "--questions 1 --study " +
                  file)
                .exit_code,
            0);
  ASSERT_EQ(chmod(file.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder.File("").c_str(), 0555), 0);
  const ProcessResult read =
      RunProcess({"/bin/sh", "-c", nobody + HYPER_PROGRAM + " export " + file});
  EXPECT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(std::count(read.out.begin(), read.out.end(), '\n'), 1) << read.err;
}

TEST(CliOutput, StudiesThatCannotBeOpenedSayWhy) {
  const TemporaryFolder folder;
  const ProcessResult missing = Shell(" export " + folder.File("none.db"));
  EXPECT_EQ(missing.exit_code, 66);
  EXPECT_NE(missing.err.find("does not exist"), std::string::npos) << missing.err;
  const ProcessResult place = Shell(" export /tmp");
  EXPECT_EQ(place.exit_code, 66);
  EXPECT_NE(place.err.find("is a folder"), std::string::npos) << place.err;
  const ProcessResult text = Shell(" export " + WriteFile(folder.File("t.txt"), "no study\n"));
  EXPECT_EQ(text.exit_code, 65);
  EXPECT_NE(text.err.find("name a study"), std::string::npos) << text.err;
}

TEST(CliOutput, EveryCommandSpeaksJson) {
  EXPECT_EQ(json::parse(Shell(" data list --json").out).size(), 9U);
  EXPECT_EQ(json::parse(Shell(" equal --json 1 1").out)["verdict"], "equal");
  const json plan = json::parse(Shell(" run --plan --json --width 8").out);
  EXPECT_EQ(plan["total_bytes"].get<int64_t>(), plan["weights_bytes"].get<int64_t>() +
                                                    plan["context_bytes"].get<int64_t>() +
                                                    plan["compute_bytes"].get<int64_t>());
  const TemporaryFolder folder;
  const std::string file = folder.File("s.db");
  const ProcessResult study = Shell(
      " eval --engine scripted --methods sc --row b=sc:width=3 --width 2 --align off --levels 0 "
      "--questions 2 --json --study " +
      file);
  ASSERT_EQ(study.exit_code, 0) << study.err;
  EXPECT_TRUE(json::parse(study.out).is_structured());
  EXPECT_TRUE(json::parse(Shell(" compare --json --study " + file + " sc b").out).is_structured());
  EXPECT_EQ(Shell(" export --json " + file).out, Shell(" export --jsonl " + file).out);
}

TEST(CliOutput, NamesThatAreNotKnownAreRefused) {
  const std::string eval =
      " eval --engine scripted --levels 0 --questions 1 --study /nowhere/s.db ";
  for (const char* rest :
       {"--methods nosuch", "--row foo", "--row a=sc:nosuch=3", "--suite nosuch", "--split nosuch",
        "--levels 9", "--row a=sc:width=2 --row a=sc:width=3"}) {
    const ProcessResult run = Shell(eval + rest);
    EXPECT_EQ(run.exit_code, 64) << rest << run.err;
  }
  EXPECT_EQ(Shell(" serve --engine scripted --method nosuch").exit_code, 64);
  EXPECT_EQ(Shell(" run --engine scripted --answer-kind choice --choices '' x").exit_code, 64);
  EXPECT_EQ(Shell(" equal --max-steps -1 1 1").exit_code, 64);
}

TEST(CliOutput, TwoServersDoNotShareAPort) {
  Process first({HYPER_PROGRAM, "serve", "--engine", "scripted", "--port", "0"});
  std::string port;
  while (port.empty()) {
    usleep(20000);
    const std::string said = first.OutputSoFar();
    const size_t colon = said.rfind(':');
    const size_t slash = said.rfind("/\n");
    port = slash == std::string::npos ? "" : said.substr(colon + 1, slash - colon - 1);
  }
  const ProcessResult second = Shell(" serve --engine scripted --port " + port);
  EXPECT_EQ(second.exit_code, 69);
  EXPECT_NE(second.err.find("cannot listen on"), std::string::npos) << second.err;
  first.Signal(SIGINT);
  EXPECT_EQ(first.Wait().exit_code, 0);
}

}  // namespace
}  // namespace hyper::test

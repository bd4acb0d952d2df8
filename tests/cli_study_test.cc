// hyper eval, inspect, compare, grade and export as processes, on the scripted engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

using nlohmann::json;

ProcessResult RunStudyCommand(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{HYPER_PROGRAM};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProcess(arguments);
}

// A study of sc and hyper over three questions, two repeats.
class StudyCommandsTest : public ::testing::Test {
 protected:
  StudyCommandsTest() {
    const ProcessResult made = RunStudyCommand(
        {"eval", "--engine", "scripted", "--methods", "hyper,sc", "--questions", "3", "--levels",
         "2", "--repeats", "2", "--width", "4", "--study", study_});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }

  TemporaryFolder folder_;
  std::string study_ = folder_.File("study.db");
};

TEST_F(StudyCommandsTest, ExportHoldsEveryAnswerOnce) {
  const ProcessResult jsonl = RunStudyCommand({"export", study_, "--jsonl", "--series"});
  ASSERT_EQ(jsonl.exit_code, 0) << jsonl.err;
  std::istringstream lines(jsonl.out);
  int count = 0;
  int paths_of_sc = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const json item = json::parse(line);
    if (item["run"]["label"] == "sc") {
      paths_of_sc += static_cast<int>(item["paths"].size());
    }
    for (const json& path : item["paths"]) {
      const int own = path["tokens"].get<int>() - path["fork_position"].get<int>();
      EXPECT_EQ(static_cast<int>(path["series"]["token"].size()), own);
    }
  }
  EXPECT_EQ(count, 12);
  const ProcessResult csv = RunStudyCommand({"export", study_, "--csv"});
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 13);
  EXPECT_NE(csv.out.find(",width,"), std::string::npos) << "options are columns";
  const ProcessResult paths =
      RunStudyCommand({"export", study_, "--csv", "--paths", "--row", "sc"});
  EXPECT_EQ(std::count(paths.out.begin(), paths.out.end(), '\n'), 1 + paths_of_sc) << paths.err;
  EXPECT_EQ(RunStudyCommand({"export", study_, "--paths"}).exit_code, 64);
  const ProcessResult row = RunStudyCommand({"export", study_, "--csv", "--row", "sc"});
  EXPECT_EQ(std::count(row.out.begin(), row.out.end(), '\n'), 7);
}

TEST_F(StudyCommandsTest, ARowStaysTheSameRunBesideWiderOnes) {
  const std::string study = folder_.File("wide.db");
  std::vector<std::string> eval = {"eval",    "--engine", "scripted", "--methods",   "sc",
                                   "--align", "off",      "--width",  "4",           "--levels",
                                   "2",       "--study",  study,      "--questions", "2"};
  ASSERT_EQ(RunStudyCommand(eval).exit_code, 0);
  eval.insert(eval.end(), {"--row", "wide=sc:width=32", "--row", "mine=sc"});
  const ProcessResult more = RunStudyCommand(eval);
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_NE(more.err.find("row 'mine' is the same as row 'sc'"), std::string::npos) << more.err;
  // A head, and two answers of each of the two runs.
  const ProcessResult csv = RunStudyCommand({"export", study, "--csv"});
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 5) << csv.out;
  for (const char* row : {"\n1,sc,", "\n2,wide,"}) {
    EXPECT_NE(csv.out.find(row), std::string::npos) << csv.out;
  }
}

TEST_F(StudyCommandsTest, InspectListsThenExplains) {
  const ProcessResult list = RunStudyCommand({"inspect", study_, "#1"});
  ASSERT_EQ(list.exit_code, 0) << list.err;
  EXPECT_NE(list.out.find("sc repeat 1"), std::string::npos) << list.out;
  const ProcessResult one =
      RunStudyCommand({"inspect", study_, "#1", "--row", "hyper", "--repeat", "0"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  for (const char* part : {"\nwhy ", "* length_confidence", "\npaths ", "\ndecisions "}) {
    EXPECT_NE(one.out.find(part), std::string::npos) << part << one.out;
  }
  const ProcessResult object =
      RunStudyCommand({"inspect", study_, "#1", "--row", "sc", "--repeat", "0", "--json"});
  EXPECT_EQ(json::parse(object.out)["run"]["method"], "sc");
}

// As many lines as the JSON of the same study has decisions and values.
TEST_F(StudyCommandsTest, ExportPrintsDecisionsAndSeriesAsTables) {
  const ProcessResult all = RunStudyCommand({"export", study_, "--jsonl", "--series"});
  size_t decisions = 0;
  size_t values = 0;
  std::istringstream lines(all.out);
  for (std::string line; std::getline(lines, line);) {
    const json item = json::parse(line);
    decisions += item["decisions"].size();
    for (const json& path : item["paths"]) {
      for (const json& series : path["series"]) {
        values += series.size();
      }
    }
  }
  const auto exported = [&](const char* part, const std::string& pattern) {
    const ProcessResult csv = RunStudyCommand({"export", study_, "--csv", part});
    EXPECT_EQ(csv.exit_code, 0) << csv.err;
    const std::regex wanted(pattern);
    size_t found = 0;
    std::istringstream table(csv.out);
    for (std::string line; std::getline(table, line);) {
      found += std::regex_match(line, wanted) ? 1 : 0;
    }
    return found;
  };
  EXPECT_GT(decisions, 0U);
  EXPECT_EQ(exported("--decisions", "[0-9].*"), decisions);
  // Series of the whole pool, which have no path, are not in that JSON.
  EXPECT_EQ(exported("--series", "[0-9]+(,[^,]*){10},[0-9]+,.*"), values);
}

// The same answers as a count over the export.
TEST_F(StudyCommandsTest, InspectListsAnswersThatMeetConditions) {
  const ProcessResult all = RunStudyCommand({"export", study_});
  std::map<std::tuple<std::string, std::string, int>, json> items;
  std::istringstream lines(all.out);
  for (std::string line; std::getline(lines, line);) {
    json item = json::parse(line);
    const std::tuple<std::string, std::string, int> key(item["run"]["label"],
                                                        item["question"]["name"], item["repeat"]);
    items[key] = std::move(item);
  }
  const auto count = [&](const auto& meets) {
    return std::count_if(items.begin(), items.end(), meets);
  };
  const auto listed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"inspect", study_, "--json"};
    command.insert(command.end(), more.begin(), more.end());
    const ProcessResult list = RunStudyCommand(command);
    EXPECT_EQ(list.exit_code, 0) << list.err;
    return std::count(list.out.begin(), list.out.end(), '\n');
  };
  const auto is = [](const json& item, const char* verdict) {
    return item["grade"]["verdict"] == verdict;
  };
  EXPECT_EQ(listed({"--where", "wrong"}),
            count([&](const auto& e) { return is(e.second, "wrong"); }));
  EXPECT_EQ(listed({"--where", "right", "--row", "sc"}), count([&](const auto& e) {
              return std::get<0>(e.first) == "sc" && is(e.second, "right");
            }));
  EXPECT_EQ(listed({"--where", "sc wrong, hyper wrong"}), count([&](const auto& e) {
              const auto& [label, question, repeat] = e.first;
              return (label == "sc" || label == "hyper") &&
                     is(items.at({"sc", question, repeat}), "wrong") &&
                     is(items.at({"hyper", question, repeat}), "wrong");
            }));
  EXPECT_EQ(listed({"--where", "disagree"}), count([](const auto& e) {
              const auto votes = e.second["votes"].items();
              return std::any_of(votes.begin(), votes.end(), [&](const auto& vote) {
                const json& answer = vote.value()["answer"];
                return vote.key() != e.second["vote_rule"] && !answer.is_null() &&
                       answer != e.second["answer"];
              });
            }));
  const ProcessResult text = RunStudyCommand({"inspect", study_, "--where", "wrong"});
  EXPECT_NE(text.out.find(" answers\n"), std::string::npos) << text.out;
  EXPECT_EQ(RunStudyCommand({"inspect", study_, "--where", "magic"}).exit_code, 64);
  EXPECT_EQ(RunStudyCommand({"inspect", study_, "--where", "nobody right"}).exit_code, 66);
  EXPECT_EQ(RunStudyCommand({"inspect", study_}).exit_code, 64);
}

TEST_F(StudyCommandsTest, CompareRowsAndStudies) {
  const ProcessResult rows =
      RunStudyCommand({"compare", "--study", study_, "hyper", "sc", "--format", "json"});
  ASSERT_EQ(rows.exit_code, 0) << rows.err;
  EXPECT_EQ(json::parse(rows.out)["rows"].size(), 1U);
  const ProcessResult same =
      RunStudyCommand({"compare", study_ + ":sc", study_ + ":sc", "--format", "csv"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  const ProcessResult both = RunStudyCommand({"compare", study_, study_, "--format", "json"});
  EXPECT_EQ(json::parse(both.out)["rows"].size(), 2U);
}

TEST_F(StudyCommandsTest, APoolIsVotedOnWithoutAnEngine) {
  const std::vector<std::string> eval = {"eval",    "--methods", "sc,bon,deepconf-offline",
                                         "--width", "2",         "--resamples",
                                         "4",       "--format",  "csv",
                                         "--pool"};
  std::vector<std::string> from_study = eval;
  from_study.push_back(study_ + ":sc");
  const ProcessResult first = RunStudyCommand(from_study);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(std::count(first.out.begin(), first.out.end(), '\n'), 4);
  const ProcessResult exported =
      RunStudyCommand({"export", study_, "--jsonl", "--series", "--row", "sc"});
  std::vector<std::string> from_export = eval;
  from_export.push_back(WriteFile(folder_.File("pool.jsonl"), exported.out));
  EXPECT_EQ(RunStudyCommand(from_export).out, first.out);
  std::vector<std::string> hyper = from_study;
  hyper[2] = "hyper";
  EXPECT_EQ(RunStudyCommand(hyper).exit_code, 64);
}

TEST_F(StudyCommandsTest, TracesOfRunsAreAPool) {
  std::string traces;
  json answers = json::array();
  for (const char* seed : {"1", "2"}) {
    const std::string trace = folder_.File("t.jsonl");
    const ProcessResult run =
        RunStudyCommand({"run", "--engine", "scripted", "--method", "sc", "--width", "6", "--stop",
                         "never", "--seed", seed, "--json", "--trace", trace, "How many?"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    answers.push_back(json::parse(run.out)["answer"]);
    traces += ReadWholeFile(trace);
  }
  const std::string data = WriteFile(folder_.File("golds.jsonl"),
                                     R"({"id": "a", "question": "How many?", "answer": 42})");
  const std::string pool = WriteFile(folder_.File("traces.jsonl"), traces);
  const std::string study = folder_.File("pool.db");
  const ProcessResult voted = RunStudyCommand(
      {"eval", "--pool", pool, "--methods", "sc,self-certainty,deepconf", "--warmup", "2",
       "--width", "4", "--suite", "gsm8k", "--data", data, "--study", study, "--format", "json"});
  ASSERT_EQ(voted.exit_code, 0) << voted.err;
  EXPECT_EQ(json::parse(voted.out)["rows"].size(), 3U);
  std::istringstream lines(RunStudyCommand({"export", study, "--jsonl"}).out);
  int graded = 0;
  for (std::string line; std::getline(lines, line);) {
    const json item = json::parse(line);
    EXPECT_EQ(item["question"]["name"], "a");
    const char* verdict = item["answer"] == "42" ? "right" : "wrong";
    EXPECT_EQ(item["grade"]["verdict"], verdict) << line;
    ++graded;
  }
  EXPECT_EQ(graded, 6);
  // All six paths of each run: the vote of the run itself.
  const ProcessResult whole = RunStudyCommand({"eval", "--pool", pool, "--methods", "sc", "--study",
                                               folder_.File("whole.db"), "--format", "csv"});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  std::istringstream again(RunStudyCommand({"export", folder_.File("whole.db"), "--jsonl"}).out);
  for (const json& answer : answers) {
    std::string line;
    ASSERT_TRUE(std::getline(again, line));
    EXPECT_EQ(json::parse(line)["answer"], answer);
    EXPECT_EQ(json::parse(line)["grade"]["verdict"], "not_graded");
  }
}

TEST_F(StudyCommandsTest, EveryTableOfAStudy) {
  const ProcessResult tables =
      RunStudyCommand({"eval", "--report-only", "--study", study_, "--table", "all"});
  ASSERT_EQ(tables.exit_code, 0) << tables.err;
  for (const char* title : {"as checklists", "Ablation I:", "Ablation II:", "pass@k",
                            "equal effective tokens", "step-level tree search"}) {
    EXPECT_NE(tables.out.find(title), std::string::npos) << title;
  }
  EXPECT_EQ(RunStudyCommand({"eval", "--report-only", "--study", study_, "--methods", "all"}).out,
            tables.out);
  const auto as = [&](const char* form) {
    const ProcessResult result = RunStudyCommand(
        {"eval", "--report-only", "--study", study_, "--table", "all", "--format", form});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const json all = json::parse(as("json"));
  EXPECT_GE(all.size(), 12U);
  for (const json& table : all) {
    EXPECT_FALSE(table["rows"].empty()) << table["name"];
  }
  const std::string latex = as("latex");
  const auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count(latex, "\\begin{table}"), all.size());
  EXPECT_EQ(count(latex, "\\end{table}"), all.size());
  EXPECT_EQ(count(as("csv"), "\n\n"), all.size() - 1);
  EXPECT_EQ(count(as("markdown"), "\n| ---"), all.size());
}

// Scripts and numbers are always written; pictures where gnuplot is installed.
TEST_F(StudyCommandsTest, FiguresAreDrawnWithTheirNumbers) {
  const std::string out = folder_.File("pictures");
  const ProcessResult bare = RunProcess({"/usr/bin/env", "PATH=/nowhere", HYPER_PROGRAM, "figures",
                                         study_, "--only", "1,tokens,12", "--out", out});
  ASSERT_EQ(bare.exit_code, 0) << bare.err;
  EXPECT_NE(bare.err.find("gnuplot-nox"), std::string::npos) << bare.err;
  EXPECT_NE(bare.out.find("12 sensitivity is not drawn: no two rows"), std::string::npos)
      << bare.out;
  EXPECT_EQ(NamesIn(out), (std::vector<std::string>{"fig01-paths.csv", "fig01-paths.gp",
                                                    "tokens.csv", "tokens.gp"}));
  EXPECT_EQ(ReadWholeFile(out + "/fig01-paths.csv").rfind("panel,series,", 0), 0U);
  if (RunProcess({"/bin/sh", "-c", "command -v gnuplot"}).exit_code != 0) {
    GTEST_SKIP() << "gnuplot is not installed";
  }
  const ProcessResult drawn =
      RunStudyCommand({"figures", study_, "--format", "svg,pdf,png", "--out", out});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_EQ(drawn.err, "") << "gnuplot has nothing to complain of";
  for (const std::string& name : NamesIn(out)) {
    if (name.find(".gp") == std::string::npos) {
      continue;
    }
    const std::string base = out + "/" + name.substr(0, name.size() - 3);
    const std::string svg = ReadWholeFile(base + ".svg");
    // Each axis and each name of the key is there as text, so no panel is empty.
    std::istringstream script(ReadWholeFile(out + "/" + name));
    for (std::string line; std::getline(script, line);) {
      for (const std::string start : {"set xlabel '", "set ylabel '", "set title '"}) {
        if (line.rfind(start, 0) == 0) {
          const std::string label =
              line.substr(start.size(), line.find('\'', start.size()) - start.size());
          EXPECT_NE(svg.find(label), std::string::npos) << name << ": " << label;
        }
      }
    }
    EXPECT_EQ(ReadWholeFile(base + ".pdf").rfind("%PDF", 0), 0U) << name;
    EXPECT_EQ(ReadWholeFile(base + ".png").substr(1, 3), "PNG") << name;
  }
}

TEST_F(StudyCommandsTest, ReportIsOnePage) {
  const std::string page = folder_.File("page.html");
  const ProcessResult made = RunStudyCommand({"report", study_, study_, "-o", page});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out, page + "\n");
  const std::string html = ReadWholeFile(page);
  for (const char* part : {"<h3>study.db</h3>", "Figure 1: ", "Not drawn: ", "pass@k",
                           "--row sc=sc", "reserved-lanes"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  const bool gnuplot = RunProcess({"/bin/sh", "-c", "command -v gnuplot"}).exit_code == 0;
  EXPECT_EQ(html.find("<svg") != std::string::npos, gnuplot);
  const std::string markdown = folder_.File("page.md");
  ASSERT_EQ(RunStudyCommand({"report", study_, "-o", markdown}).exit_code, 0);
  EXPECT_NE(ReadWholeFile(markdown).find("# study.db"), std::string::npos);
  EXPECT_NE(ReadWholeFile(markdown).find("[Numbers](page.figures/fig01-paths.csv)"),
            std::string::npos);
  EXPECT_EQ(ReadWholeFile(folder_.File("page.figures/fig01-paths.csv")).find("panel,series,"), 0U);
  if (gnuplot) {
    EXPECT_NE(ReadWholeFile(markdown).find("](page.figures/fig01-paths.svg)"), std::string::npos);
    EXPECT_NE(ReadWholeFile(folder_.File("page.figures/fig01-paths.svg")).find("<svg"),
              std::string::npos);
  }
}

// The rows of a report's command are the runs of the study: giving it again makes nothing new.
TEST_F(StudyCommandsTest, TheCommandOfAReportRepeatsTheStudy) {
  const std::string page = folder_.File("page.md");
  ASSERT_EQ(RunStudyCommand({"report", study_, "-o", page}).exit_code, 0);
  const std::string text = ReadWholeFile(page);
  const size_t start = text.find("hyper eval ");
  ASSERT_NE(start, std::string::npos);
  std::string command = text.substr(start, text.find('\n', start) - start);
  command.replace(0, 5, HYPER_PROGRAM);
  command.replace(command.find("--model MODEL"), 13, "--engine scripted --resume");
  const ProcessResult again = RunProcess({"/bin/sh", "-c", command});
  ASSERT_EQ(again.exit_code, 0) << command << again.err;
  const ProcessResult csv = RunStudyCommand({"export", study_, "--csv"});
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 13) << command;
}

TEST_F(StudyCommandsTest, ASweepIsAStudyThatStopsAndGoesOn) {
  const std::string study = folder_.File("sweep.db");
  std::vector<std::string> command = {"sweep",
                                      "--engine",
                                      "scripted",
                                      "--methods",
                                      "hyper,sc",
                                      "--grid",
                                      "width=3,4 eta=0.2",
                                      "--questions",
                                      "2",
                                      "--levels",
                                      "2",
                                      "--json",
                                      "--study",
                                      study};
  std::vector<std::string> limited = command;
  limited.insert(limited.end(), {"--study-tokens", "1"});
  const ProcessResult first = RunStudyCommand(limited);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("1/14 "), std::string::npos) << first.err;
  EXPECT_EQ(first.err.find("2/14 "), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("stopped by --study-tokens"), std::string::npos) << first.err;
  const ProcessResult rest = RunStudyCommand(command);
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(("\n" + rest.err).find("\n1/14 "), std::string::npos) << "made already";
  EXPECT_NE(rest.err.find("14/14 "), std::string::npos) << rest.err;
  for (const char* row : {"\"hyper\"", "\"hyper width=3\"", "\"hyper width=4\"",
                          "\"hyper eta=0.2\"", "\"sc\"", "\"sc width=3\"", "\"sc width=4\""}) {
    EXPECT_NE(rest.out.find(row), std::string::npos) << row << rest.out;
  }
  command[6] = "eta=0.2,5";
  EXPECT_EQ(RunStudyCommand(command).exit_code, 64);
  command[4] = "sc";
  command[6] = "eta=0.2";
  const ProcessResult unread = RunStudyCommand(command);
  EXPECT_EQ(unread.exit_code, 64);
  EXPECT_NE(unread.err.find("none of the methods reads it"), std::string::npos) << unread.err;
}

TEST_F(StudyCommandsTest, GradingAgainChangesNothing) {
  const ProcessResult text = RunStudyCommand({"grade", study_});
  EXPECT_EQ(text.out, "12 answers graded, 0 verdicts changed\n") << text.err;
  const ProcessResult object = RunStudyCommand({"grade", study_, "--json"});
  EXPECT_EQ(json::parse(object.out), json::parse(R"({"graded": 12, "changes": []})"));
}

TEST_F(StudyCommandsTest, MistakesAreOneLineAndAnExitCode) {
  const std::vector<std::pair<std::vector<std::string>, int>> cases = {
      {{"inspect", study_, "nothing"}, 66},
      {{"inspect", study_, "#1", "--row", "magic"}, 66},
      {{"inspect", study_, "tinymath"}, 64},
      {{"inspect", study_, "#1", "--repeat", "x"}, 64},
      {{"inspect", folder_.File("missing.db"), "#1"}, 66},
      {{"compare", "hyper", "sc"}, 66},
      {{"compare", "--study", study_, "hyper", "magic"}, 66},
      {{"compare", study_, study_, "--format", "pdf"}, 64},
      {{"export", study_, "--csv", "--series", "--paths"}, 64},
      {{"export", study_, "--decisions"}, 64},
      {{"figures"}, 64},
      {{"report"}, 64},
      {{"report", study_, "-o", "/proc/none/page.html"}, 66},
      {{"figures", study_, "--only", "99"}, 64},
      {{"figures", study_, "--format", "gif"}, 64},
      {{"figures", study_, "--out", "/proc/none"}, 66},
      {{"grade", WriteFile(folder_.File("text.db"), "no database at all, but long enough\n")}, 65},
      {{"export"}, 64},
  };
  for (const auto& [arguments, code] : cases) {
    const ProcessResult result = RunStudyCommand(arguments);
    EXPECT_EQ(result.exit_code, code) << arguments[0] << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace hyper::test

// hyper grade: verdicts over the stored answers once more, without generating anything.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/input/secret.h"
#include "apps/hyper/printers/judge_line.h"
#include "src/eval/grade/study_grades.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

constexpr const char* kGradeCommand = "grade";
constexpr const char* kGradeFooter = R"(Examples:
  hyper grade study.db
  hyper grade study.db --json
  HYPER_JUDGE_KEY=... hyper grade hle.db --judge https://host/v1 \
    --judge-model NAME

Grades every stored answer by the present rules against the present gold of its question and lists
the verdicts that have changed. Nothing is generated.

--judge is the address of an OpenAI-compatible API, without /chat/completions. Its model is asked
about each answer that the rules leave undecided or not graded (free text that does not equal its
gold), once for equal answers. Its last line "correct: yes" or "correct: no" is the verdict. A busy
judge is asked again. An interrupted command continues where it stopped. Exit codes are those of
hyper run.)";

struct GradeFlags {
  std::string study;
  bool json = false;
  eval::JudgeOptions judge;  // without a URL: none
};

// A changed verdict in words.
struct ChangeLine {
  std::string row;
  std::string question;
  int repeat = 0;
  std::string gold;
  std::optional<std::string> answer;
  std::optional<std::string> before;
  std::string after;
};

Result<std::vector<ChangeLine>> Describe(Store& store,
                                         const std::vector<eval::GradeChange>& changes) {
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) {
    return runs.error();
  }
  const Result<std::vector<StoredQuestion>> questions = store.Questions();
  if (!questions) {
    return questions.error();
  }
  std::map<int64_t, const StoredRun*> run_of;
  for (const StoredRun& run : *runs) {
    run_of[run.id] = &run;
  }
  std::map<int64_t, const StoredQuestion*> question_of;
  for (const StoredQuestion& question : *questions) {
    question_of[question.id] = &question;
  }
  std::vector<ChangeLine> lines;
  for (const eval::GradeChange& change : changes) {
    const StoredQuestion& question = *question_of.at(change.key.question);
    ChangeLine line{run_of.at(change.key.run)->label,
                    question.name,
                    change.key.repeat,
                    question.gold,
                    change.answer,
                    std::nullopt,
                    NameOf(change.after)};
    if (change.before) {
      line.before = NameOf(*change.before);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string AsText(const GradeFlags& flags, const eval::GradingReport& report,
                   const std::vector<ChangeLine>& lines) {
  std::string text = flags.judge.url.empty() ? "" : JudgeLine(flags.judge, report);
  text += fmt::format("{} answers graded, {} {} changed\n", report.graded, lines.size(),
                      lines.size() == 1 ? "verdict" : "verdicts");
  for (const ChangeLine& line : lines) {
    text += fmt::format("{} {} repeat {}: {} -> {} (gold {}, answer {})\n", OneLine(line.row),
                        OneLine(line.question), line.repeat, line.before.value_or("none"),
                        line.after, OneLine(line.gold), OneLine(line.answer.value_or("none")));
  }
  return text;
}

std::string AsJson(const GradeFlags& flags, const eval::GradingReport& report,
                   const std::vector<ChangeLine>& lines) {
  Json changes = Json::array();
  for (const ChangeLine& line : lines) {
    changes.push_back({{"row", line.row},
                       {"question", line.question},
                       {"repeat", line.repeat},
                       {"gold", line.gold},
                       {"answer", line.answer ? Json(*line.answer) : Json(nullptr)},
                       {"before", line.before ? Json(*line.before) : Json(nullptr)},
                       {"after", line.after}});
  }
  Json object = {{"graded", report.graded}, {"changes", std::move(changes)}};
  if (!flags.judge.url.empty()) {
    object["judge"] = {{"name", eval::JudgeName(flags.judge)},
                       {"asked", report.judged()},
                       {"right", report.judged_right},
                       {"wrong", report.judged_wrong},
                       {"no_verdict", report.judged_open}};
  }
  return DumpJson(object) + "\n";
}

}  // namespace

int GradeCommand(int argc, const char* const* argv) {
  GradeFlags flags;
  CLI::App app("Grades the answers of a study again and lists the verdicts that changed.");
  SetUpParser(app, kGradeCommand, kGradeFooter);
  app.add_flag("--json", flags.json, "one JSON object: graded, changes");
  app.add_option("--judge", flags.judge.url, "API of a judge of what the rules leave open [none]")
      ->type_name("URL");
  app.add_option("--judge-model", flags.judge.model, "model that the judge uses [its default]")
      ->type_name("NAME");
  app.add_option("STUDY", flags.study, "file of the study")->type_name("")->required();
  if (const std::optional<int> done = ParseCommandLine(app, kGradeCommand, argc, argv)) {
    return *done;
  }
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kExisting);
  if (!store) {
    return Complain(kGradeCommand, store.error());
  }
  flags.judge.key = FromEnvironment({"HYPER_JUDGE_KEY"});
  const Result<eval::GradingReport> report =
      eval::GradeStudy(*store, /*all=*/true, flags.judge.url.empty() ? nullptr : &flags.judge);
  if (!report) {
    return Complain(kGradeCommand, report.error());
  }
  const Result<std::vector<ChangeLine>> lines = Describe(*store, report->changes);
  if (!lines) {
    return Complain(kGradeCommand, lines.error());
  }
  const std::string text =
      flags.json ? AsJson(flags, *report, *lines) : AsText(flags, *report, *lines);
  return PrintResult(kGradeCommand, text) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app

// hyper log and hyper again: the runs of this user, and one of them repeated.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/run_flags.h"
#include "apps/hyper/printers/screen_line.h"
#include "apps/hyper/run_log.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

constexpr const char* kLogCommand = "log";
constexpr const char* kLogFooter = R"(Examples:
  hyper log
  hyper log -n 100 --json
  hyper log run_1

The log is a run store: hyper inspect, export and serve --store read it too. It keeps the newest
1,000 runs; --no-log of hyper run keeps a run out of it. Exit codes are those of hyper run.)";

// One line of the list.
std::string RunLine(const LoggedRun& run) {
  constexpr int kColumns = 80;
  const auto seconds = static_cast<std::time_t>(run.stored_at);
  ScreenLine line(kColumns);
  line.Add(run.id).To(10).Add(fmt::format("{:%Y-%m-%d %H:%M}  ", fmt::localtime(seconds)));
  line.Add(FirstColumns(run.method, 12)).To(41);
  line.Add(run.answer.empty() ? "none" : FirstColumns(OneLine(run.answer), 12)).To(54);
  const std::string question = OneLine(run.question);
  const std::string shown(FirstColumns(question, kColumns - 55));
  const bool cut = shown.size() < question.size();
  return line.Add(" " + (cut ? std::string(FirstColumns(question, kColumns - 58)) + "..." : shown))
             .Text(/*colour=*/false) +
         "\n";
}

Json RunJson(const LoggedRun& run) {
  return {{"id", run.id},
          {"stored_at", run.stored_at},
          {"method", run.method},
          {"status", run.status},
          {"tokens", run.tokens},
          {"paths", run.paths},
          {"answer", run.answer.empty() ? Json() : Json(run.answer)},
          {"question", run.question}};
}

// The name of an argument such as "--width=8".
std::string NameOf(const std::string& argument) { return argument.substr(0, argument.find('=')); }

}  // namespace

int LogCommand(int argc, const char* const* argv) {
  std::string run;
  int count = 20;
  bool json = false;
  CLI::App app("Lists the runs of hyper run, or explains one of them.");
  SetUpParser(app, kLogCommand, kLogFooter);
  app.add_option("RUN", run, "explain this run as hyper inspect does")->type_name("");
  app.add_option("-n,--count", count, "how many runs, the newest first [20]")
      ->check(CLI::Range(1, 1000).description(""))
      ->type_name("N");
  app.add_flag("--json", json, "print a JSON object for each run");
  if (const std::optional<int> done = ParseCommandLine(app, kLogCommand, argc, argv)) {
    return *done;
  }
  if (!run.empty()) {
    if (const auto logged = FindLogged(run); !logged) {
      return Complain(kLogCommand, logged.error());
    }
    const std::string file = LogFile();
    const std::vector<const char*> arguments = {"inspect", file.c_str(), run.c_str(),
                                                json ? "--json" : "--texts"};
    return InspectCommand(static_cast<int>(arguments.size()), arguments.data());
  }
  const Result<std::vector<LoggedRun>> runs = NewestRuns(count);
  if (!runs) {
    return Complain(kLogCommand, runs.error());
  }
  std::string text;
  for (const LoggedRun& one : *runs) {
    text += json ? DumpJson(RunJson(one)) + "\n" : RunLine(one);
  }
  return PrintResult(kLogCommand, text) ? kExitOk : kExitOutput;
}

int AgainCommand(int argc, const char* const* argv) {
  std::string id;
  std::vector<std::string> changes;
  if (const std::optional<int> done = ParseAgainFlags(argc, argv, &id, &changes)) {
    return *done;
  }
  const Result<std::vector<std::string>> logged = LoggedArguments(id);
  if (!logged) {
    return Complain(kAgainCommand, logged.error());
  }
  std::vector<std::string> arguments = {kRunCommand};
  arguments.insert(arguments.end(), changes.begin(), changes.end());
  bool behind_question = false;
  for (const std::string& argument : *logged) {
    behind_question = behind_question || argument == "--";
    const bool changed =
        !behind_question && std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
          return NameOf(change) == NameOf(argument);
        });
    if (!changed) {
      arguments.push_back(argument);
    }
  }
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }
  return RunCommand(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace hyper::app

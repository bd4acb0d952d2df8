// hyper data: the questions of suites, fetched from a hub.
#include "apps/hyper/commands/data_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/input/secret.h"
#include "apps/hyper/models/model_fetch.h"
#include "src/eval/data/hub.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

constexpr const char* kDataCommand = "data";
constexpr const char* kDataFooter = R"(Examples:
  hyper data list
  hyper data get math500
  HF_TOKEN=... hyper data get hle --output hle.jsonl
  hyper data get math500 --file test.jsonl
  hyper eval --suite math500 --data math500.jsonl

Questions come from the Hugging Face Hub. --hub or HYPER_HUB names another one: the address of its
service for rows (GET ADDRESS/rows), or, with --file, of the hub itself
(GET ADDRESS/datasets/NAME/resolve/main/FILE). An interrupted
fetch continues where it stopped. Exit codes are those of hyper run.)";

struct DataFlags {
  std::string suite;
  std::string hub;
  std::string file;
  std::string output;
};

int List(bool as_json) {
  std::string text;
  Json list = Json::array();
  for (const std::string& name : eval::SuiteNames()) {
    const Result<eval::Suite> suite = eval::LoadSuite(name);
    if (!suite) {
      return Complain(kDataCommand, suite.error());
    }
    const std::string source =
        suite->hub ? fmt::format("{} {} {}{}", suite->hub->dataset, suite->hub->config,
                                 suite->hub->split, suite->hub->gated ? ", gated" : "")
                   : std::string(suite->own_questions ? "plugin" : "bundled");
    text += fmt::format("{:<10} {} ({})\n", name, suite->title, source);
    list.push_back({{"name", name}, {"title", suite->title}, {"source", source}});
  }
  return PrintResult(kDataCommand, as_json ? DumpJson(list, 2) + "\n" : text) ? kExitOk
                                                                              : kExitOutput;
}

void ShowDownload(int64_t done, int64_t all) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal) {
    return;
  }
  Tell(fmt::format("\r\033[K{}{}", done, all > 0 ? fmt::format("/{} rows", all) : " bytes"));
}

// The request that the flags make.
Result<eval::HubRequest> RequestOf(const DataFlags& flags) {
  const Result<eval::Suite> suite = eval::LoadSuite(flags.suite);
  if (!suite) {
    return suite.error();
  }
  if (!suite->hub) {
    return InvalidArgument("the questions of " + suite->name + " come with " +
                           (suite->own_questions ? "its plugin" : "hyper") +
                           "; there is nothing to fetch");
  }
  eval::HubRequest request;
  request.base = HubAddress(flags.hub, flags.file.empty() ? kPublicRows : kPublicHub);
  request.source = *suite->hub;
  request.file = flags.file;
  request.token = FromEnvironment({"HF_TOKEN"});
  request.target = flags.output.empty() ? suite->name + ".jsonl" : flags.output;
  request.progress = ShowDownload;
  request.wait = [](double seconds) {
    Warn(kDataCommand,
         fmt::format("the hub is busy or cannot be reached; waiting {:.0f} s", seconds));
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  return request;
}

int Get(const DataFlags& flags) {
  const Result<eval::HubRequest> request = RequestOf(flags);
  if (!request) {
    return Complain(kDataCommand, request.error());
  }
  const Result<eval::HubResult> result = eval::FetchDataSet(*request);
  if (isatty(STDERR_FILENO) != 0) {
    Tell("\n");
  }
  if (!result) {
    return Complain(kDataCommand, result.error());
  }
  const std::string text =
      fmt::format("{}: {} rows, sha256 {}{}\n", OneLine(request->target), result->rows,
                  result->sha256, result->present ? ", fetched before" : "");
  return PrintResult(kDataCommand, text) ? kExitOk : kExitOutput;
}

}  // namespace

int DataCommand(int argc, const char* const* argv) {
  DataFlags flags;
  CLI::App app("Fetches the questions of a suite from a hub into a JSONL file.");
  SetUpParser(app, kDataCommand, kDataFooter);
  app.require_subcommand(1);
  CLI::App* list = app.add_subcommand("list", "the suites, and where their questions are");
  bool as_json = false;
  list->add_flag("--json", as_json, "a JSON array");
  CLI::App* get = app.add_subcommand("get", "fetch the questions of a suite");
  const auto text = [&](const char* name, std::string& value, const char* help, const char* type) {
    return get->add_option(name, value, help)->type_name(type);
  };
  text("--hub", flags.hub, "address of another hub [HYPER_HUB]", "ADDRESS");
  text("--file", flags.file, "a JSONL file of the data set in place of its rows", "FILE");
  text("--output", flags.output, "file to write [SUITE.jsonl]", "FILE");
  text("SUITE", flags.suite, "suite by name, or a JSON file of one", "")->required();
  if (const std::optional<int> done = ParseCommandLine(app, kDataCommand, argc, argv)) {
    return *done;
  }
  return list->parsed() ? List(as_json) : Get(flags);
}

}  // namespace hyper::app

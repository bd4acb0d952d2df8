// hyper probe: what a server with an OpenAI API can do for hyper.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/flags/engine_flags.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

constexpr const char* kProbeCommand = "probe";
constexpr const char* kProbeFooter =
    "Examples:\n  hyper probe http://127.0.0.1:8080/v1\n"
    "  hyper probe --json http://first:8000/v1,http://second:8000/v1\n\n"
    "The same probe comes before every run with --engine URL (docs/remote.md).";

std::string ReportText(const ServerReport& report) {
  std::string text = report.url + "\n";
  for (const ServerFinding& finding : report.findings) {
    text += fmt::format("  {:<24} {}\n", finding.name, OneLine(finding.value));
  }
  for (const std::string& workaround : report.workarounds) {
    text += "  note: " + OneLine(workaround) + "\n";
  }
  return text;
}

std::string ReportJsonText(const ServerReport& report) {
  Json object = {{"url", report.url}, {"model", report.model}, {"findings", Json::object()}};
  for (const ServerFinding& finding : report.findings) {
    object["findings"][finding.name] = finding.value;
  }
  object["workarounds"] = report.workarounds;
  return DumpJson(object, 2) + "\n";
}

}  // namespace

int ProbeCommand(int argc, const char* const* argv) {
  CLI::App app("Finds out what a server with an OpenAI API can do, and what is worked around.");
  EngineFlags flags;
  bool json = false;
  SetUpParser(app, kProbeCommand, kProbeFooter);
  app.add_option("url", flags.engine,
                 "base URL, such as http://127.0.0.1:8000/v1; separate several with commas")
      ->type_name("URL")
      ->required();
  app.add_option("--model", flags.model, "model as the server names it [the first it lists]")
      ->type_name("NAME");
  app.add_flag("--json", json, "print one JSON object per server");
  AddServerFlags(app, flags);
  if (const std::optional<int> done = ParseCommandLine(app, kProbeCommand, argc, argv)) {
    return *done;
  }
  if (!IsRemote(flags.engine)) {
    return Complain(kProbeCommand,
                    InvalidArgument(fmt::format("'{}' is no URL; name a server such as "
                                                "http://127.0.0.1:8000/v1",
                                                flags.engine)));
  }
  if (Status status = CheckEngineFlags(flags); !status) {
    return Complain(kProbeCommand, status.error());
  }
  for (const std::string& one : flags.remote.urls) {
    const Result<ServerReport> report = ProbeServer(one, flags.remote);
    if (!report) {
      return Complain(kProbeCommand, report.error());
    }
    if (!PrintResult(kProbeCommand, json ? ReportJsonText(*report) : ReportText(*report))) {
      return kExitOutput;
    }
  }
  return kExitOk;
}

}  // namespace hyper::app

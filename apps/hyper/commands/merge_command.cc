// hyper merge: the parts of a study as one.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "src/store/merge.h"

namespace hyper::app {
namespace {

constexpr const char* kMergeCommand = "merge";
constexpr const char* kMergeFooter = R"(Examples:
  hyper eval --levels 2 --questions 4 --align off --shard 1/2 --study part1.db
  hyper eval --levels 2 --questions 4 --align off --shard 2/2 --study part2.db
  hyper merge part1.db part2.db -o all.db

The merged study holds what one program would have stored. Studies that contradict each other (an
answer, a gold, the settings of a row) are refused. The parts stay as they are. Exit codes are those
of hyper run.)";

}  // namespace

int MergeCommand(int argc, const char* const* argv) {
  std::vector<std::string> studies;
  std::string output;
  CLI::App app("Makes one study of the parts of one.");
  SetUpParser(app, kMergeCommand, kMergeFooter);
  app.add_option("-o,--output", output, "file of the merged study")->type_name("FILE")->required();
  app.add_option("STUDY", studies, "files of the parts")->type_name("")->required();
  if (const std::optional<int> done = ParseCommandLine(app, kMergeCommand, argc, argv)) {
    return *done;
  }
  const Result<MergeReport> report = MergeStudies(studies, output);
  if (!report) {
    return Complain(kMergeCommand, report.error());
  }
  const std::string repeated =
      report->repeated > 0 ? fmt::format("; {} were in several studies", report->repeated) : "";
  const std::string line = fmt::format("{}: {} {}, {} rows, {} questions, {} answers{}\n", output,
                                       studies.size(), studies.size() == 1 ? "study" : "studies",
                                       report->runs, report->questions, report->items, repeated);
  return PrintResult(kMergeCommand, line) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app

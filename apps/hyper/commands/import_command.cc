// hyper import: a study out of pools that others have published.
#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/pool_study.h"
#include "src/eval/run/probed_pool.h"

namespace hyper::app {
namespace {

constexpr const char* kImportCommand = "import";
constexpr const char* kImportFooter = R"(Examples:
  hyper import Parallel-Probe --study pools.db
  hyper import Parallel-Probe/evaluation/Qwen3-8B-128 \
    --study strings.db --strings
  hyper eval --pool pools.db:sc --methods sc --row stopped=sc:width=16,stop=0.95

FOLDER is a checkout of github.com/zhengkid/Parallel-Probe, or a folder of its pools. The study gets
one row, sc, with the answers and lengths of all paths. docs/real_pools.md tells which methods can
run on it. Exit codes are those of hyper run.)";

struct ImportFlags {
  std::string folder;
  std::string study;
  bool strings = false;
};

Result<std::string> Import(const ImportFlags& flags) {
  const Result<eval::TracePool> pool = eval::ReadProbedFolder(
      flags.folder, flags.strings ? eval::AnswerEquality::kStrings : eval::AnswerEquality::kMaths);
  if (!pool) {
    return pool.error();
  }
  const int paths = eval::FewestTraces(*pool);
  const Result<RunPlan> all = ResolveRun(
      {"sc", "paper", {{"width", paths}, {"max-tokens", eval::LongestTrace(*pool)}}, {}}, {});
  if (!all) {
    return all.error();
  }
  eval::PoolStudyPlan plan;
  plan.rows = {{pool->made_by.label, *all, {}}};
  plan.source = "Parallel-Probe";
  plan.program_version = HYPER_VERSION;
  plan.settings = pool->made_by.settings;
  plan.is_pool = true;
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kCreate);
  if (!store) {
    return store.error();
  }
  if (const auto runs = eval::RunPoolStudy(*pool, plan, *store); !runs) {
    return runs.error();
  }
  std::set<std::string> groups;
  for (const eval::PoolEntry& entry : pool->entries) {
    groups.insert(entry.question.group);
  }
  return fmt::format("{}: row {} of {}, {} questions ({}), {} paths each\n", flags.study,
                     pool->made_by.label, pool->made_by.model, pool->entries.size(),
                     fmt::join(groups, ", "), paths);
}

}  // namespace

int ImportCommand(int argc, const char* const* argv) {
  ImportFlags flags;
  CLI::App app("Makes a study of pools that Parallel-Probe publishes, for hyper eval --pool.");
  SetUpParser(app, kImportCommand, kImportFooter);
  app.add_option("--study", flags.study, "file of the study")->type_name("FILE")->required();
  app.add_flag("--strings", flags.strings,
               "answers are equal where their strings are, as Parallel-Probe's own program has it "
               "[by mathematics]");
  app.add_option("FOLDER", flags.folder, "a checkout, or a folder of pools")
      ->type_name("")
      ->required();
  if (const std::optional<int> done = ParseCommandLine(app, kImportCommand, argc, argv)) {
    return *done;
  }
  const Result<std::string> line = Import(flags);
  if (!line) {
    return Complain(kImportCommand, line.error());
  }
  return PrintResult(kImportCommand, *line) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app

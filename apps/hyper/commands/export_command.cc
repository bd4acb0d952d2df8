// hyper export: what a study holds, as JSON lines or CSV.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "src/eval/metrics/study_reference.h"
#include "src/eval/tables/item_json.h"

namespace hyper::app {
namespace {

constexpr const char* kExportCommand = "export";
constexpr const char* kExportFooter = R"(Examples:
  hyper export study.db --jsonl > study.jsonl
  hyper export study.db --jsonl --series --row sc | hyper eval --pool -
  hyper export study.db --csv > study.csv

JSON lines hold everything, path texts included, one answered question a line (docs/evaluation.md);
CSV holds answers, verdicts and costs. Exit codes are those of hyper run.)";

struct ExportFlags {
  std::string study;
  std::string row;
  bool jsonl = false;
  bool csv = false;
  bool series = false;
};

// The rows asked for: all, or the one of a name.
Result<std::vector<StoredRun>> ChosenRuns(Store& store, const std::string& row) {
  if (row.empty()) return store.Runs();
  Result<StoredRun> run = eval::FindRun(store, row);
  if (!run) return run.error();
  return std::vector<StoredRun>{std::move(*run)};
}

// Writes the items of a run; false, after a complaint, where they cannot be written.
Result<bool> ExportRun(Store& store, const StoredRun& run,
                       const std::map<int64_t, StoredQuestion>& questions,
                       const ExportFlags& flags) {
  const Result<std::vector<ItemSummary>> items = store.Items(run.id);
  if (!items) return items.error();
  for (const ItemSummary& item : *items) {
    const auto question = questions.find(item.key.question);
    if (question == questions.end()) {
      return Error{ErrorCode::kDataLoss, "the study lacks question " +
                                             std::to_string(item.key.question) + " of an answer"};
    }
    const eval::ItemContext context{run, question->second, item};
    std::string line;
    if (flags.csv) {
      line = eval::CsvLine(context);
    } else {
      const Result<StoredItem> whole = store.LoadItem(item.key);
      if (!whole) return whole.error();
      line = DumpJson(eval::ItemJson(context, *whole, flags.series)) + "\n";
    }
    if (!PrintResult(kExportCommand, line)) return false;
  }
  return true;
}

int Export(const ExportFlags& flags) {
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kReadOnly);
  if (!store) return Complain(kExportCommand, store.error());
  const Result<std::vector<StoredRun>> runs = ChosenRuns(*store, flags.row);
  if (!runs) return Complain(kExportCommand, runs.error());
  const Result<std::vector<StoredQuestion>> questions = store->Questions();
  if (!questions) return Complain(kExportCommand, questions.error());
  std::map<int64_t, StoredQuestion> by_number;
  for (const StoredQuestion& question : *questions) by_number.emplace(question.id, question);
  if (flags.csv && !PrintResult(kExportCommand, eval::CsvHead())) return kExitOutput;
  for (const StoredRun& run : *runs) {
    const Result<bool> written = ExportRun(*store, run, by_number, flags);
    if (!written) return Complain(kExportCommand, written.error());
    if (!*written) return kExitOutput;
  }
  return kExitOk;
}

}  // namespace

int ExportCommand(int argc, const char* const* argv) {
  ExportFlags flags;
  CLI::App app("Prints what a study holds.");
  SetUpParser(app, kExportCommand, kExportFooter);
  app.add_flag("--jsonl,--json", flags.jsonl, "JSON lines [the default]");
  app.add_flag("--csv", flags.csv, "a line of comma-separated values per answer");
  app.add_flag("--series", flags.series, "also per-token values of each path (JSON lines)");
  app.add_option("--row", flags.row, "only this row: its label, or #N [all]")->type_name("ROW");
  app.add_option("STUDY", flags.study, "file of the study")->type_name("")->required();
  if (const std::optional<int> done = ParseCommandLine(app, kExportCommand, argc, argv))
    return *done;
  if (flags.csv && (flags.jsonl || flags.series)) {
    return Complain(kExportCommand,
                    {ErrorCode::kInvalidArgument,
                     "--csv goes with neither --jsonl nor --series; take one form"});
  }
  return Export(flags);
}

}  // namespace hyper::app

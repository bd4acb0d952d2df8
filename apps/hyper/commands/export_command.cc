// hyper export: what a study holds, as JSON lines or CSV.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "src/eval/grade/study_grades.h"
#include "src/eval/metrics/study_reference.h"
#include "src/eval/tables/item_csv.h"
#include "src/eval/tables/item_json.h"

namespace hyper::app {
namespace {

constexpr const char* kExportCommand = "export";
constexpr const char* kExportFooter = R"(Examples:
  hyper export study.db --jsonl > study.jsonl
  hyper export study.db --jsonl --series --row sc | \
    hyper eval --pool - --methods sc
  hyper export study.db --csv > study.csv
  hyper export study.db --csv --paths > paths.csv
  hyper export study.db --csv --decisions > decisions.csv

JSON lines have everything, including path texts, one answered question a line (docs/evaluation.md);
CSV has answers, verdicts, costs and options, or a line for each path, decision or value of a series.
Exit codes are those of hyper run.)";

struct ExportFlags {
  std::string study;
  std::string row;
  bool jsonl = false;
  bool csv = false;
  bool series = false;
  bool paths = false;
  bool decisions = false;
};

// What all lines of an export need.
struct Export {
  Store& store;
  std::map<int64_t, StoredQuestion> questions;
  eval::AnswerVerdicts verdicts;
  std::vector<std::string> settings;  // columns of CSV
};

// The rows asked for: all, or the one of a name.
Result<std::vector<StoredRun>> ChosenRuns(Store& store, const std::string& row) {
  if (row.empty()) {
    return store.Runs();
  }
  Result<StoredRun> run = eval::FindRun(store, row);
  if (!run) {
    return run.error();
  }
  return std::vector<StoredRun>{std::move(*run)};
}

// The line of an item, or those of its parts.
Result<std::string> LinesOf(const Export& all, const eval::ItemContext& context,
                            const ExportFlags& flags) {
  if (flags.csv && !flags.paths && !flags.decisions && !flags.series) {
    return eval::ItemCsvLine(context, all.settings);
  }
  const Result<StoredItem> whole = all.store.LoadItem(context.summary.key);
  if (!whole) {
    return whole.error();
  }
  if (!flags.csv) {
    return DumpJson(eval::ItemJson(context, *whole, flags.series)) + "\n";
  }
  if (flags.decisions) {
    return eval::DecisionCsvLines(context, *whole);
  }
  if (flags.series) {
    return eval::SeriesCsvLines(context, *whole);
  }
  std::string lines;
  for (const StoredPath& path : whole->paths) {
    const Result<StoredVerdict> verdict = all.verdicts.Of(context.question, path.answer);
    if (!verdict) {
      return verdict.error();
    }
    lines += eval::PathCsvLine(context, path, *verdict, all.settings);
  }
  return lines;
}

// Writes the items of a run; false, after a complaint, where they cannot be written.
Result<bool> ExportRun(const Export& all, const StoredRun& run, const ExportFlags& flags) {
  const Result<std::vector<ItemSummary>> items = all.store.Items(run.id);
  if (!items) {
    return items.error();
  }
  for (const ItemSummary& item : *items) {
    const auto question = all.questions.find(item.key.question);
    if (question == all.questions.end()) {
      return Error{ErrorCode::kDataLoss, "the study has no question " +
                                             std::to_string(item.key.question) + " of an answer"};
    }
    const Result<std::string> lines = LinesOf(all, {run, question->second, item}, flags);
    if (!lines) {
      return lines.error();
    }
    if (!PrintResult(kExportCommand, *lines)) {
      return false;
    }
  }
  return true;
}

std::string CsvHead(const ExportFlags& flags, const std::vector<std::string>& settings) {
  return flags.paths       ? eval::PathCsvHead(settings)
         : flags.decisions ? eval::DecisionCsvHead()
         : flags.series    ? eval::SeriesCsvHead()
                           : eval::ItemCsvHead(settings);
}

int ExportStudy(const ExportFlags& flags) {
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kReadOnly);
  if (!store) {
    return Complain(kExportCommand, store.error());
  }
  const Result<std::vector<StoredRun>> runs = ChosenRuns(*store, flags.row);
  if (!runs) {
    return Complain(kExportCommand, runs.error());
  }
  const Result<std::vector<StoredQuestion>> questions = store->Questions();
  if (!questions) {
    return Complain(kExportCommand, questions.error());
  }
  Result<eval::AnswerVerdicts> verdicts = eval::AnswerVerdicts::Load(*store);
  if (!verdicts) {
    return Complain(kExportCommand, verdicts.error());
  }
  Export all{*store, {}, std::move(*verdicts), eval::SettingNames(*runs)};
  for (const StoredQuestion& question : *questions) {
    all.questions.emplace(question.id, question);
  }
  if (flags.csv && !PrintResult(kExportCommand, CsvHead(flags, all.settings))) {
    return kExitOutput;
  }
  for (const StoredRun& run : *runs) {
    const Result<bool> written = ExportRun(all, run, flags);
    if (!written) {
      return Complain(kExportCommand, written.error());
    }
    if (!*written) {
      return kExitOutput;
    }
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
  app.add_flag("--paths", flags.paths, "with --csv: a line per path");
  app.add_flag("--decisions", flags.decisions, "with --csv: a line per decision");
  app.add_flag("--series", flags.series,
               "also per-token values of each path; with --csv: a line per value");
  app.add_option("--row", flags.row, "only this row: its label, or #N [all]")->type_name("ROW");
  app.add_option("STUDY", flags.study, "file of the study")->type_name("")->required();
  if (const std::optional<int> done = ParseCommandLine(app, kExportCommand, argc, argv)) {
    return *done;
  }
  if (flags.csv && flags.jsonl) {
    return Complain(kExportCommand,
                    InvalidArgument("--csv cannot be combined with --jsonl; give one format"));
  }
  if ((flags.paths || flags.decisions) && !flags.csv) {
    return Complain(
        kExportCommand,
        InvalidArgument("--paths and --decisions need --csv; JSON lines always have both"));
  }
  if (flags.csv && int{flags.paths} + int{flags.decisions} + int{flags.series} > 1) {
    return Complain(kExportCommand, InvalidArgument("--csv takes one of --paths, --decisions and "
                                                    "--series; each has columns of its own"));
  }
  return ExportStudy(flags);
}

}  // namespace hyper::app

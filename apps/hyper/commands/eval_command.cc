// hyper eval: methods over a suite, several repeats, stored as they finish; then tables.
#include <optional>
#include <string>
#include <utility>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/decode_study.h"
#include "apps/hyper/commands/eval_pool.h"
#include "apps/hyper/flags/eval_flags.h"
#include "apps/hyper/printers/eval_tables.h"
#include "src/store/store.h"

namespace hyper::app {
namespace {

int ReportStudy(const EvalFlags& flags) {
  Result<Store> store = Store::Open(flags.study, DatabaseMode::kExisting);
  if (!store) {
    return Complain(flags.command, store.error());
  }
  const Result<std::string> tables =
      StudyTables({flags.tables, flags.selection.groups, flags.form}, *store, {});
  if (!tables) {
    return Complain(flags.command, tables.error());
  }
  return PrintResult(flags.command, *tables) ? kExitOk : kExitOutput;
}

int RunStudy(const char* command, int argc, const char* const* argv) {
  EvalFlags flags;
  flags.command = command;
  if (const std::optional<int> done = ParseEvalFlags(argc, argv, &flags)) {
    return *done;
  }
  if (!flags.pool.empty()) {
    return EvaluatePool(flags);
  }
  flags.study = flags.study.empty() ? flags.suite + ".study.db" : flags.study;
  if (flags.report_only) {
    return ReportStudy(flags);
  }
  Result<StudyQuestions> questions = QuestionsOf(flags);
  if (!questions) {
    return Complain(flags.command, questions.error());
  }
  return DecodeStudy(flags, std::move(*questions));
}

}  // namespace

int EvalCommand(int argc, const char* const* argv) { return RunStudy(kEvalCommand, argc, argv); }

int SweepCommand(int argc, const char* const* argv) { return RunStudy(kSweepCommand, argc, argv); }

}  // namespace hyper::app

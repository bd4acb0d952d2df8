#include "apps/hyper/commands/eval_pool.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/eval_rows.h"
#include "apps/hyper/input/read_text.h"
#include "apps/hyper/printers/eval_tables.h"
#include "src/eval/data/questions.h"
#include "src/eval/data/suite.h"
#include "src/eval/run/pool_study.h"
#include "src/eval/run/stored_pool.h"

namespace hyper::app {
namespace {

// Options of the run that made the traces which those who vote on them take over.
constexpr const char* kTakenOver[] = {
    "window",   "warmup",        "interval",          "threshold",
    "vote-top", "lambda-length", "lambda-confidence", "vote-tentative"};

// FILE, or FILE:ROW where the whole is no file.
std::pair<std::string, std::string> SplitPool(const std::string& text) {
  std::error_code ignored;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(text, ignored)) {
    return {text, ""};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool IsDatabase(const std::string& bytes) {
  constexpr std::string_view kMagic = "SQLite format 3";
  return std::string_view(bytes).starts_with(kMagic);
}

// Traces of single runs do not know the right answer: it is looked up in the suite by the
// question's text.
Status AddGolds(const EvalFlags& flags, eval::TracePool& pool) {
  const bool all =
      std::none_of(pool.entries.begin(), pool.entries.end(),
                   [](const eval::PoolEntry& entry) { return entry.question.gold.empty(); });
  if (all) {
    return {};
  }
  const Result<eval::Suite> suite = eval::LoadSuite(flags.suite);
  if (!suite) {
    return suite.error();
  }
  const Result<eval::QuestionSet> set =
      eval::LoadQuestions(*suite, {flags.selection.split}, flags.data);
  if (!set) {
    return set.error();
  }
  std::map<std::string, const eval::Question*> by_text;
  for (const eval::Question& question : set->questions) {
    by_text[Trimmed(question.text)] = &question;
  }
  for (eval::PoolEntry& entry : pool.entries) {
    const auto at = by_text.find(Trimmed(entry.question.text));
    if (!entry.question.gold.empty() || at == by_text.end()) {
      continue;
    }
    const eval::Question& known = *at->second;
    entry.question.name = known.id;
    entry.question.gold = known.gold;
    entry.question.kind = NameOf(known.kind);
    entry.question.labels = known.labels;
    entry.question.group = known.group;
  }
  return {};
}

// The text of an option. All names are those of options.
std::string TextOfOption(MethodOptions options, const char* name) {
  std::vector<Option> list = OptionsOf(options);
  return FindOption(list, name)->Text();
}

// Options of a row: the paper's, what the traces were made with, the method's, the user's, the
// row's. By default all traces of the question with fewest are used.
Result<RunPlan> PlanOf(const EvalFlags& flags, const eval::TracePool& pool, const RowRequest& row) {
  const Result<RunPlan> own = ResolveRun({row.method, "paper", {}, {}}, {});
  const Result<MethodOptions> paper = Preset("paper");
  if (!own || !paper) {
    return own ? paper.error() : own.error();
  }
  const int fewest = eval::FewestTraces(pool);
  OptionValues defaults = {{"width", fewest}, {"max-tokens", eval::LongestTrace(pool)}};
  for (const char* name : kTakenOver) {
    const auto setting = pool.made_by.settings.find(name);
    const bool methods = TextOfOption(own->options, name) != TextOfOption(*paper, name);
    if (setting != pool.made_by.settings.end() && !methods) {
      defaults.emplace_back(name, setting->second);
    }
  }
  defaults.insert(defaults.end(), flags.options.begin(), flags.options.end());
  Result<RunPlan> plan = ResolveRun({row.method, "paper", row.options, defaults}, {});
  if (plan && eval::ReplayablePaths(row.method, plan->options) > fewest &&
      plan->options.width == fewest) {  // the warm-up comes on top of the width
    defaults.front() = {"width", fewest - WarmupCount(plan->options)};
    plan = ResolveRun({row.method, "paper", row.options, std::move(defaults)}, {});
  }
  return plan;
}

Result<std::string> PoolTables(const EvalFlags& flags) {
  Result<eval::TracePool> pool = LoadPool(flags.pool);
  if (!pool) {
    return pool.error();
  }
  if (Status status = AddGolds(flags, *pool); !status) {
    return status.error();
  }
  eval::PoolStudyPlan plan;
  plan.resamples = flags.resamples;
  plan.seed = flags.question.seed;
  plan.source = flags.pool;
  plan.program_version = HYPER_VERSION;
  for (const RowRequest& row : flags.rows) {
    Result<RunPlan> resolved = PlanOf(flags, *pool, row);
    if (!resolved) {
      return resolved.error();
    }
    plan.rows.push_back({row.label, std::move(*resolved), {}});
  }
  // Without a file of its own the study lives in memory: it takes no time to make again.
  Result<Store> store =
      Store::Open(flags.study.empty() ? ":memory:" : flags.study, DatabaseMode::kCreate);
  if (!store) {
    return store.error();
  }
  const Result<std::vector<int64_t>> runs = eval::RunPoolStudy(*pool, plan, *store);
  if (!runs) {
    return runs.error();
  }
  if (Status status = WarnOfSharedRows(flags.command, plan.rows, *runs, *store); !status) {
    return status.error();
  }
  return StudyTables({flags.tables, flags.selection.groups, flags.form}, *store, *runs);
}

}  // namespace

Result<eval::TracePool> LoadPool(const std::string& argument) {
  const auto [file, row] = SplitPool(argument);
  const Result<std::string> bytes = ReadText(file, std::numeric_limits<size_t>::max() - 1);
  if (!bytes) {
    return bytes.error();
  }
  if (!IsDatabase(*bytes)) {
    return eval::ParsePool(*bytes, file, row);
  }
  Result<Store> store = Store::Open(file, DatabaseMode::kReadOnly);
  if (!store) {
    return store.error();
  }
  return eval::PoolOfStudy(*store, row);
}

int EvaluatePool(const EvalFlags& flags) {
  const Result<std::string> tables = PoolTables(flags);
  if (!tables) {
    return Complain(flags.command, tables.error());
  }
  return PrintResult(flags.command, *tables) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app

#include "src/eval/run/trace_pool.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "hyper/extract.h"
#include "src/eval/data/rows.h"
#include "src/eval/metrics/study_reference.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/json_members.h"
#include "src/eval/run/probed_pool.h"
#include "src/eval/run/run_trace.h"
#include "src/eval/run/stored_pool.h"
#include "src/report/member_reader.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

std::vector<float> FloatsOf(const json& array) {
  std::vector<float> values;
  for (const json& value : array) {
    values.push_back(FloatOf(value));
  }
  return values;
}

// --- hyper export ---

Result<StoredRun> RunOfExport(const json& object) {
  StoredRun run;
  run.id = MemberOr(object, "id", 0);
  run.label = TextOf(object, "label");
  run.method = TextOf(object, "method");
  run.suite = TextOf(object, "suite");
  if (object.contains("model") && object["model"].is_object()) {
    run.model = TextOf(object["model"], "name");
  }
  if (!object.contains("settings") || !object["settings"].is_object()) {
    return Error{ErrorCode::kDataLoss, "its run has no settings"};
  }
  run.settings = SettingsOf(object["settings"]);
  return run;
}

StoredQuestion QuestionOfExport(const json& object, const std::string& suite) {
  StoredQuestion question;
  question.suite = suite;
  question.name = TextOf(object, "name");
  question.text = TextOf(object, "text");
  question.prompt = TextOf(object, "prompt");
  question.gold = TextOf(object, "gold");
  question.kind = TextOf(object, "kind");
  question.labels = TextOf(object, "labels");
  question.group = TextOf(object, "group");
  return question;
}

Result<StoredPath> PathOfExport(const json& object, StoredItem& item) {
  StoredPath path;
  path.path = MemberOr(object, "id", kNoPath);
  path.parent = MemberOr(object, "parent", kNoPath);
  path.kind = ValueOf<PathKind>(TextOf(object, "kind")).value_or(PathKind::kReasoning);
  path.status = StatusOf(object);
  path.tokens = MemberOr(object, "tokens", 0);
  path.warmup = MemberOr(object, "warmup", false);
  path.text = TextOf(object, "text");
  if (!object.contains("series") || !object["series"].is_object()) {
    return Error{ErrorCode::kDataLoss,
                 "a path has no series; export the study with --jsonl --series"};
  }
  for (const auto& [name, values] : object["series"].items()) {
    if (name != "token" && values.is_array()) {
      item.series.push_back(
          {path.path, name, MemberOr(object, "fork_position", 0), FloatsOf(values)});
    }
  }
  return path;
}

Result<PoolEntry> EntryOfExport(const json& object, const std::string& suite) {
  PoolEntry entry;
  entry.question = QuestionOfExport(object["question"], suite);
  entry.item.key.repeat = MemberOr(object, "repeat", 0);
  if (object.contains("ledger") && object["ledger"].is_object()) {
    entry.item.ledger.prefilled = MemberOr(object["ledger"], "prefilled", 0);
  }
  for (const json& path : object["paths"]) {
    if (!path.is_object()) {
      return Error{ErrorCode::kDataLoss, "a path is not a JSON object"};
    }
    Result<StoredPath> read = PathOfExport(path, entry.item);
    if (!read) {
      return read.error();
    }
    entry.item.paths.push_back(std::move(*read));
  }
  return entry;
}

// --- DeepConf ---

StoredRun DeepConfRun() {
  StoredRun run;
  run.label = "deepconf";
  run.method = "sc";
  run.suite = "traces";
  run.settings = {{"confidence", "topk"}, {"confidence-count", "20"}};
  return run;
}

Status AddDeepConfTrace(const json& trace, StoredItem& item) {
  if (!trace.is_object() || !trace.contains("confs") || !trace["confs"].is_array() ||
      trace["confs"].empty()) {
    return Error{ErrorCode::kDataLoss,
                 "a trace has no confs (confidences per token); DeepConf's online program leaves "
                 "them out, its offline one keeps them"};
  }
  StoredPath path;
  path.path = static_cast<PathId>(item.paths.size());
  path.status =
      TextOf(trace, "stop_reason") == "stop" ? PathStatus::kFinished : PathStatus::kLength;
  path.text = TextOf(trace, "text");
  path.tokens = static_cast<int>(trace["confs"].size());
  for (const char* name : {"confidence", "confidence_top20"}) {
    item.series.push_back({path.path, name, 0, FloatsOf(trace["confs"])});
  }
  item.paths.push_back(std::move(path));
  return {};
}

Result<PoolEntry> EntryOfDeepConf(const json& object, int line) {
  PoolEntry entry;
  const std::string number = TextOf(object, "question_id");
  entry.question.suite = "traces";
  entry.question.name = number.empty() ? "line " + std::to_string(line) : number;
  entry.question.text = TextOf(object, "question");
  entry.question.gold = TextOf(object, "ground_truth");
  entry.question.kind = NameOf(AnswerKind::kMath);
  for (const char* list : {"traces", "all_traces", "warmup_traces", "final_traces"}) {
    if (!object.contains(list) || !object[list].is_array()) {
      continue;
    }
    for (const json& trace : object[list]) {
      if (Status status = AddDeepConfTrace(trace, entry.item); !status) {
        return status.error();
      }
    }
    if (std::string_view(list) == "all_traces") {
      break;  // the next two are parts of it
    }
  }
  if (entry.item.paths.empty()) {
    return Error{ErrorCode::kDataLoss,
                 "neither an answer of hyper export nor a result of DeepConf with traces"};
  }
  return entry;
}

// Reads one object into the pool; of exports only the row asked for.
Status AddObject(const DataRow& row, const std::string& wanted, TracePool& pool) {
  const json& object = row.value;
  const bool ours = object.contains("run") && object["run"].is_object() &&
                    object.contains("question") && object["question"].is_object() &&
                    object.contains("paths") && object["paths"].is_array();
  const bool probed = object.contains("each_branch") && object["each_branch"].is_array();
  Result<StoredRun> run =
      ours ? RunOfExport(object["run"]) : Result<StoredRun>(probed ? ProbedRun() : DeepConfRun());
  if (!run) {
    return run.error();
  }
  const bool first = pool.entries.empty() && pool.made_by.settings.empty();
  if (!wanted.empty() && wanted != run->label && wanted != "#" + std::to_string(run->id)) {
    return {};
  }
  if (wanted.empty() && !first &&
      (run->id != pool.made_by.id || run->label != pool.made_by.label)) {
    return {};
  }
  Result<PoolEntry> entry =
      ours     ? EntryOfExport(object, run->suite)
      : probed ? EntryOfProbes(object, "line " + std::to_string(row.number), AnswerEquality::kMaths)
               : EntryOfDeepConf(object, row.number);
  if (!entry) {
    return entry.error();
  }
  if (first) {
    pool.made_by = *run;
  }
  pool.entries.push_back(std::move(*entry));
  return {};
}

// Whether the run's paths can be replayed: those that were computed from another run's paths have
// no per-token series, unless there never were any.
Result<bool> HoldsPaths(Store& store, const StoredRun& run) {
  if (HasAnswersOnly(run)) {
    return true;
  }
  const Result<std::vector<ItemSummary>> items = store.Items(run.id);
  if (!items) {
    return items.error();
  }
  for (const ItemSummary& summary : *items) {
    if (summary.status != ItemStatus::kDone) {
      continue;
    }
    const Result<StoredItem> item = store.LoadItem(summary.key);
    if (!item) {
      return item.error();
    }
    return !item->series.empty();
  }
  return false;
}

Result<StoredRun> RowOfStudy(Store& store, const std::string& row) {
  if (!row.empty()) {
    return FindRun(store, row);
  }
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) {
    return runs.error();
  }
  for (const StoredRun& run : *runs) {
    if (EndsEarly(run) || !MakesPool(run.method, MethodOptions())) {
      continue;
    }
    const Result<bool> holds = HoldsPaths(store, run);
    if (!holds) {
      return holds.error();
    }
    if (*holds) {
      return run;
    }
  }
  return Error{ErrorCode::kNotFound,
               "the study has no row of independent complete paths with their series, such as sc"};
}

Result<TracePool> PoolOfTrace(const std::vector<DataRow>& rows, const std::string& source,
                              const std::string& method) {
  RunTraceReader reader(method);
  for (const DataRow& row : rows) {
    if (Status status = reader.Take(row.value); !status) {
      return Broken(source, row.number, status.error().message);
    }
  }
  return reader.Finish();
}

}  // namespace

Result<TracePool> PoolOfStudy(Store& store, const std::string& row) {
  Result<StoredRun> run = RowOfStudy(store, row);
  if (!run) {
    return run.error();
  }
  const Result<bool> holds = HoldsPaths(store, *run);
  if (!holds) {
    return holds.error();
  }
  if (!*holds) {
    return InvalidArgument("row " + run->label +
                           " holds no per-token series: it was computed from another "
                           "row's paths (see the notices of hyper inspect); name that "
                           "one, or none");
  }
  const Result<std::vector<StoredQuestion>> questions = store.Questions();
  if (!questions) {
    return questions.error();
  }
  const Result<std::vector<ItemSummary>> items = store.Items(run->id);
  if (!items) {
    return items.error();
  }
  TracePool pool;
  for (const ItemSummary& summary : *items) {
    if (summary.status != ItemStatus::kDone) {
      continue;
    }
    Result<StoredItem> item = store.LoadItem(summary.key);
    if (!item) {
      return item.error();
    }
    const auto question =
        std::find_if(questions->begin(), questions->end(),
                     [&](const StoredQuestion& one) { return one.id == summary.key.question; });
    if (question != questions->end()) {
      pool.entries.push_back({*question, std::move(*item)});
    }
  }
  pool.made_by = std::move(*run);
  return pool;
}

Result<TracePool> ParsePool(std::string_view text, const std::string& source,
                            const std::string& row) {
  const Result<std::vector<DataRow>> rows =
      ParseRows(text, source, {.allow_partial_last_line = true});
  if (!rows) {
    return rows.error();
  }
  if (!rows->empty() && RunTraceReader::IsRecord(rows->front().value)) {
    return PoolOfTrace(*rows, source, row);
  }
  TracePool pool;
  for (const DataRow& one : *rows) {
    if (Status status = AddObject(one, row, pool); !status) {
      return Broken(source, one.number, status.error().message);
    }
  }
  if (pool.entries.empty()) {
    return Error{ErrorCode::kNotFound, source + " holds no traces of the row '" + row + "'"};
  }
  return pool;
}

}  // namespace hyper::eval

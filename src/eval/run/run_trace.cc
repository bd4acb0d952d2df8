#include "src/eval/run/run_trace.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "hyper/extract.h"
#include "src/eval/run/json_members.h"
#include "src/report/member_reader.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr const char* kTraceSuite = "traces";
// Members of a token's record that are a series of its path.
constexpr const char* kTraceSeries[] = {"logprob", "confidence", "confidence_top20", "mean_logprob",
                                        "entropy"};

Error BrokenTrace(std::string reason) { return {ErrorCode::kDataLoss, std::move(reason)}; }

bool AllUnknown(const std::vector<float>& values) {
  return std::none_of(values.begin(), values.end(),
                      [](float value) { return std::isfinite(value); });
}

StoredRun RunOfRecord(const json& record) {
  StoredRun run;
  run.method = TextOf(record, "method");
  run.label = run.method;
  run.suite = kTraceSuite;
  if (record.contains("model") && record["model"].is_object()) {
    run.model = TextOf(record["model"], "name");
    run.model_hash = TextOf(record["model"], "hash");
  }
  if (record.contains("options") && record["options"].is_object()) {
    run.settings = SettingsOf(record["options"]);
  }
  return run;
}

}  // namespace

bool RunTraceReader::IsRecord(const json& object) {
  return object.contains("record") && object["record"].is_string();
}

Status RunTraceReader::Take(const json& record) {
  const std::string kind = TextOf(record, "record");
  if (kind.empty()) {
    return BrokenTrace("not a record of a trace");
  }
  if (kind == "run") {
    return StartRun(record);
  }
  if (!started_) {
    return BrokenTrace("a trace begins with its run record");
  }
  if (!wanted_) {
    return {};
  }
  if (kind == "path") {
    return AddPath(record);
  }
  if (kind == "token") {
    return AddToken(record);
  }
  if (kind == "finish") {
    return EndPath(record);
  }
  if (kind == "result" && record.contains("ledger") && record["ledger"].is_object()) {
    entry_.item.ledger.prefilled = MemberOr(record["ledger"], "prefilled", 0);
  }
  return {};
}

Status RunTraceReader::StartRun(const json& record) {
  EndRun();
  StoredRun run = RunOfRecord(record);
  started_ = true;
  wanted_ = method_.empty() || run.method == method_;
  if (!wanted_) {
    return {};
  }
  if (method_.empty()) {
    method_ = run.method;
  }
  if (!pool_.entries.empty() &&
      (run.settings != pool_.made_by.settings || run.model_hash != pool_.made_by.model_hash)) {
    return BrokenTrace(
        "a run with other options, or of another model, than the first; give one file "
        "for each");
  }
  pool_.made_by = std::move(run);
  StoredQuestion& question = entry_.question;
  question.suite = kTraceSuite;
  question.text = TextOf(record, "question");
  question.prompt = TextOf(record, "prompt");
  question.name = question.text;
  question.kind = NameOf(AnswerKind::kMath);
  return {};
}

Status RunTraceReader::AddPath(const json& record) {
  Growing growing;
  growing.path.path = MemberOr(record, "path", kNoPath);
  growing.path.parent = MemberOr(record, "parent", kNoPath);
  growing.path.fork_position = MemberOr(record, "position", 0);
  growing.path.warmup = MemberOr(record, "warmup", false);
  growing.path.status = PathStatus::kCancelled;
  growing_[growing.path.path] = std::move(growing);
  return {};
}

Status RunTraceReader::AddToken(const json& record) {
  const auto at = growing_.find(MemberOr(record, "path", kNoPath));
  if (at == growing_.end()) {
    return BrokenTrace("a token of a path that was not opened");
  }
  Growing& growing = at->second;
  growing.tokens.push_back(MemberOr(record, "token", kNoToken));
  growing.pieces.push_back(TextOf(record, "text"));
  pool_.pieces[growing.tokens.back()] = growing.pieces.back();
  for (const char* name : kTraceSeries) {
    const auto value = record.find(name);
    growing.series[name].push_back(FloatOf(value == record.end() ? json() : *value));
  }
  return {};
}

Status RunTraceReader::EndPath(const json& record) {
  const auto at = growing_.find(MemberOr(record, "path", kNoPath));
  if (at == growing_.end()) {
    return BrokenTrace("the end of a path that was not opened");
  }
  Growing& growing = at->second;
  StoredPath& path = growing.path;
  path.status = StatusOf(record);
  path.tokens = MemberOr(record, "tokens", 0);
  path.text.clear();  // a path that has ended may lose its vote later, by a second record
  // The end-of-generation token adds nothing to the text.
  const size_t shown = growing.pieces.size() - (path.status == PathStatus::kFinished ? 1 : 0);
  for (size_t i = 0; i < shown && i < growing.pieces.size(); ++i) {
    path.text += growing.pieces[i];
  }
  return {};
}

void RunTraceReader::EndRun() {
  if (wanted_ && !growing_.empty()) {
    entry_.item.key.repeat = repeats_[entry_.question.name]++;
    for (auto& [id, growing] : growing_) {
      const int first = growing.path.fork_position;
      entry_.item.series.push_back({id, "token", first, std::move(growing.tokens)});
      for (auto& [name, values] : growing.series) {
        if (!AllUnknown(values)) {
          entry_.item.series.push_back({id, name, first, std::move(values)});
        }
      }
      entry_.item.paths.push_back(std::move(growing.path));
    }
    pool_.entries.push_back(std::move(entry_));
  }
  entry_ = {};
  growing_.clear();
  wanted_ = false;
}

Result<TracePool> RunTraceReader::Finish() {
  EndRun();
  if (pool_.entries.empty()) {
    return Error{ErrorCode::kNotFound, "the trace holds no paths of the method '" + method_ + "'"};
  }
  return std::move(pool_);
}

}  // namespace hyper::eval

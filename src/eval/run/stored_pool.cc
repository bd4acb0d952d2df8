#include "src/eval/run/stored_pool.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "hyper/driver.h"
#include "src/core/repetition.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/session_record.h"
#include "src/store/series.h"

namespace hyper::eval {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Settings that change the text of an independent path.
constexpr const char* kTextSettings[] = {"temperature", "top-k",      "top-p",
                                         "min-p",       "max-tokens", "determinism"};

bool Scores(const std::string& method) {
  return method.starts_with("self-certainty") || method.starts_with("bon") ||
         method.starts_with("deepconf-offline") || method == "rpc";
}

// Methods whose paths are those of self-consistency, or beginnings of them.
bool IsPlain(const std::string& method) {
  return method == "cot" || method == "sc" || method == "sc-adaptive" || method == "sc-cap" ||
         method == "esc";
}

bool IsOnline(const std::string& method) {
  return method == "deepconf" || method == "deepconf-high" || method == "deepconf-top10";
}

// HyPER that only prunes and votes: a stored path cannot be expanded.
bool OnlyPrunes(const std::string& method, const MethodOptions& options) {
  return method == "hyper" && options.actions == ActionSet();
}

std::string Setting(const StoredRun& run, const std::string& name) {
  const auto at = run.settings.find(name);
  return at != run.settings.end() ? at->second : "";
}

// DeepConf's confidence, which every path is stored with.
bool IsTop20(const std::string& signal, const std::string& count) {
  return signal == "topk" && count == "20";
}

// Whether the confidences that a row asks for are stored with the pool, or follow from its series.
bool HasConfidences(const StoredRun& pool, const StoredRun& row) {
  const std::string signal = ConfidenceOf(row);
  const std::string count = Setting(row, "confidence-count");
  const std::optional<ConfidenceSignal> known = ValueOf<ConfidenceSignal>(signal);
  if (known && !SeriesOfSignal(*known).empty()) {
    return Setting(pool, "entropy-count") == Setting(row, "entropy-count");
  }
  return IsTop20(signal, count) ||
         (ConfidenceOf(pool) == signal && Setting(pool, "confidence-count") == count);
}

// The float series of a path, or nothing.
std::vector<float> SeriesOf(const StoredItem& item, PathId path, const std::string& name) {
  Result<std::vector<float>> series = ExpandSeries(item, path, name);
  return series ? std::move(*series) : std::vector<float>();
}

bool NoneKnown(const std::vector<float>& values) {
  return std::none_of(values.begin(), values.end(),
                      [](float value) { return std::isfinite(value); });
}

// Bytes of each token.
std::vector<std::string> Pieces(const StoredItem& item, const StoredPath& path,
                                const TokenTextOf& text_of) {
  std::vector<std::string> pieces(static_cast<size_t>(path.tokens));
  for (const StoredSeries& series : item.series) {
    const auto* tokens = std::get_if<std::vector<int32_t>>(&series.values);
    if (series.path != path.path || series.name != "token" || tokens == nullptr || !text_of ||
        tokens->size() != pieces.size()) {
      continue;
    }
    std::transform(tokens->begin(), tokens->end(), pieces.begin(), text_of);
    return pieces;
  }
  // An end-of-generation token adds nothing to the text: the token before it carries it.
  const bool finished = path.status == PathStatus::kFinished;
  const size_t place = pieces.size() > 1 && finished ? pieces.size() - 2 : pieces.size() - 1;
  if (!pieces.empty()) {
    pieces[place] = path.text;
  }
  return pieces;
}

// Whether the last piece is no part of the text. Servers may end a text without an end token.
bool EndsInEndToken(const std::vector<std::string>& pieces, const std::string& text) {
  if (pieces.empty() || pieces.back().empty() || !text.ends_with(pieces.back())) {
    return true;
  }
  return fmt::format("{}", fmt::join(pieces.begin(), pieces.end() - 1, "")) == text;
}

// With the loop guard a path that ended as a loop ends so again where it is replayed, as its text
// is the same; without one it would have gone on.
bool EndsAgain(const StoredPath& path, bool loop_guard) {
  return path.kind == PathKind::kReasoning && path.parent == kNoPath && path.tokens > 0 &&
         (CameToItsEnd(path.status) ||
          (loop_guard && path.status == PathStatus::kDegenerate && FindRepetition(path.text)));
}

}  // namespace

int ReplayablePaths(const std::string& method, const MethodOptions& options) {
  if (options.probe) {
    return 0;  // a stored path cannot be asked
  }
  if (IsPlain(method)) {
    return options.width;
  }
  if (Scores(method)) {
    return options.scorer == PathScorer::kPTrue ? 0 : options.width;
  }
  const bool warms_up = IsOnline(method) || OnlyPrunes(method, options);
  return warms_up ? WarmupCount(options) + PoolWidth(options) : 0;
}

bool MakesPool(const std::string& method, const MethodOptions& options) {
  const bool stops = IsOnline(method) || OnlyPrunes(method, options) || method == "esc" ||
                     method == "sc-cap" || options.stop.kind != StopRule::Kind::kNever;
  return !stops && ReplayablePaths(method, options) > 0;
}

bool EndsEarly(const StoredRun& run) {
  const std::string stop = Setting(run, "stop");
  return !stop.empty() && stop != "never";
}

std::string ConfidenceOf(const StoredRun& run) {
  const std::string signal = Setting(run, "confidence");
  return signal.empty() ? Setting(run, "confidence-set") : signal;  // its name in older studies
}

std::vector<const char*> SeriesOfSignal(ConfidenceSignal signal) {
  switch (signal) {
    case ConfidenceSignal::kLogprob:
      return {"logprob"};
    case ConfidenceSignal::kSurprise:
      return {"logprob", "entropy"};
    case ConfidenceSignal::kEntropy:
      return {"entropy"};
    case ConfidenceSignal::kSelfCertainty:
      return {"mean_logprob"};
    case ConfidenceSignal::kAlternatives:
    case ConfidenceSignal::kTopK:
      break;
  }
  return {};
}

bool ServesRow(const StoredRun& pool, const StoredRun& row) {
  if (EndsEarly(pool) || pool.suite != row.suite || pool.model != row.model ||
      pool.model_hash != row.model_hash || pool.engine != row.engine ||
      pool.version != row.version || pool.seed != row.seed) {
    return false;
  }
  return HasConfidences(pool, row) &&
         std::all_of(std::begin(kTextSettings), std::end(kTextSettings),
                     [&](const char* name) { return Setting(pool, name) == Setting(row, name); });
}

Result<std::vector<ReplayTrace>> TracesOf(const StoredItem& item, int count, const StoredRun& pool,
                                          const std::string& method, const MethodOptions& row,
                                          const TokenTextOf& text_of) {
  const std::string row_count = std::to_string(row.confidence_count);
  const char* name = IsTop20(NameOf(row.confidence), row_count) ? "confidence_top20" : "confidence";
  std::vector<ReplayTrace> traces;
  for (const StoredPath& path : item.paths) {
    if (static_cast<int>(traces.size()) == count) {
      break;
    }
    if (path.kind != PathKind::kReasoning) {
      continue;
    }
    ReplayTrace trace;
    trace.confidences = SeriesOf(item, path.path, name);
    if (!EndsAgain(path, row.loop_guard) ||
        static_cast<int>(trace.confidences.size()) != path.tokens) {
      return Error{ErrorCode::kNotFound, "path " + std::to_string(path.path) + " of " + pool.label +
                                             " did not come to its end, or its series is missing"};
    }
    trace.logprobs = SeriesOf(item, path.path, "logprob");
    trace.mean_logprobs = SeriesOf(item, path.path, "mean_logprob");
    trace.entropies = SeriesOf(item, path.path, "entropy");
    for (const char* series : SeriesOfSignal(row.confidence)) {
      if (NoneKnown(SeriesOf(item, path.path, series))) {
        return Error{ErrorCode::kNotFound,
                     fmt::format("--confidence {} reads the series '{}', which {} has not stored; "
                                 "take another signal",
                                 NameOf(row.confidence), series, pool.label)};
      }
    }
    if (Scores(method) && row.scorer == PathScorer::kSelfCertainty &&
        NoneKnown(trace.mean_logprobs)) {
      return Error{
          ErrorCode::kNotFound,
          "self-certainty takes the mean log-probability over the whole vocabulary, which " +
              pool.label + " has not stored"};
    }
    trace.pieces = Pieces(item, path, text_of);
    trace.finished = path.status == PathStatus::kFinished;
    trace.end_token = EndsInEndToken(trace.pieces, path.text);
    traces.push_back(std::move(trace));
  }
  if (static_cast<int>(traces.size()) < count) {
    return Error{ErrorCode::kNotFound, pool.label + " holds " + std::to_string(traces.size()) +
                                           " paths of the question, " + std::to_string(count) +
                                           " are needed"};
  }
  return traces;
}

Result<StoredItem> Replay(std::vector<ReplayTrace> traces, const ModelInfo& model,
                          const RunPlan& plan, SessionSpec spec, const ItemKey& key) {
  ReplayEngine engine(std::move(traces), model);
  const Result<std::unique_ptr<Session>> opened = OpenSession(engine, plan, std::move(spec));
  if (!opened) {
    return opened.error();
  }
  Session& session = **opened;
  Driver driver(engine);
  driver.Add(&session);
  if (Status status = driver.RunAll(); !status) {
    return status.error();
  }
  StoredItem item = RecordSession(session, session.TakeRecords(), key);
  CountTokens(engine, item);
  item.series.clear();
  Ledger& ledger = item.ledger;
  for (double* time : {&ledger.wall_s, &ledger.engine_s, &ledger.sampler_s, &ledger.statistics_s}) {
    *time = kUnknown;
  }
  // The replayed top lists carry a confidence each and nothing else: what other statistics make of
  // them is no property of the traces.
  if (item.warmup) {
    item.warmup->maxima.entropy = item.warmup->maxima.diversity = {kUnknown, -1, 0};
  }
  return item;
}

}  // namespace hyper::eval

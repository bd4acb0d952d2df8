#include "src/eval/run/pool_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "hyper/ask.h"
#include "src/core/random.h"
#include "src/eval/grade/study_grades.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/pool_hash.h"
#include "src/eval/run/stored_pool.h"

namespace hyper::eval {
namespace {

// The paths of a question in the order of a draw (Fisher-Yates over counter-based numbers).
std::vector<StoredPath> Drawn(const std::vector<StoredPath>& paths, uint64_t seed, int draw) {
  std::vector<StoredPath> drawn = paths;
  for (size_t i = 0; i + 1 < drawn.size(); ++i) {
    const auto words =
        Philox(seed, {static_cast<uint32_t>(draw), static_cast<uint32_t>(i), 0x706F6F6CU, 0});
    const uint64_t number = uint64_t{words[1]} << 32U | words[0];
    std::swap(drawn[i], drawn[i + number % (drawn.size() - i)]);
  }
  return drawn;
}

// Traces that a row takes of each question; 0 where it cannot run on them.
int TracesTaken(const RunPlan& row, const TracePool& pool) {
  return HasAnswersOnly(pool.made_by) ? row.options.width
                                      : ReplayablePaths(row.method, row.options);
}

Error RowError(const StudyRow& row, const std::string& reason) {
  return InvalidArgument("row " + row.label + ": " + reason);
}

Status CheckRow(const StudyRow& row, const TracePool& pool) {
  if (HasAnswersOnly(pool.made_by)) {
    if (Status status = CheckNeedsAnswersOnly(row.plan); !status) {
      return RowError(row, status.error().message);
    }
  }
  const int paths = TracesTaken(row.plan, pool);
  if (paths == 0) {
    return RowError(row, "the method " + row.plan.method +
                             " cannot run on stored traces; sc, esc, self-certainty, bon, "
                             "deepconf and hyper:actions=none can");
  }
  if (paths > FewestTraces(pool)) {
    return RowError(row, fmt::format("it takes {} traces of each question, the pool has {}; lower "
                                     "--width",
                                     paths, FewestTraces(pool)));
  }
  return {};
}

// The row with the loop guard of the pool, whose loops ended by it, and with the confidences that
// the pool has: DeepConf's and those that follow from the stored series where the row asks for
// these, else the ones that the traces were decoded with.
StudyRow AsRecorded(const StudyRow& row, const TracePool& pool) {
  StudyRow stored = row;
  MethodOptions& options = stored.plan.options;
  // Texts that an option printed are read back; those of another program may not be.
  const auto take = [&](const char* name, const std::string& text) {
    (void)SetOption(options, name, text);
  };
  const auto& settings = pool.made_by.settings;
  if (const auto guard = settings.find("loop-guard"); guard != settings.end()) {
    take("loop-guard", guard->second);
  }
  if (!SeriesOfSignal(options.confidence).empty()) {
    if (const auto count = settings.find("entropy-count"); count != settings.end()) {
      take("entropy-count", count->second);
    }
    return stored;
  }
  const std::string signal = ConfidenceOf(pool.made_by);
  const auto count = settings.find("confidence-count");
  const bool top20 =
      options.confidence == ConfidenceSignal::kTopK && options.confidence_count == 20;
  if (!top20 && !signal.empty() && count != settings.end()) {
    take("confidence", signal);
    take("confidence-count", count->second);
  }
  return stored;
}

class PoolStudy {
 public:
  PoolStudy(const TracePool& pool, const PoolStudyPlan& plan, Store& store)
      : pool_(pool), plan_(plan), store_(store) {}

  Status RunRow(const StudyRow& row, int64_t run) {
    for (const PoolEntry& entry : pool_.entries) {
      const Result<int64_t> question = store_.AddQuestion(entry.question);
      if (!question) {
        return question.error();
      }
      const Result<Question> asked = QuestionOf(entry.question);
      if (!asked) {
        return asked.error();
      }
      const ExtractOptions reader = AnswerOptions(*asked);
      for (int draw = 0; draw < plan_.resamples; ++draw) {
        const int repeat = entry.item.key.repeat * plan_.resamples + draw;
        Result<StoredItem> item = RunOne(row, entry, reader, draw, {run, *question, repeat});
        if (!item) {
          return item.error();
        }
        if (plan_.is_pool) {
          item->series = entry.item.series;
        }
        if (const auto saved = store_.SaveItem(*item); !saved) {
          return saved.error();
        }
      }
    }
    return {};
  }

 private:
  // The bytes of tokens where the pool knows them.
  TokenTextOf TextOfToken() const {
    if (pool_.pieces.empty()) {
      return {};
    }
    return [this](Token token) {
      const auto at = pool_.pieces.find(token);
      return at != pool_.pieces.end() ? at->second : std::string();
    };
  }

  Result<StoredItem> RunOne(const StudyRow& row, const PoolEntry& entry,
                            const ExtractOptions& reader, int draw, const ItemKey& key) {
    const uint64_t question = QuestionKey(entry.question.suite, entry.question.name);
    const uint64_t seed = plan_.seed ^ RepeatSeed(question, entry.item.key.repeat);
    StoredItem source = entry.item;
    if (plan_.resamples > 1) {
      source.paths = Drawn(source.paths, seed, draw);
    }
    RunPlan run = row.plan;
    const int paths = TracesTaken(run, pool_);
    Result<std::vector<ReplayTrace>> traces =
        HasAnswersOnly(pool_.made_by)
            ? AnswerTraces(source, paths, run)
            : TracesOf(source, paths, pool_.made_by, run.method, run.options, TextOfToken());
    if (!traces) {
      return RowError(row, traces.error().message);
    }
    SessionSpec spec;
    spec.prompt.tokens.assign(
        static_cast<size_t>(std::max<int64_t>(1, entry.item.ledger.prefilled)), 0);
    spec.seed = {plan_.seed, question};
    spec.most.lanes = run.options.probe ? 2 * paths : paths;  // each path with a fork to ask
    spec.extractor = ExtractorFor(reader);
    ModelInfo model;
    model.name = pool_.made_by.model;
    model.vocab_size = 1;  // self-certainty without its constant log V, which changes no rank
    return Replay(std::move(*traces), model, run, std::move(spec), key);
  }

  const TracePool& pool_;
  const PoolStudyPlan& plan_;
  Store& store_;
};

}  // namespace

int FewestTraces(const TracePool& pool) {
  int fewest = pool.entries.empty() ? 0 : std::numeric_limits<int>::max();
  for (const PoolEntry& entry : pool.entries) {
    fewest = std::min(fewest, static_cast<int>(entry.item.paths.size()));
  }
  return fewest;
}

int LongestTrace(const TracePool& pool) {
  int longest = 0;
  for (const PoolEntry& entry : pool.entries) {
    for (const StoredPath& path : entry.item.paths) {
      longest = std::max(longest, path.tokens);
    }
  }
  return longest;
}

Result<std::vector<int64_t>> RunPoolStudy(const TracePool& pool, const PoolStudyPlan& plan,
                                          Store& store) {
  std::vector<int64_t> runs;
  StudyPlan recorded;
  recorded.suite.name = pool.made_by.suite;
  recorded.seed = plan.seed;
  recorded.engine = "stored traces of " + plan.source;
  recorded.program_version = plan.program_version;
  const std::string hash = PoolHash(pool);
  ModelInfo model;
  model.name = pool.made_by.model;
  model.hash = pool.made_by.model_hash;
  PoolStudy study(pool, plan, store);
  for (const StudyRow& asked : plan.rows) {
    const StudyRow row = AsRecorded(asked, pool);
    if (Status status = CheckRow(row, pool); !status) {
      return status.error();
    }
    StoredRun stored = RunOf(recorded, row, model);
    stored.settings["resamples"] = std::to_string(plan.resamples);
    stored.settings["pool"] = hash;
    stored.settings.insert(plan.settings.begin(), plan.settings.end());
    const Result<int64_t> run = store.AddRun(stored);
    if (!run) {
      return run.error();
    }
    const bool known = std::find(runs.begin(), runs.end(), *run) != runs.end();
    runs.push_back(*run);
    if (Status status = known ? Status() : study.RunRow(row, *run); !status) {
      return status.error();
    }
    if (plan.row_done) {
      plan.row_done();
    }
  }
  if (const auto graded = GradeStudy(store, /*all=*/false); !graded) {
    return graded.error();
  }
  return runs;
}

}  // namespace hyper::eval

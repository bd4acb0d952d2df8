#include "src/eval/run/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "hyper/ask.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/calibration_rows.h"
#include "src/eval/run/pool_labels.h"
#include "src/eval/run/pool_study.h"

namespace hyper::eval {
namespace {

constexpr uint64_t kBootstrapSeed = 1;
constexpr int kMostWidth = 32;
// Options of the profile; the others of a row are there for the replay.
constexpr std::array kChosen = {
    "confidence", "confidence-count", "window", "threshold", "stop", "vote", "width", "warmup"};

// Rows over one half of the questions, kept in a store of their own.
class HalfStudy {
 public:
  static Result<HalfStudy> Make(const TracePool& pool, const CalibrationPlan& plan,
                                std::function<void()> row_done) {
    Result<Store> store = Store::Open(":memory:", DatabaseMode::kCreate);
    if (!store) {
      return store.error();
    }
    return HalfStudy(pool, plan, std::move(*store), std::move(row_done));
  }

  // Replays rows and appends them.
  Status Run(std::vector<CalibrationRow> rows) {
    PoolStudyPlan study;
    study.resamples = plan_.resamples;
    study.seed = plan_.seed;
    study.source = plan_.source;
    study.program_version = plan_.program_version;
    study.row_done = row_done_;
    for (const CalibrationRow& row : rows) {
      Result<RunPlan> resolved =
          ResolveRun({row.method, "paper", row.options, {{"max-tokens", LongestTrace(pool_)}}}, {});
      if (!resolved) {
        return resolved.error();
      }
      study.rows.push_back({row.label, std::move(*resolved), {}});
    }
    const Result<std::vector<int64_t>> runs = RunPoolStudy(pool_, study, store_);
    if (!runs) {
      return runs.error();
    }
    const Result<std::vector<RunSummary>> summaries = SummariseStudy(store_, {});
    if (!summaries) {
      return summaries.error();
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const RunSummary& summary : *summaries) {
        if (summary.run.id == (*runs)[i]) {
          rows[i].summary = summary;
        }
      }
      rows_.push_back(std::move(rows[i]));
      const Result<RunComparison> compared =
          CompareRuns(rows_.back().summary, rows_.front().summary, kBootstrapSeed);
      if (!compared) {
        return compared.error();
      }
      rows_.back().against_all = *compared;
    }
    return {};
  }

  const std::vector<CalibrationRow>& rows() const { return rows_; }

 private:
  HalfStudy(const TracePool& pool, const CalibrationPlan& plan, Store store,
            std::function<void()> row_done)
      : pool_(pool), plan_(plan), store_(std::move(store)), row_done_(std::move(row_done)) {}

  const TracePool& pool_;
  const CalibrationPlan& plan_;
  Store store_;
  std::function<void()> row_done_;
  std::vector<CalibrationRow> rows_;
};

double MeanTokens(const TracePool& pool) {
  std::vector<double> tokens;
  for (const PoolEntry& entry : pool.entries) {
    for (const StoredPath& path : entry.item.paths) {
      tokens.push_back(path.tokens);
    }
  }
  return Mean(tokens);
}

Status CheckSize(const std::array<TracePool, 2>& halves, const CalibrationPlan& plan) {
  const size_t fewest = std::min(halves[0].entries.size(), halves[1].entries.size());
  if (fewest < kFewestOfHalf) {
    return InvalidArgument(fmt::format(
        "the pool has {} questions with a right answer or a consensus, and calibration takes {} or "
        "more; record more of them, such as with --questions 60",
        halves[0].entries.size() + halves[1].entries.size(), 2 * kFewestOfHalf));
  }
  const int paths = std::min(FewestTraces(halves[0]), FewestTraces(halves[1]));
  if (paths < plan.warmup + std::max(1, plan.width)) {
    return InvalidArgument(
        fmt::format("a question of the pool has {} paths, and {} + {} are needed (--warmup and "
                    "--width); lower these, or record more paths",
                    paths, plan.warmup, std::max(1, plan.width)));
  }
  return {};
}

Result<PairedDifference> TokenDifference(const RunSummary& first, const RunSummary& second) {
  std::vector<double> tokens[2];
  for (const QuestionShare& share : first.per_question) {
    for (const QuestionShare& other : second.per_question) {
      if (share.question == other.question) {
        tokens[0].push_back(share.effective);
        tokens[1].push_back(other.effective);
      }
    }
  }
  return PairedBootstrap(tokens[0], tokens[1], 0.95, kBootstrapResamples, kBootstrapSeed);
}

OptionValues ProfileOptions(const CalibrationRow& row, const CalibrationPlan& plan) {
  OptionValues options;
  for (const OptionValue& option : row.options) {
    if (std::find(kChosen.begin(), kChosen.end(), option.name) != kChosen.end()) {
      options.push_back(option);
    }
  }
  const OptionValue widest("width", row.method == "sc" ? plan.warmup + plan.width : plan.width);
  if (std::find(options.begin(), options.end(), widest) != options.end()) {
    // As many paths as were there: preset `auto` has its own number.
    std::erase_if(options, [](const OptionValue& option) {
      return option.name == "width" || option.name == "warmup";
    });
  }
  if (row.method == "sc") {
    for (OptionValue& option : options) {
      if (option.name == "width") {  // HyPER's does not count the warm-up
        option.text = std::to_string(std::max(1, std::stoi(option.text) - plan.warmup));
      }
    }
    if (Given(options, "width")) {
      options.emplace_back("warmup", plan.warmup);
    }
    options.emplace_back("vote", "majority");
    options.emplace_back("threshold", "off");
  }
  return options;
}

// Chooses on the first half.
Status ChooseOn(HalfStudy& study, const CalibrationPlan& plan, double mean_tokens,
                Calibration& made) {
  if (Status status = study.Run(FirstRows(plan, mean_tokens, made.scores)); !status) {
    return status;
  }
  const auto best = [&] {
    const CalibrationRow* row = ChooseRow(study.rows(), plan.tolerance);
    return row != nullptr ? *row : study.rows()[1];
  };
  if (Status status = study.Run(OtherVotes(best())); !status) {
    return status;
  }
  if (Status status = study.Run(OtherWidths(plan, best())); !status) {
    return status;
  }
  const CalibrationRow chosen = best();
  made.first = study.rows();
  made.chosen = chosen.label;
  made.kept_usual = chosen.label == kUsual;
  made.within_tolerance = ChooseRow(study.rows(), plan.tolerance) != nullptr;
  if (!made.kept_usual) {
    made.options = ProfileOptions(chosen, plan);
  }
  return {};
}

// Reports on the second half.
Status ReportOn(HalfStudy& study, Calibration& made) {
  std::vector<CalibrationRow> rows;
  for (const CalibrationRow& row : made.first) {
    if (row.label == kAllPaths || row.label == kUsual || row.label == made.chosen) {
      rows.push_back({row.label, row.method, row.options});
    }
  }
  if (Status status = study.Run(std::move(rows)); !status) {
    return status;
  }
  made.second = study.rows();
  const RunSummary& chosen = made.second.back().summary;
  const Result<RunComparison> compared =
      CompareRuns(chosen, made.second[1].summary, kBootstrapSeed);
  const Result<PairedDifference> to_all = TokenDifference(chosen, made.second[0].summary);
  const Result<PairedDifference> to_usual = TokenDifference(chosen, made.second[1].summary);
  if (!compared || !to_all || !to_usual) {
    return !compared ? compared.error() : !to_all ? to_all.error() : to_usual.error();
  }
  made.against_usual = *compared;
  made.tokens_to_all = *to_all;
  made.tokens_to_usual = *to_usual;
  return {};
}

}  // namespace

std::vector<const CalibrationRow*> Frontier(const std::vector<CalibrationRow>& rows) {
  std::vector<const CalibrationRow*> sorted;
  sorted.reserve(rows.size());
  for (const CalibrationRow& row : rows) {
    sorted.push_back(&row);
  }
  std::stable_sort(
      sorted.begin(), sorted.end(), [](const CalibrationRow* a, const CalibrationRow* b) {
        const double tokens[2] = {a->summary.effective_tokens, b->summary.effective_tokens};
        return tokens[0] != tokens[1] ? tokens[0] < tokens[1]
                                      : a->summary.accuracy.mean > b->summary.accuracy.mean;
      });
  std::vector<const CalibrationRow*> frontier;
  for (const CalibrationRow* row : sorted) {
    if (frontier.empty() || row->summary.accuracy.mean > frontier.back()->summary.accuracy.mean) {
      frontier.push_back(row);
    }
  }
  return frontier;
}

const CalibrationRow* ChooseRow(const std::vector<CalibrationRow>& rows, double tolerance) {
  const double least = rows.front().summary.accuracy.mean - tolerance;
  const CalibrationRow* best = nullptr;
  for (size_t i = 1; i < rows.size(); ++i) {
    const bool doubtful = i > 1 && rows[i].against_all.difference.interval.low < -kLargestDoubt;
    const bool qualifies =
        !rows[i].compared_only && !doubtful && rows[i].summary.accuracy.mean >= least;
    if (qualifies &&
        (best == nullptr || rows[i].summary.effective_tokens < best->summary.effective_tokens)) {
      best = &rows[i];
    }
  }
  const CalibrationRow& usual = rows[1];
  if (best == nullptr || usual.summary.accuracy.mean < least) {
    return best;
  }
  const Result<PairedDifference> saved = TokenDifference(best->summary, usual.summary);
  return saved && saved->interval.high < 0 ? best : &usual;
}

Result<Calibration> Calibrate(TracePool pool, const CalibrationPlan& asked) {
  const bool answers_only = HasAnswersOnly(pool.made_by);
  const std::array<TracePool, 2> halves = SplitPool(std::move(pool));
  CalibrationPlan plan = asked;
  if (plan.width == 0) {
    const int paths = std::min(FewestTraces(halves[0]), FewestTraces(halves[1]));
    plan.width = std::min(kMostWidth, paths - plan.warmup);
  }
  if (Status status = CheckSize(halves, plan); !status) {
    return status.error();
  }
  Calibration made;
  made.paths = plan.warmup + plan.width;
  const double mean_tokens = MeanTokens(halves[0]);
  if (!answers_only) {
    Result<std::vector<SignalScore>> scores =
        ScoreSignals(halves[0], CandidateWindows(mean_tokens));
    if (!scores) {
      return scores.error();
    }
    if (scores->empty()) {
      return InvalidArgument(
          "no question of the first half has both right and wrong paths, so that nothing can tell "
          "them apart; record harder questions, or more of them");
    }
    made.scores = std::move(*scores);
  }
  int done = 0;
  const CalibrationRow any = FirstRows(plan, mean_tokens, made.scores).back();
  const size_t all = FirstRows(plan, mean_tokens, made.scores).size() + OtherVotes(any).size() +
                     OtherWidths(plan, any).size() + 3;  // and three on the second half
  const auto row_done = [&done, all, &plan] {
    if (plan.progress) {
      plan.progress(++done, static_cast<int>(all));
    }
  };
  Result<HalfStudy> first = HalfStudy::Make(halves[0], plan, row_done);
  Result<HalfStudy> second = HalfStudy::Make(halves[1], plan, row_done);
  if (!first || !second) {
    return first ? second.error() : first.error();
  }
  Status status = ChooseOn(*first, plan, mean_tokens, made);
  if (status) {
    status = ReportOn(*second, made);
  }
  if (!status) {
    return status.error();
  }
  for (size_t half = 0; half < halves.size(); ++half) {
    made.questions[half] = static_cast<int>(halves[half].entries.size());
  }
  return made;
}

}  // namespace hyper::eval

#include "src/eval/run/calibration_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace hyper::eval {
namespace {

constexpr uint64_t kChoiceSeed = 1;
constexpr std::array kStops = {"never", "0.9", "0.95", "0.99"};
constexpr std::array kCuts = {0.0, 20.0, 100 * kPaperCut, 60.0};  // percentiles
constexpr std::array kVotes = {"majority", "confidence", "deepconf"};
constexpr int kWidths = 2;  // halves of the width that are tried
// What preset `auto` takes.
constexpr const char* kUsualStop = "0.99";
constexpr double kUsualTop = 10.0 / 16;

// Whether the first score's area is larger beyond noise, over the questions of both.
bool ClearlyBetter(const SignalScore& first, const SignalScore& second) {
  std::vector<double> areas[2];
  for (size_t i = 0; i < first.areas.size(); ++i) {
    const auto at = std::find(second.questions.begin(), second.questions.end(), first.questions[i]);
    if (at != second.questions.end()) {
      areas[0].push_back(first.areas[i]);
      areas[1].push_back(second.areas[static_cast<size_t>(at - second.questions.begin())]);
    }
  }
  const Result<PairedDifference> difference =
      PairedBootstrap(areas[0], areas[1], 0.95, kBootstrapResamples, kChoiceSeed);
  return difference && difference->interval.low > 0;
}

// The windowed score with the largest area, among those of `signal` where one is given.
const SignalScore* BestWindow(const std::vector<SignalScore>& scores,
                              std::optional<ConfidenceSignal> signal) {
  const SignalScore* best = nullptr;
  for (const SignalScore& score : scores) {
    const bool counts = score.window > 0 && (!signal || score.signal == *signal);
    if (counts && (best == nullptr || score.area > best->area)) {
      best = &score;
    }
  }
  return best;
}

std::string CutText(double percent) { return fmt::format("percentile:{:g}", percent); }

// HyPER without its controller, which stored paths cannot serve: its warm-up, threshold, signal,
// stop and vote on DeepConf's schedule.
OptionValues PrunedOptions(const CalibrationPlan& plan, const SignalScore& score,
                           const std::string& threshold, const std::string& stop) {
  const bool topk = score.signal == ConfidenceSignal::kTopK;
  return {{"confidence", NameOf(score.signal)},
          {"confidence-count", topk ? 20 : 8},
          {"window", score.window},
          {"threshold", threshold},
          {"stop", stop},
          {"vote", "length_confidence"},
          {"width", plan.width},
          {"warmup", plan.warmup},
          {"includes-warmup", false},
          {"consensus", 0}};
}

CalibrationRow PrunedRow(const CalibrationPlan& plan, const SignalScore& score,
                         const std::string& threshold, const std::string& stop) {
  return {fmt::format("{} {}, {}, stop {}", NameOf(score.signal), score.window, threshold, stop),
          "deepconf-top10", PrunedOptions(plan, score, threshold, stop)};
}

// Self-consistency, which prunes nothing.
CalibrationRow PlainRow(const CalibrationPlan& plan, const std::string& stop) {
  return {"sc in waves, stop " + stop,
          "sc",
          {{"stop", stop}, {"launch", "waves"}, {"width", plan.warmup + plan.width}}};
}

// The row with an option changed, and the change in its label.
CalibrationRow Changed(const CalibrationRow& row, const std::string& name,
                       const std::string& value) {
  CalibrationRow changed{fmt::format("{}, {} {}", row.label, name, value), row.method, row.options};
  for (OptionValue& option : changed.options) {
    if (option.name == name) {
      option.text = value;
    }
  }
  return changed;
}

}  // namespace

std::vector<CalibrationRow> FirstRows(const CalibrationPlan& plan, double mean_tokens,
                                      const std::vector<SignalScore>& scores) {
  std::vector<CalibrationRow> rows = {{kAllPaths, "sc", {{"width", plan.warmup + plan.width}}}};
  rows.front().compared_only = true;
  if (scores.empty()) {
    rows.push_back(PlainRow(plan, kUsualStop));
    rows.back().label = kUsual;
    for (const char* stop : {"0.9", "0.95", "0.999"}) {
      rows.push_back(PlainRow(plan, stop));
    }
    return rows;
  }
  const SignalScore* best = BestWindow(scores, std::nullopt);
  const SignalScore* paper = BestWindow(scores, ConfidenceSignal::kAlternatives);
  std::vector<const SignalScore*> tried = {paper == nullptr ? best : paper};
  if (ClearlyBetter(*best, *tried.front())) {
    tried.push_back(best);
  }
  SignalScore usual = *tried.front();
  usual.window = UsualWindow(mean_tokens);
  const int top = std::max(1, static_cast<int>(std::lround(kUsualTop * plan.warmup)));
  rows.push_back(PrunedRow(plan, usual, fmt::format("top:{}", top), kUsualStop));
  rows.back().label = kUsual;
  for (const char* stop : kStops) {
    rows.push_back(PlainRow(plan, stop));
    rows.back().compared_only = true;
    for (const SignalScore* score : tried) {
      for (const double cut : kCuts) {
        rows.push_back(PrunedRow(plan, *score, CutText(cut), stop));
      }
    }
  }
  return rows;
}

std::vector<CalibrationRow> OtherVotes(const CalibrationRow& row) {
  std::vector<CalibrationRow> rows;
  if (row.method == "sc") {
    return rows;  // its pool may know no confidences
  }
  for (const char* vote : kVotes) {
    rows.push_back(Changed(row, "vote", vote));
  }
  return rows;
}

std::vector<CalibrationRow> OtherWidths(const CalibrationPlan& plan, const CalibrationRow& row) {
  std::vector<CalibrationRow> rows;
  for (int i = 1, width = plan.width / 2; i <= kWidths && width >= 1; ++i, width /= 2) {
    const int paths = row.method == "sc" ? width + plan.warmup : width;
    rows.push_back(Changed(row, "width", std::to_string(paths)));
  }
  return rows;
}

}  // namespace hyper::eval

// Options that fit a model, chosen from a pool of complete paths: which signal prunes, at which
// threshold, when a run stops, how it votes and how wide it is. One half of the questions chooses,
// the other half is reported on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hyper/option.h"
#include "src/eval/metrics/study_summary.h"
#include "src/eval/run/signal_scores.h"
#include "src/eval/run/trace_pool.h"

namespace hyper::eval {

// Questions that each half needs at least.
inline constexpr int kFewestOfHalf = 8;

// No row is chosen that may lose this much accuracy against all paths: where the 95 % interval of
// the paired difference reaches below. With few questions it does for most rows.
inline constexpr double kLargestDoubt = 0.1;

struct CalibrationPlan {
  int warmup = 8;
  int width = 0;            // paths after the warm-up; 0: all that a question has, at most 32
  int resamples = 2;        // draws of a question's paths
  double tolerance = 0.01;  // accuracy that may be lost against the vote of all paths
  uint64_t seed = 1;
  std::string source;  // of the pool, for records
  std::string program_version = {};
  std::function<void(int done, int all)> progress = {};  // in replayed rows
};

// A setting, replayed.
struct CalibrationRow {
  std::string label;
  std::string method;
  OptionValues options;
  bool compared_only = false;  // cannot be chosen: HyPER has no such schedule
  RunSummary summary = {};
  // Against all paths on the same questions.
  RunComparison against_all = {};
};

struct Calibration {
  int paths = 0;  // of the widest setting
  int questions[2] = {0, 0};
  std::vector<SignalScore> scores;     // of the first half; empty where the pool has no series
  std::vector<CalibrationRow> first;   // on the first half: all paths, usual, then the candidates
  std::string chosen;                  // label of one of these
  bool kept_usual = false;             // nothing better beyond noise, or nothing within tolerance
  bool within_tolerance = true;        // some row to choose from is
  std::vector<CalibrationRow> second;  // on the second half: all paths, usual, chosen
  RunComparison against_usual;         // the chosen row against the usual one, second half
  // Tokens of the chosen row minus those of all paths and of the usual one, second half.
  PairedDifference tokens_to_all;
  PairedDifference tokens_to_usual;
  OptionValues options;  // the choice, for preset `auto`; empty where the usual row was kept
};

// Labels of the rows that every calibration has.
inline constexpr const char* kAllPaths = "all paths";
inline constexpr const char* kUsual = "without a profile";

// Rows that no other row beats: none has at least their accuracy for fewer tokens, or more accuracy
// for as many. By ascending tokens. Pure.
std::vector<const CalibrationRow*> Frontier(const std::vector<CalibrationRow>& rows);

// The cheapest row to choose from whose accuracy is not below that of the first (all paths) by more
// than the tolerance, nor may be by kLargestDoubt. The second row (the usual one) is kept where it
// qualifies and the cheapest one does not save tokens beyond noise: the 95 % interval of the paired
// difference reaches 0. Null where no row but the first qualifies. Pure.
const CalibrationRow* ChooseRow(const std::vector<CalibrationRow>& rows, double tolerance);

// Calibrates on a labelled pool (LabelPool). Signal and window are those with the largest area
// under the ROC curve, the paper's signal unless another one is better beyond noise. Then
// thresholds and stops are replayed, and for the best of them votes and widths.
// Errors: kInvalidArgument (too few questions or paths, no question with right and wrong paths),
// those of RunPoolStudy.
Result<Calibration> Calibrate(TracePool pool, const CalibrationPlan& plan);

}  // namespace hyper::eval

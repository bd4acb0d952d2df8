// How well each signal of --confidence tells right paths of a question from wrong ones, and what
// pruning by it would cut.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hyper/option_types.h"
#include "src/eval/data/questions.h"
#include "src/eval/metrics/metrics.h"
#include "src/eval/run/trace_pool.h"

namespace hyper::eval {

// The share of a question's paths that the paper's threshold is above: the lowest of the ten best
// of sixteen lowest windows (Sec. 3.3).
inline constexpr double kPaperCut = 6.0 / 15;

// A signal over the questions that have both right and wrong paths.
struct SignalScore {
  ConfidenceSignal signal = ConfidenceSignal::kAlternatives;
  int window = 0;                      // the lowest window of so many tokens; 0: the whole mean
  std::vector<std::string> questions;  // names, in the order of `areas`
  std::vector<double> areas;           // RocArea of right against wrong paths
  double area = kNaN;                  // their mean, with a bootstrap interval of 95 %
  Interval interval;
  // Shares of the right and of the wrong paths that a threshold at kPaperCut prunes, and the mean
  // share of a pruned path that is decoded by then. NaN for window 0.
  double right_cut = kNaN;
  double wrong_cut = kNaN;
  double cut_at = kNaN;
};

// Scores every signal that the pool has the series of, with each window and with the whole mean.
// Paths without a verdict are left out; an answer that is missing is wrong.
//   windows  in tokens, >= 1
// Errors: kDataLoss (a question's kind). Pure.
Result<std::vector<SignalScore>> ScoreSignals(const TracePool& pool, std::span<const int> windows);

// The answer of a stored path: the recorded one, else read from its text; empty for none. Pure.
std::string AnswerOfPath(const StoredPath& path, const Question& question);

// The window that preset `auto` takes for paths of this mean length: an eighth, as a power of two,
// at least 4. Pure.
int UsualWindow(double mean_tokens);

// Windows worth trying: 1, and a half, one, two and four times the usual one. Pure.
std::vector<int> CandidateWindows(double mean_tokens);

}  // namespace hyper::eval

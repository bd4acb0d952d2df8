#include "src/eval/run/signal_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "hyper/ask.h"
#include "src/core/quantile.h"
#include "src/core/signal.h"
#include "src/eval/grade/grader.h"
#include "src/eval/grade/study_grades.h"
#include "src/eval/run/stored_pool.h"
#include "src/store/series.h"

namespace hyper::eval {
namespace {

constexpr uint64_t kAreaSeed = 1;

// A path with a verdict, and the confidences of its tokens under one signal.
struct ScoredPath {
  bool right = false;
  std::vector<double> confidences;
};

std::vector<float> StoredSeriesOf(const StoredItem& item, PathId path, const char* name) {
  return ExpandSeries(item, path, name).value_or(std::vector<float>());
}

// The confidences of a stored path; none where the pool lacks a series of the signal.
std::vector<double> ConfidencesOf(const TracePool& pool, const StoredItem& item, PathId path,
                                  ConfidenceSignal signal) {
  const std::vector<const char*> names = SeriesOfSignal(signal);
  if (names.empty()) {  // an average over candidates, which is stored itself
    const bool top20 = signal == ConfidenceSignal::kTopK;
    if (!top20 && ConfidenceOf(pool.made_by) != NameOf(signal)) {
      return {};
    }
    const auto values = StoredSeriesOf(item, path, top20 ? "confidence_top20" : "confidence");
    return {values.begin(), values.end()};
  }
  std::map<std::string, std::vector<float>> series;
  size_t length = 0;
  for (const char* name : names) {
    series[name] = StoredSeriesOf(item, path, name);
    length = std::max(length, series[name].size());
  }
  const auto at = [&series](const char* name, size_t i) {
    const auto found = series.find(name);
    return found != series.end() && i < found->second.size() ? found->second[i] : kNaN;
  };
  std::vector<double> confidences;
  for (size_t i = 0; i < length; ++i) {
    const TokenReading token{
        {}, kNoToken, at("logprob", i), at("entropy", i), at("mean_logprob", i)};
    confidences.push_back(SignalOf(signal, token, 1));
  }
  return confidences;
}

// The paths of an entry that have a verdict and a known confidence.
Result<std::vector<ScoredPath>> ScoredPaths(const TracePool& pool, const PoolEntry& entry,
                                            ConfidenceSignal signal) {
  const Result<Question> question = QuestionOf(entry.question);
  if (!question) {
    return question.error();
  }
  std::map<std::string, StoredVerdict> verdicts;  // most paths share their answer with others
  std::vector<ScoredPath> paths;
  for (const StoredPath& path : entry.item.paths) {
    const std::string answer = AnswerOfPath(path, *question);
    auto [known, added] = verdicts.try_emplace(answer, StoredVerdict::kWrong);
    if (added && !answer.empty()) {
      const Result<GradeOutcome> grade = GradeAnswer(*question, answer);
      if (!grade) {
        return grade.error();
      }
      known->second = grade->verdict;
    }
    const StoredVerdict verdict = known->second;
    std::vector<double> confidences = ConfidencesOf(pool, entry.item, path.path, signal);
    const bool decided = verdict == StoredVerdict::kRight || verdict == StoredVerdict::kWrong;
    if (decided && !std::isnan(TraceConfidence(confidences))) {
      paths.push_back({verdict == StoredVerdict::kRight, std::move(confidences)});
    }
  }
  return paths;
}

// Scores of the right and of the wrong paths of a question.
struct Sides {
  std::vector<double> right;
  std::vector<double> wrong;
};

Sides SidesOf(const std::vector<ScoredPath>& paths, MeanKind kind, int window) {
  Sides sides;
  for (const ScoredPath& path : paths) {
    (path.right ? sides.right : sides.wrong)
        .push_back(window == 0 ? TraceConfidence(path.confidences, kind)
                               : LowestWindow(path.confidences, window, kind));
  }
  return sides;
}

// The token at which a window falls below the threshold; nothing where none does.
std::optional<size_t> CutAt(const std::vector<double>& confidences, MeanKind kind, int window,
                            double threshold) {
  ConfidenceWindow running(window, kind);
  for (size_t i = 0; i < confidences.size(); ++i) {
    running.Push(confidences[i]);
    if (running.full() && running.WindowMean() < threshold) {
      return i;
    }
  }
  return std::nullopt;
}

// What the paper's threshold cuts, summed up over questions.
class Cuts {
 public:
  void Add(const std::vector<ScoredPath>& paths, const Sides& sides, MeanKind kind, int window) {
    std::vector<double> all = sides.right;
    all.insert(all.end(), sides.wrong.begin(), sides.wrong.end());
    const double threshold = Quantile(std::move(all), kPaperCut);
    for (const ScoredPath& path : paths) {
      const auto cut = CutAt(path.confidences, kind, window, threshold);
      (path.right ? right_ : wrong_).push_back(cut ? 1 : 0);
      if (cut) {
        places_.push_back(static_cast<double>(*cut + 1) /
                          static_cast<double>(path.confidences.size()));
      }
    }
  }

  void Report(SignalScore& score) const {
    score.right_cut = Mean(right_);
    score.wrong_cut = Mean(wrong_);
    score.cut_at = Mean(places_);
  }

 private:
  std::vector<double> right_;
  std::vector<double> wrong_;
  std::vector<double> places_;
};

// Sets the mean of the areas and its interval.
Status Average(SignalScore& score) {
  const std::vector<double> zeros(score.areas.size(), 0.0);
  const Result<PairedDifference> mean =
      PairedBootstrap(score.areas, zeros, 0.95, kBootstrapResamples, kAreaSeed);
  if (!mean) {
    return mean.error();
  }
  score.area = mean->mean;
  score.interval = mean->interval;
  return {};
}

// One signal with each of the windows, 0 for the whole mean.
Result<std::vector<SignalScore>> ScoreSignal(const TracePool& pool, ConfidenceSignal signal,
                                             std::span<const int> windows) {
  const MeanKind kind = MeanOf(signal);
  std::vector<SignalScore> scores(windows.size());
  std::vector<Cuts> cuts(windows.size());
  for (const PoolEntry& entry : pool.entries) {
    const Result<std::vector<ScoredPath>> paths = ScoredPaths(pool, entry, signal);
    if (!paths) {
      return paths.error();
    }
    for (size_t i = 0; i < windows.size(); ++i) {
      const Sides sides = SidesOf(*paths, kind, windows[i]);
      if (sides.right.empty() || sides.wrong.empty()) {
        continue;
      }
      scores[i].areas.push_back(RocArea(sides.right, sides.wrong));
      scores[i].questions.push_back(entry.question.name);
      if (windows[i] > 0) {
        cuts[i].Add(*paths, sides, kind, windows[i]);
      }
    }
  }
  std::vector<SignalScore> known;
  for (size_t i = 0; i < windows.size(); ++i) {
    if (scores[i].areas.empty()) {
      continue;
    }
    scores[i].signal = signal;
    scores[i].window = windows[i];
    cuts[i].Report(scores[i]);
    if (Status status = Average(scores[i]); !status) {
      return status.error();
    }
    known.push_back(std::move(scores[i]));
  }
  return known;
}

}  // namespace

std::string AnswerOfPath(const StoredPath& path, const Question& question) {
  if (path.answer) {
    return *path.answer;
  }
  const bool finished = path.status == PathStatus::kFinished;
  return ExtractorFor(AnswerOptions(question))(path.text, finished, false).answer;
}

Result<std::vector<SignalScore>> ScoreSignals(const TracePool& pool, std::span<const int> windows) {
  std::vector<int> all = {0};
  all.insert(all.end(), windows.begin(), windows.end());
  std::vector<SignalScore> scores;
  for (size_t number = 0; number < kNamesOf<ConfidenceSignal>.size(); ++number) {
    Result<std::vector<SignalScore>> of_signal =
        ScoreSignal(pool, static_cast<ConfidenceSignal>(number), all);
    if (!of_signal) {
      return of_signal.error();
    }
    scores.insert(scores.end(), of_signal->begin(), of_signal->end());
  }
  return scores;
}

int UsualWindow(double mean_tokens) {
  int window = 4;
  while (2 * window <= mean_tokens / 8) {
    window *= 2;
  }
  return window;
}

std::vector<int> CandidateWindows(double mean_tokens) {
  const int usual = UsualWindow(mean_tokens);
  return {1, usual / 2, usual, 2 * usual, 4 * usual};
}

}  // namespace hyper::eval

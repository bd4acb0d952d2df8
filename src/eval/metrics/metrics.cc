#include "src/eval/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/quantile.h"
#include "src/core/random.h"

namespace hyper::eval {
namespace {

// Counts are long double: C(n, k) leaves the range of double at n = 1030.
using Count = long double;

// C(n, 0), C(n, 1), ... C(n, n).
std::vector<Count> Binomials(int n) {
  std::vector<Count> row(static_cast<size_t>(n) + 1, 1);
  for (int k = 1; k <= n; ++k) {
    row[static_cast<size_t>(k)] = row[static_cast<size_t>(k) - 1] * (n - k + 1) / k;
  }
  return row;
}

// Ways to draw samples: by how many were drawn, and how many answers reached the leader's count.
class Draws {
 public:
  explicit Draws(int most) : most_(static_cast<size_t>(most)) {
    ways_.assign(1, std::vector<Count>(most_ + 1, 0));
    ways_[0][0] = 1;
  }

  // One more answer with `size` samples, at most `cap` of them drawn; reaching `cap` is a tie.
  void AddAnswer(int size, int cap) {
    const std::vector<Count> choose = Binomials(size);
    const bool can_tie = size >= cap;
    std::vector<std::vector<Count>> next(ways_.size() + (can_tie ? 1 : 0),
                                         std::vector<Count>(most_ + 1, 0));
    for (size_t ties = 0; ties < ways_.size(); ++ties) {
      for (size_t drawn = 0; drawn <= most_; ++drawn) {
        if (ways_[ties][drawn] == 0) {
          continue;
        }
        const size_t limit = std::min({static_cast<size_t>(std::min(size, cap)), most_ - drawn});
        for (size_t more = 0; more <= limit; ++more) {
          const size_t tie = more == static_cast<size_t>(cap) ? 1 : 0;
          next[ties + tie][drawn + more] += ways_[ties][drawn] * choose[more];
        }
      }
    }
    ways_ = std::move(next);
  }

  // Ways to draw exactly `most` after `silent` samples that do not vote, each worth one part of
  // the tie.
  Count SharedWays(int silent) const {
    const std::vector<Count> choose = Binomials(silent);
    Count sum = 0;
    for (size_t ties = 0; ties < ways_.size(); ++ties) {
      for (size_t drawn = 0; drawn <= most_; ++drawn) {
        const size_t rest = most_ - drawn;
        if (rest < choose.size()) {
          sum += ways_[ties][drawn] * choose[rest] / static_cast<Count>(ties + 1);
        }
      }
    }
    return sum;
  }

 private:
  size_t most_;
  std::vector<std::vector<Count>> ways_;  // [ties][drawn]
};

// A whole number in [0, count) for one draw of one resample.
size_t Pick(uint64_t seed, int resample, size_t draw, size_t count) {
  const double uniform =
      Uniform(seed, static_cast<uint32_t>(resample), Purpose::kTie, 0, static_cast<uint32_t>(draw));
  return std::min(count - 1, static_cast<size_t>(uniform * static_cast<double>(count)));
}

// Means below this are sums of differences that cancel: those of k / n are not exact in binary,
// and a tie that rounding moves to one side would make every difference look surer than it is.
constexpr double kZeroMean = 1e-9;

double SnapToZero(double mean) { return std::abs(mean) < kZeroMean ? 0.0 : mean; }

// Means of the resamples.
std::vector<double> ResampledMeans(std::span<const double> values, int resamples, uint64_t seed) {
  std::vector<double> means(static_cast<size_t>(resamples));
  for (int resample = 0; resample < resamples; ++resample) {
    double sum = 0;
    for (size_t draw = 0; draw < values.size(); ++draw) {
      sum += values[Pick(seed, resample, draw, values.size())];
    }
    means[static_cast<size_t>(resample)] = SnapToZero(sum / static_cast<double>(values.size()));
  }
  return means;
}

// The middle `level` of the values.
Interval Middle(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  return {SortedQuantile(values, (1 - level) / 2), SortedQuantile(values, (1 + level) / 2)};
}

}  // namespace

double Mean(std::span<const double> values) {
  if (values.empty()) {
    return kNaN;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double SampleStd(std::span<const double> values) {
  if (values.size() < 2) {
    return kNaN;
  }
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean) * (value - mean);
  }
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Result<double> PassAtK(int n, int c, int k) {
  if (n < 1 || c < 0 || c > n || k < 1) {
    return InvalidArgument(
        "pass@k takes n >= 1, 0 <= c <= n and k >= 1; got n = " + std::to_string(n) +
        ", c = " + std::to_string(c) + ", k = " + std::to_string(k));
  }
  if (k > n) {
    return InvalidArgument("pass@" + std::to_string(k) + " needs " + std::to_string(k) +
                           " samples; there are " + std::to_string(n));
  }
  double all_wrong = 1;
  for (int i = 0; i < k; ++i) {
    all_wrong *= static_cast<double>(std::max(0, n - c - i)) / static_cast<double>(n - i);
  }
  return 1 - all_wrong;
}

Result<double> MajorityAtK(int right, std::span<const int> others, int silent, int k) {
  const int sum = std::accumulate(others.begin(), others.end(), right + silent);
  const bool negative =
      right < 0 || silent < 0 ||
      std::any_of(others.begin(), others.end(), [](int other) { return other < 0; });
  if (negative || k < 1 || k > sum) {
    return InvalidArgument("maj@" + std::to_string(k) + " needs at least " + std::to_string(k) +
                           " samples; there are " + std::to_string(sum));
  }
  const std::vector<Count> choose_right = Binomials(right);
  Count won = 0;
  for (int votes = 1; votes <= std::min(right, k); ++votes) {
    Draws draws(k - votes);
    for (const int other : others) {
      draws.AddAnswer(other, votes);
    }
    won += choose_right[static_cast<size_t>(votes)] * draws.SharedWays(silent);
  }
  return static_cast<double>(won / Binomials(sum)[static_cast<size_t>(k)]);
}

Interval WilsonInterval(double share, int questions) {
  constexpr double kZ = 1.959963984540054;  // 97.5 % of a normal distribution lie below it
  const double n = questions;
  const double centre = share + kZ * kZ / (2 * n);
  const double half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max(0.0, (centre - half) / scale), std::min(1.0, (centre + half) / scale)};
}

double McNemarExact(int only_a, int only_b) {
  const int n = only_a + only_b;
  // Half of the tail by sums of C(n, i) / 2^n, started at i = 0 in logarithms.
  double tail = 0;
  double log_term = -n * std::log(2.0);
  for (int i = 0; i <= std::min(only_a, only_b); ++i) {
    tail += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - i)) - std::log(static_cast<double>(i + 1));
  }
  return std::min(1.0, 2 * tail);
}

Result<PairedDifference> PairedBootstrap(std::span<const double> a, std::span<const double> b,
                                         double level, int resamples, uint64_t seed) {
  if (a.size() != b.size() || a.empty()) {
    return InvalidArgument("a paired test needs the same questions on both sides; got " +
                           std::to_string(a.size()) + " and " + std::to_string(b.size()));
  }
  std::vector<double> differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    differences[i] = a[i] - b[i];
  }
  const std::vector<double> means = ResampledMeans(differences, resamples, seed);
  const auto share = [&](auto beyond) {
    return static_cast<double>(std::count_if(means.begin(), means.end(), beyond)) /
           static_cast<double>(means.size());
  };
  const double below = share([](double mean) { return mean <= 0; });
  const double above = share([](double mean) { return mean >= 0; });
  return PairedDifference{SnapToZero(Mean(differences)), Middle(means, level),
                          std::min(1.0, 2 * std::min(below, above))};
}

double RocArea(const std::vector<double>& right, std::vector<double> wrong) {
  if (right.empty() || wrong.empty()) {
    return kNaN;
  }
  std::sort(wrong.begin(), wrong.end());
  double wins = 0;
  for (const double value : right) {
    const auto [first, last] = std::equal_range(wrong.begin(), wrong.end(), value);
    wins += static_cast<double>(first - wrong.begin()) + 0.5 * static_cast<double>(last - first);
  }
  return wins / (static_cast<double>(right.size()) * static_cast<double>(wrong.size()));
}

Result<Accuracy> Summarise(std::span<const std::vector<Outcome>> outcomes) {
  const size_t repeats = outcomes.empty() ? 0 : outcomes.front().size();
  const bool even = std::all_of(outcomes.begin(), outcomes.end(),
                                [&](const auto& row) { return row.size() == repeats; });
  if (repeats == 0 || !even) {
    return InvalidArgument(
        "an accuracy takes at least one question, and equally many repeats of each");
  }
  const auto questions = static_cast<double>(outcomes.size());
  Accuracy accuracy;
  accuracy.questions = static_cast<int>(outcomes.size());
  accuracy.repeats = static_cast<int>(repeats);
  accuracy.per_repeat.assign(repeats, 0);
  std::vector<double> per_question;
  double open = 0;
  for (const std::vector<Outcome>& row : outcomes) {
    double right = 0;
    for (size_t repeat = 0; repeat < repeats; ++repeat) {
      if (row[repeat] == Outcome::kRight) {
        accuracy.per_repeat[repeat] += 1 / questions;
        right += 1;
      }
      if (row[repeat] == Outcome::kUndecided || row[repeat] == Outcome::kFailed) {
        open += 1;
      }
    }
    per_question.push_back(right / static_cast<double>(repeats));
  }
  accuracy.mean = Mean(per_question);
  accuracy.std_dev = SampleStd(accuracy.per_repeat);
  accuracy.open_share = open / (questions * static_cast<double>(repeats));
  accuracy.low = accuracy.mean;
  accuracy.high = accuracy.mean + accuracy.open_share;
  accuracy.interval = {WilsonInterval(accuracy.low, accuracy.questions).low,
                       WilsonInterval(accuracy.high, accuracy.questions).high};
  accuracy.comparable = accuracy.open_share <= kLargestOpenShare;
  return accuracy;
}

}  // namespace hyper::eval

#include "src/core/vote.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "src/core/confidence.h"

namespace hyper {
namespace {

// A ballot that votes, its confidences made sound.
struct SoundBallot {
  int group = 0;
  double length = 0;
  double confidence = 0;
  double lowest_window = 0;
  double weight = 0;  // already rank^p under kBorda
};

bool NeedsWeight(VoteRule rule) {
  return std::find(kWeightRules.begin(), kWeightRules.end(), rule) != kWeightRules.end();
}

// What each ballot weighs under a rule that needs a weight: the weight, or Borda's (N - rank +
// 1)^p.
std::vector<double> Weights(std::span<const Ballot> ballots, VoteRule rule, double power) {
  std::vector<double> weights;
  for (const Ballot& ballot : ballots) {
    weights.push_back(ballot.weight);
  }
  if (rule != VoteRule::kBorda) {
    return weights;
  }
  std::vector<size_t> ranked;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i])) {
      ranked.push_back(i);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](size_t a, size_t b) { return ballots[a].weight > ballots[b].weight; });
  for (size_t rank = 0; rank < ranked.size(); ++rank) {
    weights[ranked[rank]] = std::pow(static_cast<double>(ranked.size() - rank), power);
  }
  return weights;
}

bool IsSound(double confidence) { return confidence >= 0 && confidence <= kMaxConfidence; }

double Clip(double confidence, double largest_sound) {
  if (IsSound(confidence)) {
    return confidence;
  }
  return confidence > kMaxConfidence ? largest_sound : 0.0;
}

// The voters among the ballots; notes in `clipped` those whose confidence was not sound.
std::vector<SoundBallot> MakeSound(std::span<const Ballot> ballots, VoteRule rule,
                                   double borda_power, std::vector<size_t>& clipped) {
  const std::vector<double> weights = Weights(ballots, rule, borda_power);
  double largest_mean = 0;
  double largest_window = 0;
  for (const Ballot& ballot : ballots) {
    if (ballot.group < 0) {
      continue;
    }
    if (IsSound(ballot.mean_confidence)) {
      largest_mean = std::max(largest_mean, ballot.mean_confidence);
    }
    if (IsSound(ballot.lowest_window)) {
      largest_window = std::max(largest_window, ballot.lowest_window);
    }
  }
  std::vector<SoundBallot> sound;
  for (size_t i = 0; i < ballots.size(); ++i) {
    const Ballot& ballot = ballots[i];
    if (ballot.group < 0 || (NeedsWeight(rule) && !std::isfinite(weights[i]))) {
      continue;
    }
    const double used = rule == VoteRule::kDeepConf ? ballot.lowest_window : ballot.mean_confidence;
    if (!IsSound(used)) {
      clipped.push_back(i);
    }
    sound.push_back({ballot.group, static_cast<double>(std::max<int64_t>(ballot.length_tokens, 0)),
                     Clip(ballot.mean_confidence, largest_mean),
                     Clip(ballot.lowest_window, largest_window), weights[i]});
  }
  return sound;
}

// Sum in ascending order, so that it does not depend on the order of the ballots.
double SortedSum(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (double value : values) {
    sum += value;
  }
  return sum;
}

double Ratio(double value, double whole) { return whole > 0 ? value / whole : 0.0; }

// phi of eq. feat-norm, and the terms of each rule's sum over an answer's paths.
class Terms {
 public:
  Terms(std::span<const SoundBallot> ballots, VoteRule rule, const VoteOptions& options)
      : rule_(rule), options_(options) {
    for (const SoundBallot& ballot : ballots) {
      length_sum_ += ballot.length;  // exact: lengths are whole numbers
      largest_confidence_ = std::max(largest_confidence_, ballot.confidence);
    }
  }

  double operator()(const SoundBallot& ballot) const {
    switch (rule_) {
      case VoteRule::kMajority:
        return 1;
      case VoteRule::kConfidence:
        return ballot.confidence;
      case VoteRule::kLength:
        return Ratio(ballot.length, length_sum_);
      case VoteRule::kDeepConf:
        return ballot.lowest_window;
      case VoteRule::kLengthConfidence:
        return LinearWeight(ballot);
      case VoteRule::kImportanceSampling:
        return std::exp(LinearWeight(ballot));
      case VoteRule::kCisc:
        return std::exp((ballot.confidence - largest_confidence_) / options_.temperature);
      case VoteRule::kWeighted:
      case VoteRule::kBest:
      case VoteRule::kBorda:
        return ballot.weight;
    }
    return 0;
  }

 private:
  double LinearWeight(const SoundBallot& ballot) const {
    return options_.lambda_length * Ratio(ballot.length, length_sum_) +
           options_.lambda_confidence * Ratio(ballot.confidence, largest_confidence_);
  }

  VoteRule rule_;
  VoteOptions options_;
  double length_sum_ = 0;
  double largest_confidence_ = 0;
};

std::vector<AnswerScore> ScoreAnswers(std::span<const SoundBallot> ballots, size_t answers,
                                      VoteRule rule, const Terms& terms) {
  std::vector<std::vector<double>> values(answers);
  std::vector<std::vector<double>> confidences(answers);
  for (const SoundBallot& ballot : ballots) {
    values[static_cast<size_t>(ballot.group)].push_back(terms(ballot));
    confidences[static_cast<size_t>(ballot.group)].push_back(ballot.confidence);
  }
  std::vector<AnswerScore> scores;
  double total = 0;
  for (size_t group = 0; group < answers; ++group) {
    if (values[group].empty()) {
      continue;
    }
    AnswerScore score;
    score.group = static_cast<int>(group);
    score.paths = static_cast<int>(values[group].size());
    score.score = rule == VoteRule::kBest
                      ? *std::max_element(values[group].begin(), values[group].end())
                      : SortedSum(std::move(values[group]));
    score.confidence_sum = SortedSum(std::move(confidences[group]));
    total += score.score;
    scores.push_back(score);
  }
  for (AnswerScore& score : scores) {
    score.share = Ratio(score.score, total);
  }
  return scores;
}

// TopK_a of eq. hyper-marginalize-full: leaves those out that have fewer paths than the K_a-th.
void MarkCandidates(std::vector<AnswerScore>& scores, int candidates) {
  const size_t wanted = static_cast<size_t>(std::max(candidates, 1));
  if (scores.size() <= wanted) {
    return;
  }
  std::vector<int> counts;
  counts.reserve(scores.size());
  for (const AnswerScore& score : scores) {
    counts.push_back(score.paths);
  }
  std::sort(counts.begin(), counts.end(), std::greater<>());
  for (AnswerScore& score : scores) {
    score.candidate = score.paths >= counts[wanted - 1];
  }
}

}  // namespace

VoteResult CountVotes(std::span<const Ballot> ballots, std::span<const std::string> answers,
                      VoteRule rule, const VoteOptions& options) {
  VoteResult result;
  const std::vector<SoundBallot> sound =
      MakeSound(ballots, rule, options.borda_power, result.clipped);
  result.ballots = static_cast<int>(sound.size());
  result.scores = ScoreAnswers(sound, answers.size(), rule, Terms(sound, rule, options));
  if (rule == VoteRule::kLengthConfidence) {
    MarkCandidates(result.scores, options.candidates);
  }
  std::sort(result.scores.begin(), result.scores.end(),
            [&](const AnswerScore& a, const AnswerScore& b) {
              if (a.candidate != b.candidate) {
                return a.candidate;
              }
              if (a.score != b.score) {
                return a.score > b.score;
              }
              if (a.paths != b.paths) {
                return a.paths > b.paths;
              }
              if (a.confidence_sum != b.confidence_sum) {
                return a.confidence_sum > b.confidence_sum;
              }
              return answers[static_cast<size_t>(a.group)] < answers[static_cast<size_t>(b.group)];
            });
  if (result.scores.empty()) {
    return result;
  }
  result.winner = result.scores.front().group;
  result.tied = result.scores.size() > 1 && result.scores[1].candidate &&
                result.scores[1].score == result.scores[0].score;
  return result;
}

bool IsMajority(int64_t votes, int64_t total) { return votes > total - votes; }

}  // namespace hyper

// Votes over the answers of many paths (Sec. 3.3, App. F). Which answers are equal is decided
// before: a ballot names a group by its index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "hyper/option_types.h"

namespace hyper {

// One path's vote.
struct Ballot {
  int group = -1;             // index into the answers; -1: no answer, the path does not vote
  int64_t length_tokens = 0;  // L, a fork's shared prefix included
  // c-hat, mean over the whole path, and the lowest window mean; NaN where unknown.
  double mean_confidence = std::numeric_limits<double>::quiet_NaN();
  double lowest_window = std::numeric_limits<double>::quiet_NaN();
  // The method's own score of the path, for the last three rules; NaN where unknown.
  double weight = std::numeric_limits<double>::quiet_NaN();
};

// The rules that need no weight; any set of paths can be counted by them.
inline constexpr std::array<VoteRule, 7> kVoteRules = {VoteRule::kLengthConfidence,
                                                       VoteRule::kMajority,
                                                       VoteRule::kConfidence,
                                                       VoteRule::kLength,
                                                       VoteRule::kDeepConf,
                                                       VoteRule::kImportanceSampling,
                                                       VoteRule::kCisc};
inline constexpr std::array<VoteRule, 3> kWeightRules = {VoteRule::kWeighted, VoteRule::kBest,
                                                         VoteRule::kBorda};

// How one answer fared.
struct AnswerScore {
  int group = -1;
  int paths = 0;
  double score = 0;
  double share = 0;           // score / sum of scores: the self-normalised estimate, eq. snis
  double confidence_sum = 0;  // of mean confidences, after clipping
  bool candidate = true;      // entered the choice (false: outside the K_a most frequent)
};

struct VoteResult {
  int winner = -1;                  // group; -1: nobody voted
  bool tied = false;                // another candidate has the same score: a later rule decided
  int ballots = 0;                  // paths that voted
  std::vector<AnswerScore> scores;  // best first, candidates before others
  std::vector<size_t> clipped;      // ballots whose confidence was degenerate, ascending
};

// Counts the votes by one rule. Equal scores: more paths, then the higher confidence sum, then the
// smaller text. The result does not depend on the order of the ballots.
// Source: eq. hyper-marginalize-full and eq. proxy-is; L and c-hat are normalised over all voting
// paths. A zero denominator makes its term 0.
// kCisc: exp((c-hat - largest c-hat) / T), so that shares are the sums of softmax(c-hat / T).
// Source: Taubenfeld et al., "Confidence Improves Self-Consistency in LLMs" (2025).
// A degenerate confidence is clipped, and its ballot listed: too large ones (+inf, above the
// possible kMaxConfidence) to the largest sound one of the vote, missing or negative ones to 0.
// A path without a finite weight does not vote under the rules that need one. kBorda ranks all
// paths with a weight, those without an answer too: they keep their rank and cast no vote; equal
// weights rank by the order of the ballots, as in Self-Certainty's own code.
//   ballots  groups in [-1, answers.size()); lengths >= 0
//   answers  canonical text per group
// Pure; O(ballots log ballots).
VoteResult CountVotes(std::span<const Ballot> ballots, std::span<const std::string> answers,
                      VoteRule rule, const VoteOptions& options = {});

// Whether `votes` of `total` are a majority: strictly more than half. Pure.
bool IsMajority(int64_t votes, int64_t total);

}  // namespace hyper

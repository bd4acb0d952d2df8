// Types that options have beside numbers: words of a fixed set, sets of actions, threshold rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hyper/names.h"

#pragma GCC visibility push(default)
namespace hyper {

// What the controller can do to the pool (Sec. 3.1). Equal scores go to the earlier one.
enum class Action { kNone, kSingleToken, kMultiToken, kBranch };
template <>
inline constexpr std::array kNamesOf<Action> = {"none", "single_token", "multi_token", "branch"};
inline constexpr size_t kActionCount = kNamesOf<Action>.size();

// A set of actions; kNone is always in it.
class ActionSet {
 public:
  constexpr ActionSet() = default;
  static constexpr ActionSet All() { return ActionSet(0b1111); }
  constexpr ActionSet With(Action action) const { return ActionSet(bits_ | Bit(action)); }
  constexpr ActionSet Without(Action action) const { return ActionSet(bits_ & ~Bit(action)); }
  constexpr bool Has(Action action) const { return (bits_ & Bit(action)) != 0; }
  constexpr bool operator==(const ActionSet&) const = default;

 private:
  constexpr explicit ActionSet(uint32_t bits) : bits_(bits | Bit(Action::kNone)) {}
  static constexpr uint32_t Bit(Action action) { return 1U << static_cast<uint32_t>(action); }

  uint32_t bits_ = Bit(Action::kNone);
};

// How the lowest window means of the warm-up paths become a pruning threshold.
struct ThresholdRule {
  enum class Kind {
    kTop,         // top:n         the n highest are kept, the threshold is the lowest of them
    kPercentile,  // percentile:q  the q-th percentile, linearly interpolated
    kOff,         // off           nothing is pruned
  };
  Kind kind = Kind::kTop;
  int top = 10;           // n >= 1
  double percentile = 0;  // q in [0, 100]; 90 is DeepConf-low, 10 is DeepConf-high
  bool operator==(const ThresholdRule&) const = default;
};

// When a run ends although paths are still to come.
struct StopRule {
  enum class Kind {
    kNever,      // never  all paths are decoded
    kSure,       // sure   no outcome of the paths to come can change the winner
    kPosterior,  // P      the winner stays with at least this probability
  };
  Kind kind = Kind::kNever;
  double posterior = 0;  // in (0.5, 1)
  bool operator==(const StopRule&) const = default;
};

// How the controller chooses an action: by the paper's scores, or by what the actions gained in
// measured runs.
enum class ControllerRule { kScores, kValue };
template <>
inline constexpr std::array kNamesOf<ControllerRule> = {"scores", "value"};

// When independent paths are started: all at once, in waves of 8, 8, 16, 32 and so on, or each when
// the last one has ended.
enum class LaunchOrder { kParallel, kWaves, kOne };
template <>
inline constexpr std::array kNamesOf<LaunchOrder> = {"parallel", "waves", "one"};

// Which candidates a confidence averages over.
enum class ConfidenceSet {
  kAlternatives,  // the k most probable tokens other than the chosen one (HyPER)
  kTopK,          // the k most probable tokens, the chosen one among them or not (DeepConf)
};
template <>
inline constexpr std::array kNamesOf<ConfidenceSet> = {"alternatives", "topk"};

// What a token's confidence is (src/core/signal.h). All are larger where the model is surer.
enum class ConfidenceSignal {
  kAlternatives,   // minus the mean log-probability of the k likeliest other tokens (HyPER)
  kTopK,           // of the k likeliest tokens (DeepConf)
  kLogprob,        // probability of the chosen token
  kSurprise,       // exp(-surprise): that probability against what the entropy lets expect
  kEntropy,        // exp(-entropy)
  kSelfCertainty,  // minus the mean log-probability of the whole vocabulary
};
template <>
inline constexpr std::array kNamesOf<ConfidenceSignal> = {
    "alternatives", "topk", "logprob", "surprise", "entropy", "self-certainty"};

// How the reuse of experts by earlier routes is penalised (Sec. 3.2, step 2).
enum class RoutePenalty { kScore, kSoftmax };
template <>
inline constexpr std::array kNamesOf<RoutePenalty> = {"score", "softmax"};

// Whether the chosen experts are mixed with noisy (HyPER) or clean (RoE as published) weights.
enum class RouteWeights { kNoisy, kClean };
template <>
inline constexpr std::array kNamesOf<RouteWeights> = {"noisy", "clean"};

// How the K next-token distributions become one (Sec. 3.2, step 3; kMeanProb is RoE's).
enum class RouteAggregate { kConfidence, kMeanProb };
template <>
inline constexpr std::array kNamesOf<RouteAggregate> = {"confidence", "mean-prob"};

// How ballots become a score per answer; the largest score wins. The last three need a score of
// each path, which only some methods give.
enum class VoteRule {
  kLengthConfidence,    // eq. hyper-marginalize-full (HyPER), among the K_a most frequent answers
  kMajority,            // number of paths
  kConfidence,          // sum of mean confidences
  kLength,              // sum of lengths over the sum of all lengths
  kDeepConf,            // sum of lowest window means
  kImportanceSampling,  // sum of exp(theta . phi), eq. proxy-is, over all answers
  kCisc,                // sum of softmax(mean confidence / T) over the paths (CISC)
  kWeighted,            // sum of weights
  kBest,                // largest weight of any path (best of N)
  kBorda,               // sum of (N - rank + 1)^p, paths ranked by weight (Self-Certainty)
};
template <>
inline constexpr std::array kNamesOf<VoteRule> = {
    "length_confidence",   "majority", "confidence", "length", "deepconf",
    "importance_sampling", "cisc",     "weighted",   "best",   "borda"};

// Options of the vote.
struct VoteOptions {
  int candidates = 3;              // K_a, >= 1; answers tied at the last place all enter
  double lambda_length = 0.6;      // weight of length; also theta_L of App. F
  double lambda_confidence = 0.4;  // weight of confidence; also theta_C of App. F
  double borda_power = 1.2;        // p of kBorda, >= 0; 0 is a majority vote
  double temperature = 1;          // T of kCisc, > 0; large: a majority vote
  VoteRule rule = VoteRule::kLengthConfidence;  // picks the answer
  bool tentative = true;                        // answers from unfinished reasoning vote too
};

// Score of a whole path.
enum class PathScorer { kSelfCertainty, kMean, kTail, kBottom, kLowest, kPTrue };
template <>
inline constexpr std::array kNamesOf<PathScorer> = {"self-certainty", "mean",   "tail",
                                                    "bottom",         "lowest", "p-true"};

// Where the value of a step of a tree comes from.
enum class RewardKind { kConfidence, kPTrue, kJudge, kProcessModel };
template <>
inline constexpr std::array kNamesOf<RewardKind> = {"conf", "ptrue", "judge", "prm"};

// How REBASE turns shares into whole numbers: the paper's rounding, or its code's.
enum class Allocation { kRound, kCeil };
template <>
inline constexpr std::array kNamesOf<Allocation> = {"round", "ceil"};

// Order in which Tree of Thoughts visits states.
enum class SearchOrder { kBreadth, kDepth };
template <>
inline constexpr std::array kNamesOf<SearchOrder> = {"bfs", "dfs"};

// Who writes ThreadWeaver's closing tag: the orchestrator (paper) or the model.
enum class ParallelClose { kOrchestrator, kModel };
template <>
inline constexpr std::array kNamesOf<ParallelClose> = {"orchestrator", "model"};

}  // namespace hyper
#pragma GCC visibility pop

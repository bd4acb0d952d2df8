// When the vote over many paths is decided before all of them have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hyper/option_types.h"
#include "hyper/result.h"
#include "src/core/vote.h"

namespace hyper {

// Reads "never", "sure" or a posterior such as "0.95". Errors: kInvalidArgument. Pure.
Result<StopRule> ParseStopRule(std::string_view text);

// The rule in the form that ParseStopRule reads. Pure.
std::string StopRuleText(const StopRule& rule);

// Whether a posterior may be asked for: in (0.5, 1). Pure.
bool IsStopPosterior(double posterior);

// Probability that the answer with `first` votes is given more often than the one with `second`:
// P(p > 1/2) for p ~ Beta(first + 1, second + 1), a uniform prior. Other answers do not count.
// Source: Aggarwal et al., "Let's Sample Step by Step: Adaptive-Consistency for Efficient Reasoning
// and Coding with LLMs" (EMNLP 2023), its Beta criterion, as the finite sum
//   2^-n sum_{j=0}^{first} C(n, j), n = first + second + 1.
//   first, second  >= 0
// Pure; O(second).
double LeaderPosterior(int64_t first, int64_t second);

// Whether `coming` further votes that weigh at most `most` each cannot take the lead away, nor make
// a tie of it. Pure.
bool IsSureLead(double lead, int64_t coming, double most);

// The most that one path can weigh under a rule that adds up weights which no other path changes;
// nothing for the other rules, under which no lead is sure.
//   signal  what the confidences are
// Pure.
std::optional<double> MostWeight(VoteRule rule, ConfidenceSignal signal);

// Whether a rule says anything before the last path: all but kBest, where one better path wins
// against any number of others. Pure.
bool CanStop(VoteRule rule);

// Paths to start now: all of `width` at once; 8 and then as many as were opened, while there are
// that many; or one.
//   opened  so far, in [0, width]
// Pure.
int NextWave(LaunchOrder launch, int opened, int width);

// Draws of what the paths to come may answer.
struct UrnSpec {
  int draws = 256;        // >= 1
  double new_answer = 1;  // weight of an answer that no path has given yet
  uint64_t key = 0;       // of the random numbers
  uint32_t step = 0;      // tells the states of one run apart
  double at_least = 0;    // the caller only asks whether the posterior reaches this
};

// Probability that the winner of a vote still wins with `coming` further paths, for any vote rule.
// The coming paths are drawn from a Polya urn: an answer with v votes is drawn in proportion to
// v + 1, one of its paths giving length, confidence and weight; a new answer in proportion to
// new_answer, any path giving the rest. For two answers and many coming paths this is
// LeaderPosterior; with unlike weights it is the same model of the answers, counted by the rule.
//   ballots, answers, rule, options  as for CountVotes; ballots without an answer are not drawn
//   coming  >= 0
// Returns a share of the draws; 0 where nobody voted. Where `at_least` is out of reach the draws
// end early, and the share is any number below it. Pure: equal keys give equal shares.
// O(draws (ballots + coming) log(ballots + coming)).
double UrnPosterior(std::span<const Ballot> ballots, std::span<const std::string> answers,
                    VoteRule rule, const VoteOptions& options, int coming, const UrnSpec& urn);

}  // namespace hyper

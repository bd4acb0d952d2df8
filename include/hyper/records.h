// The stream of plain records that a session produces. Terminal view, trace, server events and run
// store are printers of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hyper/names.h"
#include "hyper/option_types.h"
#include "hyper/types.h"

#pragma GCC visibility push(default)
namespace hyper {

// Number of a path within its session, from 0 in the order of opening.
using PathId = int;
inline constexpr PathId kNoPath = -1;

enum class PathStatus {
  kRunning,
  kFinished,    // ended by an end-of-generation token
  kPruned,      // confidence fell below the threshold, or the pool ran out of cells; see reason
  kLength,      // reached max_tokens or the end of the context
  kMerged,      // a MultiToken continuation that was not kept; never votes
  kDegenerate,  // it repeats itself, or the model returned NaN or nothing finite
  kCancelled,   // the run was stopped
  kFailed,      // the engine gave up the lane
};
template <>
inline constexpr std::array kNamesOf<PathStatus> = {"running", "finished",   "pruned",    "length",
                                                    "merged",  "degenerate", "cancelled", "failed"};

// Whether a path with that status ended by itself or at its token limit. Pure.
constexpr bool CameToItsEnd(PathStatus status) {
  return status == PathStatus::kFinished || status == PathStatus::kLength;
}

// What a path is for, and so how its tokens are charged.
enum class PathKind {
  kReasoning,  // an answer to the question; counts into N_inst and may vote
  kJudge,      // a judge's or value prompt's reply; charged as judge tokens
  kProbe,      // a fork that a running path's answer is read from; charged as probe tokens
};
template <>
inline constexpr std::array kNamesOf<PathKind> = {"reasoning", "judge", "probe"};

// Statistics of the pool at one position (App. A); all are 0 for an empty pool. Normalised by X_max
// they are in [0, 1], but for D_dist and D_seq, which have no maximum of their own.
struct PoolStatistics {
  double confidence = 0;              // C-bar, mean confidence, nats
  double entropy = 0;                 // H, mean top-k entropy, nats
  double consensus = 0;               // beta, [0, 1]
  double distribution_diversity = 0;  // D_dist, [0, ln 2]
  double sequence_diversity = 0;      // D_seq, [0, 1]
  double diversity = 0;               // D
  double variance = 0;                // Var(C), nats^2

  // Calls visit(name, field) for each, in the order of JSON members and columns.
  template <class Self, class Visit>
  static void ForEach(Self& self, Visit&& visit) {
    visit("confidence", self.confidence);
    visit("entropy", self.entropy);
    visit("consensus", self.consensus);
    visit("distribution_diversity", self.distribution_diversity);
    visit("sequence_diversity", self.sequence_diversity);
    visit("diversity", self.diversity);
    visit("variance", self.variance);
  }
};

// X_max of one statistic, and where it was first seen: late positions with one path can dominate
// it.
struct Maximum {
  double value = 0;
  int position = -1;  // -1: nothing seen
  int paths = 0;
};

// X_max of the statistics that are normalised (App. A, eq. global-max-norm-app).
struct MaxStatistics {
  Maximum confidence, entropy, diversity, variance;

  // As PoolStatistics::ForEach.
  template <class Self, class Visit>
  static void ForEach(Self& self, Visit&& visit) {
    visit("confidence", self.confidence);
    visit("entropy", self.entropy);
    visit("diversity", self.diversity);
    visit("variance", self.variance);
  }
};

struct PathRecord {  // a path was opened or forked
  PathId path = kNoPath;
  PathId parent = kNoPath;  // kNoPath: opened on the prompt
  int position = 0;         // generated tokens it starts with
  bool warmup = false;
  PathKind kind = PathKind::kReasoning;
};

struct TokenRecord {
  PathId path = kNoPath;
  int position = 0;  // among the path's generated tokens, from 0
  Token token = kNoToken;
  std::string text;
  float logprob = 0;
  float confidence = 0;
  float entropy = 0;
  int routes = 1;
  float confidence_top20 = 0;  // DeepConf's: over the 20 most probable tokens
  float mean_logprob = 0;      // over the whole vocabulary; NaN where the engine does not say
  double window_mean = 0;      // Path::window_mean with this token; NaN where nothing is known
};

struct DecisionRecord {
  int step = 0;      // number of the decision, from 0
  int position = 0;  // generated tokens at the decision
  PoolStatistics raw;
  PoolStatistics normalised;
  // What they were computed from: the most probable tokens of each running path, with as many
  // entries as entropy and confidence read.
  struct Reading {
    PathId path = kNoPath;
    std::vector<TokenLogprob> top;
  };
  std::vector<Reading> readings;
  std::array<double, kActionCount> scores{};  // by Action
  ActionSet allowed;
  Action action = Action::kNone;  // the one with the highest score
  bool acted = false;             // it changed something; else the pool went on as under None
  int expansion = 1;              // r_t
  int paths_before = 0;
  int paths_after = 0;  // lanes right after the action, transients and routes not counted
  int lanes_after = 0;  // transients and extra routes counted
  std::string note;     // why it was a no-op or was cut short, in words; else empty

  // What was done: the action, or None where it changed nothing.
  Action effect() const { return acted ? action : Action::kNone; }
};

struct RefineRecord {  // routes of a path from the next token on
  PathId path = kNoPath;
  int position = 0;
  int routes = 1;
};

struct FinishRecord {  // a path ended, in any way
  PathId path = kNoPath;
  PathStatus status = PathStatus::kRunning;
  int tokens = 0;
  std::string reason;  // e.g. "window 3.91 < threshold 4.02"
  std::string answer;  // empty: none
  bool tentative = false;
  double confidence = 0;     // mean
  double lowest_window = 0;  // lowest window mean
  PathId kept = kNoPath;     // of a merged path: the path kept instead
};

struct NoticeRecord {  // a warning or a phase, in words
  std::string text;
};

// What is given up, in this order, when KV cells run short in the middle of a run.
enum class ShortageStep {
  kExpansionStopped,  // no further routes, continuations or branches; those that are open end
  kPathPruned,        // the least confident path goes
  kPathEnded,         // the last path ends where it is
  kExpansionResumed,  // there are cells enough again
  kParked,            // the whole session gives its cells to others; a server's pools only
  kResumed,           // it goes on; what its lanes held is computed again
};

struct ShortageRecord {  // KV cells ran short, or no longer are
  ShortageStep step = ShortageStep::kExpansionStopped;
  int position = 0;       // generated tokens of the longest running path
  int running = 0;        // paths that run after the step
  int routes = 0;         // extra routes that the step took back
  int64_t cells = 0;      // left in the session's reservation after the step
  PathId path = kNoPath;  // that was pruned or ended
};

// "expansion_stopped", "path_pruned", "path_ended", "expansion_resumed", "parked", "resumed". Pure.
const char* ShortageStepName(ShortageStep step);
// The record as a sentence. Pure.
std::string ShortageText(const ShortageRecord& shortage);

struct WarmupRecord {  // the results of the warm-up
  bool has_threshold = false;
  double threshold = 0;
  MaxStatistics maxima;
  // Where the maxima come from: the warm-up paths stepped together, by token from the first on.
  struct Position {
    PoolStatistics statistics;
    int paths = 0;
  };
  std::vector<Position> positions;
};

struct StopRecord {      // the vote was decided before all paths had ended
  std::string answer;    // the winner
  double posterior = 0;  // probability that it stays the winner; 1 where the lead is sure
  std::string basis;     // what that is by: "sure", "beta" or "urn"
  int voters = 0;        // paths that had voted
  int paths = 0;         // opened so far or yet to be opened
  int cancelled = 0;     // of these, running ones that the stop ends
  int unopened = 0;      // of these, ones that are never opened now
  int64_t saved = 0;     // tokens that these would have taken, by the mean length so far
};

// The record as a sentence: "decided at 0.97; 21 of 32 paths cancelled".
// Pure.
std::string StopText(const StopRecord& stop);

using Record = std::variant<PathRecord, TokenRecord, DecisionRecord, RefineRecord, FinishRecord,
                            WarmupRecord, NoticeRecord, ShortageRecord, StopRecord>;

// Tokens and lanes charged to a session. abs = generated; effective = K per refined token, 1 per
// other generated token, and every probe, judge and value position.
struct Ledger {
  int64_t generated = 0;     // abs tokens
  int64_t refined = 0;       // of these, made with K > 1 routes
  int64_t extra_routes = 0;  // sum of K - 1
  int64_t prefilled = 0;     // prompt tokens, once per session
  int64_t recomputed = 0;
  int64_t probe = 0;
  int64_t judge = 0;
  int64_t value = 0;
  int lanes_opened = 0;  // N_inst: lanes ever opened or forked
  int lanes_peak = 0;
  // Decode positions, by phase: the tokens that came one after another, and what the mean number of
  // lanes is over.
  int64_t positions = 0;
  int64_t cells_peak = 0;  // KV cells in use by this session at most
  double bytes_per_cell = 0;
  int stalls = 0;
  double wall_s = 0;
  double engine_s = 0;
  double sampler_s = 0;
  double statistics_s = 0;
  int64_t penalty_sums = 0;     // reuse penalties of two-pass routing that were not zero
  int64_t penalty_rewards = 0;  // of these, rewards: the expert's summed scores were negative
  int64_t saved = 0;            // tokens that a decided vote saved, by the mean length of its paths

  int64_t effective() const { return generated + extra_routes + probe + judge + value; }
  double mean_lanes() const {
    return positions > 0 ? static_cast<double>(generated) / static_cast<double>(positions) : 0.0;
  }
  double cells_peak_bytes() const { return static_cast<double>(cells_peak) * bytes_per_cell; }
};

}  // namespace hyper
#pragma GCC visibility pop

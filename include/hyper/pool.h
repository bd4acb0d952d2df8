// The pool of paths of one session: token histories, statistics, pruning, forks and the ledger.
// A method changes the pool only through it, and learns of what happened by path events.
//
// Paths advance in rounds: GrantAll gives every running path the same number of tokens; the round
// is over (`settled`) when each of them has used its grant or ended. All decisions are made then,
// so they depend on positions only, never on the order in which an engine served the lanes. Thread
// rule: owned by the thread that runs the driver.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/engine.h"
#include "hyper/options.h"
#include "hyper/records.h"

#pragma GCC visibility push(default)
namespace hyper {

class ConfidenceWindow;

// Root of a session's random numbers; see the path keys in design 3.4.
struct SessionSeed {
  uint64_t run_seed = 0;
  uint64_t question = 0;
};

// One path: what it generated (a fork's inherited tokens included) and its statistics.
struct Path {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  PathId id = kNoPath;
  PathId parent = kNoPath;
  int fork_position = 0;  // generated tokens inherited from the parent
  bool warmup = false;
  PathKind kind = PathKind::kReasoning;
  int prompt_tokens = 0;  // of the prompt it stands on
  PathStatus status = PathStatus::kRunning;
  uint64_t key = 0;
  LaneId lane = 0;
  int routes = 1;      // K it is decoded with
  int granted = 0;     // tokens still to come in this round
  int scores_due = 0;  // answers to Score still to come
  std::string reason;
  PathId kept = kNoPath;
  // Per generated token, all of length() entries.
  std::vector<Token> tokens;
  std::vector<float> logprobs;
  std::vector<float> confidences;        // with the run's candidate set and k
  std::vector<float> confidences_top20;  // DeepConf's: the 20 most probable tokens
  std::vector<float> mean_logprobs;      // over the whole vocabulary; NaN where unknown
  std::vector<float> entropies;
  std::vector<uint8_t> route_counts;  // K of each token; 0: given by Extend, not generated
  // Entropy-count most probable tokens of the newest position; of a `warmup` path those of every
  // position, until the warm-up is over.
  std::vector<TokenLogprob> top;
  std::vector<std::vector<TokenLogprob>> top_history;
  // Confidence over the sliding window and the whole path; NaN while nothing is known.
  double window_mean = kUnknown;      // of the last `window` tokens, or of all while shorter
  double lowest_window = kUnknown;    // lowest mean of a full window; the whole mean while shorter
  double mean_confidence = kUnknown;  // c-hat, of all tokens
  std::string text;    // bytes of the generated tokens, end-of-generation token left out
  std::string answer;  // extracted at the end; empty: none
  std::string answer_raw;
  bool tentative = false;

  int length() const { return static_cast<int>(tokens.size()); }
  bool running() const { return status == PathStatus::kRunning; }
};

// How sure a path is now: its window mean; a path of unknown confidence counts as unsure. Pure.
double Sureness(const Path& path);

// Turns a finished path's text into its answer; set by the session's owner (suite, server).
struct ExtractedAnswer {
  std::string answer;  // empty: none
  std::string raw;
  bool tentative = false;
};
using AnswerExtractor =
    std::function<ExtractedAnswer(std::string_view text, bool finished, bool reasoning_opened)>;

// What the session may use; all its caps are computed from this and nothing else.
struct Reservation {
  int lanes = 0;      // lanes and routes at once
  int64_t cells = 0;  // KV cells at once
};

// The pool. Made by a Session; methods get it by reference.
class Pool {
 public:
  struct Config {
    Prompt prompt;
    MethodOptions options;
    SessionSeed seed;
    Reservation reservation;
    bool token_records = false;                       // also emit a TokenRecord per token
    std::vector<std::pair<Token, float>> logit_bias;  // of every path; see LaneSpec
    AnswerExtractor extractor;                        // none: paths have no answers
  };

  // `engine` must outlive the pool.
  Pool(Engine& engine, Config config);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const MethodOptions& options() const { return config_.options; }
  const Capabilities& capabilities() const { return engine_.capabilities(); }
  const Reservation& reservation() const { return config_.reservation; }
  const ModelInfo& model() const { return engine_.model(); }
  Engine& engine() { return engine_; }
  const Prompt& prompt() const { return config_.prompt; }

  const std::vector<Path>& paths() const { return paths_; }
  const Path& path(PathId id) const { return paths_[static_cast<size_t>(id)]; }
  // Running paths, in order of id.
  const std::vector<PathId>& running() const { return running_; }
  // No running path has a grant left: the round is over.
  bool settled() const { return pending_ == 0; }
  // Tokens that every running path has generated, where the pool moves in lockstep; else the most.
  int position() const;
  // KV cells that the session's open lanes hold, shared prefixes once.
  int64_t cells() const;
  // Cells of the reservation that no open lane holds.
  int64_t FreeCells() const { return config_.reservation.cells - cells(); }
  // Lanes that may still be added for `tokens` tokens each without passing the reservation.
  int FreeLanes(int tokens) const;
  // False while KV cells are short: a method then opens no further routes, continuations or
  // branches.
  bool may_expand() const { return may_expand_; }

  // Opens path number `index` on the prompt. Its random key depends on the seed and `index` only.
  Result<PathId> Open(uint64_t index, bool warmup);
  // Forks a running path at its end; the child inherits tokens, window and sums. Its key depends on
  // the parent's key, `step` and `child`.
  Result<PathId> Fork(PathId parent, int step, int child);
  // Opens a judge's path on a prompt of its own; `number` tells it from other judge paths of the
  // session. It is granted and ended like any other, and never votes.
  Result<PathId> OpenJudge(std::span<const Token> prompt, uint64_t number);
  // Appends given tokens to a path that holds no grant; they are charged as prefilled.
  Status Extend(PathId path, std::span<const Token> tokens);
  // Asks for the log-probabilities of continuations of a path; Method::OnScored gets the answer.
  // Charged as probe tokens.
  Result<uint64_t> Score(PathId path, std::span<const std::vector<Token>> continuations);
  // Something outside the engine is due (such as a reward model's verdict): the round is not over
  // before as many calls of Arrived.
  void Await() { ++pending_; }
  void Arrived() { --pending_; }
  // Takes a path's grant back; it waits, open, until it is granted again.
  Status Pause(PathId path);
  // Gives every running path `count` tokens (less where max_tokens is nearer). Where the
  // reservation lacks cells for it, expansion stops and the least confident paths are pruned first,
  // each step recorded.
  Status GrantAll(int count);
  Status Grant(PathId path, int count);
  // Refinement of a path from its next token on; routes = 1 ends it.
  Status SetRoutes(PathId path, int routes);
  // Ends a running path. kMerged paths name the path that was kept.
  void Finish(PathId path, PathStatus status, const std::string& reason, PathId kept = kNoPath);
  // From now on a path whose full window falls below `threshold` is pruned at that token.
  void SetThreshold(std::optional<double> threshold) { threshold_ = threshold; }
  std::optional<double> threshold() const { return threshold_; }
  // Statistics of the running paths at the current position (App. A); the suffixes compared are
  // the last L tokens, or all since the last decision where `since` (generated tokens) is nearer.
  StatisticsRecord Statistics(int since) const;
  // X_max over every position of the warm-up paths, stepped together.
  WarmupRecord WarmupStatistics() const;
  // Starts a new phase, that of the pool: decode positions are counted afresh for the mean number
  // of lanes, and what WarmupStatistics reads is dropped.
  void BeginPhase();
  // Stops everything that still runs.
  void CancelAll(const std::string& reason);

  const Ledger& ledger() const { return ledger_; }
  Ledger& mutable_ledger() { return ledger_; }
  void Emit(Record record) { records_.push_back(std::move(record)); }
  // Records since the last call.
  std::vector<Record> TakeRecords();

  // For the driver: applies one engine event to the path that owns its lane; returns that path, or
  // kNoPath for a lane that has been closed meanwhile.
  PathId Apply(const Event& event);
  // For the session: KV cells are short. Ends every refinement and forbids expansion, for good
  // where the engine has fewer cells than the reservation says (`stalled`).
  void StopExpansion(bool stalled);
  // For the session: the same again. Prunes the least confident path, or ends the last one; judges
  // only where no other path runs.
  void PruneForCells(const std::string& reason);
  // Ends `victim` for want of cells: prunes it, or ends it where it is if it is the `last` that
  // could go on. Recorded.
  void EndForCells(PathId victim, bool last, const std::string& reason);
  // The least confident of some paths (at least one); among equals the youngest. Pure.
  PathId LeastConfident(std::span<const PathId> among) const;
  // Paths and extra routes that are decoded now.
  int LanesInUse() const;
  bool stalled() const { return stalled_; }
  void ClearStall() { stalled_ = false; }

 private:
  Path& Mutable(PathId id) { return paths_[static_cast<size_t>(id)]; }
  void Append(Path& path, const Event& event);
  void EndLane(Path& path, PathStatus status, const std::string& reason);
  void Take(Path& path, const Event& event);
  int MakeRoom(int count);
  void RecordShortage(ShortageStep step, int routes, PathId path);
  void NotePeaks();
  void Hold(PathId path);             // from now on it holds cells: it has just been opened
  void Grow(PathId path, int count);  // `count` tokens more
  void Release(PathId path);          // it has ended
  LaneSpec SpecFor(uint64_t key) const;
  PathId Insert(Path path, ConfidenceWindow window);

  // What a path holds of the engine's cells: all its tokens while it runs, afterwards those that
  // its forks share.
  struct Holding {
    int tokens = 0;             // counted from its first one, inherited ones included
    std::vector<PathId> forks;  // of it that still hold something
  };

  Engine& engine_;
  Config config_;
  std::vector<Path> paths_;
  std::vector<Holding> holdings_;  // by path
  int64_t own_cells_ = 0;          // of all holdings without what they share, and judges' prompts
  std::vector<ConfidenceWindow> windows_;  // by path
  std::vector<PathId> running_;
  std::vector<std::pair<LaneId, PathId>> lanes_;  // open lanes, sorted by lane
  std::optional<double> threshold_;
  int pending_ = 0;       // running paths with a grant left, and what else is due
  bool stalled_ = false;  // an event of the last poll said so
  bool may_expand_ = true;
  bool may_resume_ = true;      // expansion that stopped may go on once there are cells again
  std::vector<int> tokens_at_;  // of this phase: tokens generated at each position
  Ledger ledger_;
  std::vector<Record> records_;
};

}  // namespace hyper
#pragma GCC visibility pop

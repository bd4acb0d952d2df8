// The pool of paths of one session, as a method sees it: what paths there are, and what may be done
// to them. Driver and session have a wider view of the same pool (src/decode/session_pool.h).
//
// Paths advance in rounds: GrantAll gives every running path the same number of tokens; the round
// is over (`settled`) when each of them has used its grant or ended. All decisions are made then,
// so they depend on positions only, never on the order in which an engine served the lanes. Thread
// rule: owned by the thread that runs the driver.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/engine.h"
#include "hyper/options.h"
#include "hyper/path.h"
#include "hyper/records.h"

#pragma GCC visibility push(default)
namespace hyper {

// Root of a session's random numbers; see the path keys in design 3.4.
struct SessionSeed {
  uint64_t run_seed = 0;
  uint64_t question = 0;
};

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
  int lanes = 0;      // paths decoded at once; the routes of a token are rows, not lanes
  int64_t cells = 0;  // KV cells at once
};

// Where a path is continued in another way.
struct ForkPoint {
  int position = 0;         // generated tokens that the fork inherits
  std::vector<Token> text;  // given tokens behind them
  std::optional<double> temperature;
  // Of its random numbers; nothing: they depend on those of its parent.
  std::optional<uint64_t> seed;
};

class Pool {
 public:
  struct Config {
    Prompt prompt;
    MethodOptions options;
    SessionSeed seed;
    Reservation reservation;
    bool token_records = false;                       // also emit a TokenRecord per token
    bool score_tops = false;                          // see Method::OnScoreTops
    std::vector<std::pair<Token, float>> logit_bias;  // of every path; see LaneSpec
    AnswerExtractor extractor;                        // none: paths have no answers
  };
  virtual ~Pool() = default;

  // What there is.
  virtual const Config& config() const = 0;
  virtual Engine& engine() const = 0;
  virtual const std::vector<Path>& paths() const = 0;
  // Running paths, in order of id.
  virtual const std::vector<PathId>& running() const = 0;
  // No running path has a grant left: the round is over.
  virtual bool settled() const = 0;
  // KV cells that the session's open lanes hold, shared prefixes once.
  virtual int64_t cells() const = 0;
  // False while KV cells are short: a method then opens no further routes, continuations or
  // branches.
  virtual bool may_expand() const = 0;
  virtual std::optional<double> threshold() const = 0;
  virtual const Ledger& ledger() const = 0;

  const MethodOptions& options() const { return config().options; }
  const Reservation& reservation() const { return config().reservation; }
  const Prompt& prompt() const { return config().prompt; }
  const Capabilities& capabilities() const { return engine().capabilities(); }
  const ModelInfo& model() const { return engine().model(); }
  const Path& path(PathId id) const { return paths()[static_cast<size_t>(id)]; }
  // Tokens that every running path has generated, where the pool moves in lockstep; else the most.
  int position() const;
  // Cells of the reservation that no open lane holds.
  int64_t FreeCells() const { return reservation().cells - cells(); }
  // Lanes that may still be added for `tokens` tokens each without passing the reservation.
  int FreeLanes(int tokens) const;
  // The least confident of some paths (at least one); among equals the youngest.
  PathId LeastConfident(std::span<const PathId> among) const;

  // Opens path number `index` on the prompt. Its random key depends on the seed and `index` only.
  virtual Result<PathId> Open(uint64_t index, bool warmup) = 0;
  // Forks a running path at its end; the child inherits tokens, window and sums. Its key depends on
  // the parent's key, `step` and `child`.
  virtual Result<PathId> Fork(PathId parent, int step, int child) = 0;
  // The same at any token of a path that runs or has ended, but for its end token. Given tokens are
  // charged as prefilled. `step` and `child` as for Fork.
  virtual Result<PathId> ForkAt(PathId parent, const ForkPoint& at, int step, int child) = 0;
  // Opens a judge's path on a prompt of its own; `number` tells it from other judge paths of the
  // session. It is granted and ended like any other, and never votes.
  virtual Result<PathId> OpenJudge(std::span<const Token> prompt, uint64_t number) = 0;
  // Asks a running path, which keeps its state, for its answer: forks it, appends `question` and
  // grants the fork `tokens` tokens. When the fork ends, its answer is the newest of Path::probed
  // of the path, unless it was cancelled or failed. Charged as probe tokens. Errors: as Fork,
  // Extend.
  virtual Result<PathId> Probe(PathId path, std::span<const Token> question, int tokens) = 0;
  // Appends given tokens to a path that holds no grant; they are charged as prefilled.
  virtual Status Extend(PathId path, std::span<const Token> tokens) = 0;
  // Asks for the log-probabilities of continuations of a path; Method::OnScored gets the answer.
  // Charged as probe tokens.
  virtual Result<uint64_t> Score(PathId path,
                                 std::span<const std::vector<Token>> continuations) = 0;
  // Something outside the engine is due (such as a reward model's verdict, which reads
  // `value_tokens`): the round is not over before as many calls of Arrived.
  virtual void Await(int64_t value_tokens) = 0;
  virtual void Arrived() = 0;
  // Gives every running path `count` tokens (less where max_tokens is nearer). Where the
  // reservation lacks cells for it, expansion stops and the least confident paths are pruned first,
  // each step recorded.
  virtual Status GrantAll(int count) = 0;
  virtual Status Grant(PathId path, int count) = 0;
  // Takes a path's grant back; it waits, open, until it is granted again.
  virtual Status Pause(PathId path) = 0;
  // Refinement of a path from its next token on; routes = 1 ends it.
  virtual Status SetRoutes(PathId path, int routes) = 0;
  // Ends a running path. kMerged paths name the path that was kept.
  virtual void Finish(PathId path, PathStatus status, const std::string& reason,
                      PathId kept = kNoPath) = 0;
  // Takes the vote from a path that has ended already: it becomes kMerged and loses its answer.
  virtual void Discard(PathId path, const std::string& reason, PathId kept) = 0;
  // Ends a running path because cells are short: prunes it, or ends it where it is if it is the
  // `last` that could continue. Recorded.
  virtual void EndForCells(PathId path, bool last, const std::string& reason) = 0;
  // Stops everything that still runs.
  void CancelAll(const std::string& reason);
  // From now on a path whose full window falls below `threshold` is pruned at that token.
  virtual void SetThreshold(std::optional<double> threshold) = 0;
  // Starts a new phase, that of the pool: decode positions are counted afresh for the mean number
  // of lanes, and Path::top_history is dropped.
  virtual void BeginPhase() = 0;

  virtual void Emit(Record record) = 0;

 protected:
  Pool() = default;
  Pool(const Pool&) = default;
  Pool& operator=(const Pool&) = default;
};

}  // namespace hyper
#pragma GCC visibility pop

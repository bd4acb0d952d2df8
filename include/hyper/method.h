// A method: the state machine that decides what the pool does. It never blocks and never decodes;
// the driver calls it after each round of the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyper/options.h"
#include "hyper/pool.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

// What may still change a vote; see Method::Ahead.
struct Outlook {
  int unopened = 0;       // paths that are still to be opened, as far as the method can tell
  bool complete = false;  // no others come than these and the running ones, and who has voted stays
};

class Method {
 public:
  virtual ~Method() = default;
  // Opens the first paths and grants them tokens.
  virtual Status Start(Pool& pool) = 0;
  // A path has taken a token, or has ended (see Path::running): the method may Pause or Finish it,
  // or stop by the answers so far. All On... calls come after every event of a forward has been
  // applied. Default: nothing.
  virtual void OnToken(Pool& pool, PathId path);
  // The answer to Pool::Score: one row per continuation, the log-probability of each of its tokens.
  // Default: nothing.
  virtual void OnScored(Pool& pool, PathId path, uint64_t request,
                        const std::vector<std::vector<float>>& scores);
  // The top lists of the same, before OnScored, where Pool::Config::score_tops asks for them and
  // the engine knows them. Default: nothing.
  virtual void OnScoreTops(Pool& pool, PathId path, uint64_t request, const ScoreTops& tops);
  // The engine has no KV cells for the next token of any path, and expansion has stopped: the
  // method ends what it can spare, such as extra lanes of a path, or paths that only wait. Called
  // at every such stall; if it ends nothing, the least confident path is pruned. Default: nothing.
  virtual void OnShortage(Pool& pool);
  // The engine was polled. A method with an engine of its own polls that one here, without waiting
  // (see Pool::Await). Default: nothing.
  virtual Status OnPolled(Pool& pool);
  // The round is over (pool.settled()): decide, and grant the next one, or be done.
  virtual Status OnSettled(Pool& pool) = 0;
  // Nothing more will be decoded.
  virtual bool Done(const Pool& pool) const = 0;
  // Name of the vote rule that picks the answer; default: options().vote.
  virtual std::string VoteRule(const Pool& pool) const;
  // The method's own score of a path, for the vote rules weighted, best and borda; NaN: none.
  virtual double Weight(const Pool& pool, const Path& path) const;
  // Whether a path that has an answer votes. Default: all but failed and merged ones; tentative
  // answers as options().vote_tentative says.
  virtual bool Votes(const Pool& pool, const Path& path) const;
  // What is to come besides the running paths, for --stop; nothing while the votes so far do not
  // tell who wins, such as when their weights are not known yet. Default: no further paths are
  // known, but others may come.
  virtual std::optional<Outlook> Ahead(const Pool& pool) const;
};

// Names and one-line descriptions of all methods, in the order of the tables.
struct MethodInfo {
  std::string name;
  std::string description;
};
std::vector<MethodInfo> Methods();

// Opens `count` paths from number `first` on; stops at the engine's first refusal, which is
// returned unless at least one path was opened (then it is a notice and the run goes on, narrower).
Status OpenPaths(Pool& pool, uint64_t first, int count, bool warmup);

}  // namespace hyper
#pragma GCC visibility pop

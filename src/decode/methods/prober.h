// Probes: running paths are asked for their answers, without changing what they write.
#pragma once

#include <string>
#include <vector>

#include "hyper/pool.h"

namespace hyper {

// Numbers of the groups of equal answers, from 0 in the order in which they come; -1 for "", which
// is none. Pure.
std::vector<int> GroupReplies(const std::vector<std::string>& answers);

// Probes every running path each options.probe_interval tokens of it; the paths wait meanwhile. A
// probe opens no lane beyond the reservation: where few are free, the paths are asked one after
// another, and where none is, not at all.
class Prober {
 public:
  enum class Step {
    kNone,      // nothing was asked
    kAsking,    // forks decode; wait for the next settled round
    kAnswered,  // the paths that were due have been asked
  };

  explicit Prober(const MethodOptions& options) : options_(options) {}
  // Ends a probe whose answer is complete: its brace is closed, or its line ends.
  void OnToken(Pool& pool, PathId path) const;
  // The round is over: ends the probes that ran and opens those that are due. Errors: those of
  // Tokenize and Pool::Probe, but for a lack of lanes or cells.
  Result<Step> OnSettled(Pool& pool);
  // Ends all probes; their answers do not count.
  void Cancel(Pool& pool) const;
  // Tokens that every running path may take before one is to be probed; the largest int where
  // probes are off.
  int Left(const Pool& pool) const;

 private:
  Status Ask(Pool& pool, PathId path);
  int Since(const Path& path) const;  // tokens that it took since it was last due
  void Note(const Path& path);

  MethodOptions options_;
  std::vector<int> asked_at_;  // by path: length at its last probe
  bool asked_ = false;         // since the last kAnswered
};

}  // namespace hyper

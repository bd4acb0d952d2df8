// ThreadWeaver (Lian et al. 2025) without its training: a model that outlines independent subtasks
// has them decoded side by side and reads all of them before it goes on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyper/method.h"

namespace hyper {

// Numbers of the entries "<Outline> n:" or "<Outline> n.m:" after the last "<Outlines>" of a text,
// in order, each once. Pure.
std::vector<std::string> OutlineNumbers(std::string_view text);

// `width` independent trajectories, each a machine of two states:
//   sequential  decode up to "</Outlines>"; with numbered outlines in it the next state is
//   parallel    one thread per outline continues the text with "\n<Thread>\n<number>:", unseen by
//               the others, up to "</Thread>"; then all are appended in order ("\n" before the
//               first only), and the trajectory goes on.
// A thread that ends without "</Thread>" is closed by force with "\n</Thread>", and the trajectory
// with "\n</Parallel>" after it, as in the published code. Nested outlines are plain text. At most
// 32 changes of state. Tags are searched in the text, since an untrained model has no tokens for
// them. The trajectories vote; threads do not.
class ThreadWeaver : public Method {
 public:
  explicit ThreadWeaver(const MethodOptions& options) : options_(options) {}

  Status Start(Pool& pool) override;
  void OnToken(Pool& pool, PathId path) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;
  bool Votes(const Pool& pool, const Path& path) const override;

  // Trajectories that spawned threads at least once, over all; an untrained model has few.
  double activation_ratio() const;
  // 1 - (longest chain of tokens that follow one another) / (all tokens of the trajectories): the
  // paper's acceleration, over all trajectories.
  double acceleration(const Pool& pool) const;

 private:
  struct Thread {
    std::string number;
    PathId path = kNoPath;
    int header_tokens = 0;
    bool closed = false;
  };
  struct Trajectory {
    PathId trunk = kNoPath;
    size_t read = 0;         // bytes of the trunk's text that were searched for outlines
    bool outlined = false;   // "</Outlines>" was written; to be looked at
    bool activated = false;  // spawned threads at least once
    int states = 1;          // changes of state so far, the first included
    int saved = 0;           // tokens that were decoded beside longer threads
    std::vector<Thread> threads;
  };

  Status Advance(Pool& pool, Trajectory& trajectory);
  Status Spawn(Pool& pool, Trajectory& trajectory);
  Status Join(Pool& pool, Trajectory& trajectory);
  // Whether the trajectory may enter another state; ends it where not.
  bool CountState(Pool& pool, Trajectory& trajectory);
  // Ends a path that given tokens brought to its token limit.
  bool EndIfTooLong(Pool& pool, PathId id) const;
  std::vector<PathId> Writers(const Pool& pool) const;
  void Report(Pool& pool);

  MethodOptions options_;
  std::vector<Trajectory> trajectories_;
  bool done_ = false;
};

}  // namespace hyper

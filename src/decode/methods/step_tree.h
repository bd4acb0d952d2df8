// What rebase, ets, mcts and tot have in common: a tree of steps over the pool. A batch of paths
// writes one step each, the scorer values the batch, the method decides which nodes to expand.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hyper/method.h"
#include "hyper/step_reward.h"
#include "src/decode/methods/step_boundary.h"

namespace hyper {

// A node stands for the text up to the end of one step. Node 0, the root, is the bare prompt.
struct StepNode {
  int parent = -1;
  int depth = 0;          // steps up to here
  PathId path = kNoPath;  // holds the node's tokens as its first `end`; may have gone on since
  int begin = 0;          // of the step among the path's generated tokens
  int end = 0;
  double value = Path::kUnknown;  // R of the step
  bool ended = false;             // the path ended with this step: a leaf
};

class StepTreeMethod : public Method {
 public:
  StepTreeMethod(const MethodOptions& options, std::unique_ptr<StepReward> reward);

  Status Start(Pool& pool) override;
  void OnToken(Pool& pool, PathId path) override;
  void OnScored(Pool& pool, PathId path, uint64_t request,
                const std::vector<std::vector<float>>& scores) override;
  void OnShortage(Pool& pool) override;
  Status OnPolled(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;
  // Value of the last step of a path, by the scorer.
  double Weight(const Pool& pool, const Path& path) const override;
  // Leaves of the tree only: no warm-up path, nothing that was pruned.
  bool Votes(const Pool& pool, const Path& path) const override;

  const std::vector<StepNode>& nodes() const { return nodes_; }

 protected:
  // Expands the root.
  virtual Status Plant(Pool& pool) = 0;
  // The steps that were written last are valued: expand nodes, or Stop. Steps that got no value
  // are left out, and their paths have ended.
  virtual Status OnSteps(Pool& pool, const std::vector<int>& steps) = 0;

  // Gives a node up to `count` children, which write their steps next, and returns those it got:
  // fewer where lanes or cells are short. The first takes over the node's lane; where that was
  // given up, a new one is opened and the node's tokens are prefilled again.
  Result<std::vector<int>> Expand(Pool& pool, int node, int count);
  // As Expand by one child, but the node keeps its lane: for a rollout.
  Result<std::vector<int>> Probe(Pool& pool, int node);
  // Ends the node's path, if it stands at the node still, as pruned.
  void Prune(Pool& pool, int node, const std::string& reason);
  // Nothing more is decoded; paths that wait are pruned for `reason`.
  void Stop(Pool& pool, const std::string& reason);
  // Whether a path may take no further step after this node's.
  bool AtDepthLimit(int node) const;
  std::string StepText(Pool& pool, int node) const;
  // A number in (0, 1) for choices of the method, by order of the calls.
  double Draw(const Pool& pool);

  const MethodOptions& options() const { return options_; }
  const StepNode& node(int index) const { return nodes_[static_cast<size_t>(index)]; }
  StepNode& MutableNode(int index) { return nodes_[static_cast<size_t>(index)]; }

 private:
  enum class Phase { kWarmup, kWriting, kValuing, kDone };

  Status EndWarmup(Pool& pool);
  // Grants the next tokens of unfinished steps; none left: the batch is written.
  Status ContinueWriting(Pool& pool);
  Status BeginValuing(Pool& pool);
  Status TakeValues(Pool& pool);
  Status NoteShortage(Pool& pool, const Error& error, size_t got, int wanted);
  // Makes `path` write a child of `parent`.
  int BeginStep(Pool& pool, int parent, PathId path);
  // Opens or forks by `open`, setting waiting paths aside while the engine has no lane.
  template <class Open>
  Result<PathId> WithRoom(Pool& pool, const Open& open);
  Result<PathId> Fork(Pool& pool, PathId path);
  Result<PathId> OpenRoot(Pool& pool);
  // The open path that stands at the node; one is opened where the node has none.
  Result<PathId> Materialise(Pool& pool, int node);
  bool StandsAt(const Pool& pool, int node) const;
  // Ends the least sure path that waits, its lane being needed. False: none waits.
  bool SetAside(Pool& pool);
  bool IsWriting(PathId path) const { return writing_.count(path) > 0; }
  std::vector<PathId> Unfinished(const Pool& pool) const;

  struct Writing {
    int node = 0;
    StepBoundary boundary;
    bool over = false;
  };

  MethodOptions options_;
  std::string delimiter_;
  std::unique_ptr<StepReward> reward_;
  Phase phase_ = Phase::kWarmup;
  std::vector<StepNode> nodes_;
  std::vector<int> batch_;               // nodes whose steps are being written or valued
  std::map<PathId, Writing> writing_;    // of the batch
  std::map<PathId, double> last_value_;  // of each path's last valued step
  std::map<PathId, int> forks_;          // made of each path so far
  uint64_t next_path_ = 0;               // number of the next path opened on the prompt
  PathId held_ = kNoPath;                // not to be set aside now
  uint32_t draws_ = 0;
};

}  // namespace hyper

// Methods that end paths by what their probes answer. Their answers are then those of the probes.
#pragma once

#include <string>

#include "src/core/parallel_probe.h"
#include "src/decode/methods/sc.h"

namespace hyper {

// Parallel-Probe (StepParallelProbe): all paths are probed together; a path that keeps differing
// from the majority is pruned, and the run ends when the majority has been the same for long. The
// first probes count for nothing. Pruned paths do not vote.
class ParallelProbe : public SelfConsistency {
 public:
  explicit ParallelProbe(const MethodOptions& options) : SelfConsistency(options) {}
  bool Votes(const Pool& pool, const Path& path) const override;

 protected:
  void OnProbed(Pool& pool) override;

 private:
  bool started_ = false;  // the first probes have been answered
  ProbeState state_;
  std::string winner_;  // of the last step
};

// Certaindex of single paths (Fu et al., "Efficiently Scaling LLM Reasoning with Certaindex", 2025,
// its level "mild"): a path ends when its last eight probes gave the same answer.
class StablePaths : public SelfConsistency {
 public:
  explicit StablePaths(const MethodOptions& options) : SelfConsistency(options) {}

 protected:
  void OnProbed(Pool& pool) override;
};

}  // namespace hyper

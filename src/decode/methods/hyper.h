// HyPER (Sec. 3, App. B): warm-up, always-on pruning, and every T tokens one action for the pool.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "hyper/method.h"
#include "hyper/records.h"

namespace hyper {

class HyperMethod : public Method {
 public:
  explicit HyperMethod(const MethodOptions& options) : options_(options) {}

  Status Start(Pool& pool) override;
  void OnShortage(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;

 protected:
  // The action of a decision; ablations override it.
  virtual Action Choose(const Pool& pool, const DecisionRecord& decision) const;

 private:
  struct Family {  // a MultiToken root with its transient children
    std::vector<PathId> members;
    int start = 0;  // generated tokens at the expansion
  };

  Status EndWarmup(Pool& pool);
  Status Decide(Pool& pool);
  Status Apply(Pool& pool, DecisionRecord& decision);
  Status ApplySingleToken(Pool& pool, DecisionRecord& decision);
  void ApplyMultiToken(Pool& pool, DecisionRecord& decision);
  void ApplyBranch(Pool& pool, DecisionRecord& decision);
  // Forks each root into r_t paths, the most confident roots first, while `free` lanes last; notes
  // in the decision what was opened, and where it fell short, `shortage`.
  std::vector<Family> ForkRoots(Pool& pool, DecisionRecord& decision, int free,
                                const char* shortage);
  Status PlainRouting(Pool& pool);
  void MergeFamilies(Pool& pool);

  MethodOptions options_;
  bool in_warmup_ = true;
  WarmupRecord warmup_;
  int step_ = 0;
  int last_decision_ = 0;       // generated tokens at the last decision
  int tokens_to_decision_ = 0;  // of the current interval, after the MultiToken horizon
  std::vector<Family> families_;
};

}  // namespace hyper

// HyPER (Sec. 3, App. B): warm-up, always-on pruning, and every T tokens one action for the pool.
#pragma once

#include "hyper/method.h"
#include "hyper/records.h"
#include "src/core/action_values.h"
#include "src/decode/methods/expansion.h"

namespace hyper {

class HyperMethod : public Method {
 public:
  explicit HyperMethod(const MethodOptions& options);

  Status Start(Pool& pool) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;
  void OnToken(Pool& pool, PathId path) override;
  void OnShortage(Pool& pool) override;
  bool Votes(const Pool& pool, const Path& path) const override;
  std::optional<Outlook> Ahead(const Pool& pool) const override;

 protected:
  // The action of a decision; ablations override it.
  virtual Action Choose(const Pool& pool, const DecisionRecord& decision) const;

 private:
  Status EndWarmup(Pool& pool);
  Status OpenWave(Pool& pool);
  // The action of a decision: options().force_action where that is due, else that of Choose.
  Action Decide(const Pool& pool, const DecisionRecord& decision) const;
  bool DecisionDue(const Pool& pool) const;
  Status DecodeOn(Pool& pool);
  DecisionRecord Read(const Pool& pool);
  bool IsClone(const Pool& pool, const Path& path) const;

  MethodOptions options_;
  ActionValues values_;
  bool in_warmup_ = true;
  MaxStatistics maxima_;  // X_max
  int opened_ = 0;        // paths of the pool, without branches
  int wave_ = 0;          // S_max: the paths that were opened last, at once
  int step_ = 0;
  int tokens_to_decision_ = 0;  // of the current interval, after the MultiToken horizon
  bool clones_told_ = false;
  Expansion expansion_;
};

}  // namespace hyper

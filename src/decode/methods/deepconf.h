// Online DeepConf (Fu et al. 2025): a warm-up sets the threshold, then paths are stopped where
// their confidence falls below it, and sampling stops at a consensus.
#pragma once

#include <string>

#include "hyper/method.h"

namespace hyper {

class DeepConf : public Method {
 public:
  // `all_vote`: HyPER's vote set, every path that has an answer; false: DeepConf's, warm-up paths
  // at or above the threshold and paths that were never below it.
  DeepConf(const MethodOptions& options, bool all_vote) : options_(options), all_vote_(all_vote) {}
  Status Start(Pool& pool) override;
  void OnToken(Pool& pool, PathId path) override;
  Status OnSettled(Pool& pool) override;
  bool Done(const Pool& pool) const override;
  bool Votes(const Pool& pool, const Path& path) const override;
  std::optional<Outlook> Ahead(const Pool& pool) const override;

 private:
  Status EndWarmup(Pool& pool);
  bool Consensus(const Pool& pool) const;

  MethodOptions options_;
  bool all_vote_;
  bool in_warmup_ = true;
};

}  // namespace hyper
